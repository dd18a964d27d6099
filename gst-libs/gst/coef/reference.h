// GstCoefReferenceMeta: the source frame of coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <gst/coef/prelude.h>

G_BEGIN_DECLS

/**
 * GstCoefReferenceMeta:
 * @meta: the parent
 * @source: the source frame of the coefficients
 * @info: its format and size, and the strides and offsets that hold in @source
 *
 * The source frame, kept for measuring. Attached by elements with keep-reference=true. Copied with
 * copies of the whole buffer only.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  GstBuffer* source;
  GstVideoInfo info;
} GstCoefReferenceMeta;

#define GST_COEF_REFERENCE_META_API_TYPE (gst_coef_reference_meta_api_get_type())
#define GST_COEF_REFERENCE_META_INFO (gst_coef_reference_meta_get_info())

/**
 * gst_coef_reference_meta_api_get_type:
 *
 * Returns: the API of #GstCoefReferenceMeta
 *
 * Since: 1.0
 */
GST_COEF_API GType gst_coef_reference_meta_api_get_type(void);

/**
 * gst_coef_reference_meta_get_info:
 *
 * Returns: (transfer none): what GStreamer knows of #GstCoefReferenceMeta
 *
 * Since: 1.0
 */
GST_COEF_API const GstMetaInfo* gst_coef_reference_meta_get_info(void);

/**
 * gst_buffer_add_coef_reference_meta:
 * @buffer: (transfer none): a writable buffer of coefficients
 * @source: (transfer none): the frame that they were made from
 * @info: its format and size, and the strides and offsets that hold in @source
 *
 * Returns: (transfer none): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefReferenceMeta* gst_buffer_add_coef_reference_meta(GstBuffer* buffer,
                                                                      GstBuffer* source,
                                                                      const GstVideoInfo* info);

/**
 * gst_buffer_get_coef_reference_meta:
 * @buffer: (transfer none): a buffer
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefReferenceMeta* gst_buffer_get_coef_reference_meta(GstBuffer* buffer);

G_END_DECLS
