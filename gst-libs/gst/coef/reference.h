// GstCoefReferenceMeta: the frame that coefficients were made from.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Functions are documented where they are defined (reference.cpp) and, with introspection data, in
// the GIR.
#pragma once

#include <gst/video/video.h>

#include <gst/coef/prelude.h>

G_BEGIN_DECLS

/**
 * GstCoefReferenceMeta:
 * @meta: the parent
 * @source: the frame that the coefficients were made from
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
GST_COEF_API GType gst_coef_reference_meta_api_get_type(void);
GST_COEF_API const GstMetaInfo* gst_coef_reference_meta_get_info(void);
GST_COEF_API GstCoefReferenceMeta* gst_buffer_add_coef_reference_meta(GstBuffer* buffer,
                                                                      GstBuffer* source,
                                                                      const GstVideoInfo* info);
GST_COEF_API GstCoefReferenceMeta* gst_buffer_get_coef_reference_meta(GstBuffer* buffer);

G_END_DECLS
