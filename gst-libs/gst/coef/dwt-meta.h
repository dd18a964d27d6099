// The properties of video/x-dwt that may change with every buffer: places, quantizers, a fence.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <gst/coef/dwt-info.h>
#include <gst/coef/fence.h>
#include <gst/coef/prelude.h>

G_BEGIN_DECLS

/**
 * GstDwtQuantizers:
 * @indices: (array fixed-size=23): the index of each band, 0 (lossless) to %GST_DWT_MAX_QUANT_INDEX
 *
 * The quantizer indices of a component, in the order of gst_dwt_info_get_band().
 *
 * Since: 1.0
 */
typedef struct {
  guint8 indices[GST_DWT_MAX_BANDS];
} GstDwtQuantizers;

/**
 * GstDwtMeta:
 * @meta: the parent
 * @n_components: components in use
 * @components: (array fixed-size=4): the components and where they are in this buffer
 * @quantizers: (array fixed-size=4): those of each component; zeros when the coefficients are not
 *   quantized
 * @fence: (nullable): when the coefficients are complete; %NULL: now
 *
 * The properties of video/x-dwt that may change with every buffer. Immutable once the buffer has
 * been pushed. Copied with copies of the whole buffer only; the fence is shared.
 *
 * A consumer that has not promised to wait for @fence (%GST_COEF_FENCE_API_TYPE) receives finished
 * buffers. The library allocates the meta and may add fields at its end.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  guint n_components;
  GstDwtComponent components[GST_DWT_MAX_COMPONENTS];
  GstDwtQuantizers quantizers[GST_DWT_MAX_COMPONENTS];
  GstCoefFence* fence;
} GstDwtMeta;

/**
 * GST_DWT_META_API_TYPE:
 *
 * The API of #GstDwtMeta. In the answer to an ALLOCATION query it has GStreamer's usual meaning, "I
 * read this meta", and promises nothing about fences: %GST_COEF_FENCE_API_TYPE does that. Producers
 * attach the meta in any case.
 *
 * Since: 1.0
 */
#define GST_DWT_META_API_TYPE (gst_dwt_meta_api_get_type())
#define GST_DWT_META_INFO (gst_dwt_meta_get_info())

/**
 * gst_dwt_meta_api_get_type:
 *
 * Returns: %GST_DWT_META_API_TYPE, the API of #GstDwtMeta
 *
 * Since: 1.0
 */
GST_COEF_API GType gst_dwt_meta_api_get_type(void);

/**
 * gst_dwt_meta_get_info:
 *
 * Returns: (transfer none): what GStreamer knows of #GstDwtMeta
 *
 * Since: 1.0
 */
GST_COEF_API const GstMetaInfo* gst_dwt_meta_get_info(void);

/**
 * gst_buffer_add_dwt_meta:
 * @buffer: (transfer none): a writable buffer
 * @info: a filled info
 *
 * Adds a meta with @info's components in its default layout, quantizer indices of 0 and no fence;
 * the caller then changes the differing fields.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GST_COEF_API GstDwtMeta* gst_buffer_add_dwt_meta(GstBuffer* buffer, const GstDwtInfo* info);

/**
 * gst_buffer_get_dwt_meta:
 * @buffer: (transfer none): a buffer
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GST_COEF_API GstDwtMeta* gst_buffer_get_dwt_meta(GstBuffer* buffer);

/**
 * gst_dwt_meta_get_component:
 * @meta: a meta
 * @index: index of a component
 *
 * The same as the field, for languages that cannot read an array of structures.
 *
 * Returns: (transfer none) (nullable): the component, or %NULL when there is none
 *
 * Since: 1.0
 */
GST_COEF_API const GstDwtComponent* gst_dwt_meta_get_component(const GstDwtMeta* meta, guint index);

/**
 * gst_dwt_meta_get_quant_index:
 * @meta: a meta
 * @component: index of a component
 * @band: index of a band, as in gst_dwt_info_get_band()
 *
 * Returns: the quantizer index, or -1 when there is no such component or room for no such band
 *
 * Since: 1.0
 */
GST_COEF_API gint gst_dwt_meta_get_quant_index(const GstDwtMeta* meta, guint component, guint band);

/**
 * gst_dwt_meta_set_quant_index:
 * @meta: a meta whose buffer has not been pushed
 * @component: index of a component
 * @band: index of a band, as in gst_dwt_info_get_band()
 * @index: 0 (lossless) to %GST_DWT_MAX_QUANT_INDEX
 *
 * Returns: %FALSE when there is no such component, room for no such band, or no such index
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dwt_meta_set_quant_index(GstDwtMeta* meta, guint component, guint band,
                                                   guint index);

/**
 * gst_dwt_meta_set_fence:
 * @meta: a meta
 * @fence: (transfer none) (nullable): a fence, or %NULL to remove the one there is
 *
 * Since: 1.0
 */
GST_COEF_API void gst_dwt_meta_set_fence(GstDwtMeta* meta, GstCoefFence* fence);

/**
 * gst_dwt_meta_validate:
 * @meta: (nullable): a buffer's meta, or %NULL when it has none
 * @info: a filled info
 * @buffer_size: bytes of the buffer
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Whether @meta (or, when it is %NULL and the coefficients are not quantized, the default layout)
 * describes coefficients of @info inside @buffer_size bytes: components, padded sizes, offsets,
 * strides, alignment, quantizer indices.
 *
 * Returns: %TRUE when a reader can rely on @meta
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dwt_meta_validate(const GstDwtMeta* meta, const GstDwtInfo* info,
                                            gsize buffer_size, gchar** reason);

G_END_DECLS
