// GstDwtMeta: what may change with every buffer of video/x-dwt, and whether it can be believed.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Metas come from other elements, applications and files. What passes gst_dwt_meta_validate()
// cannot make a reader leave the buffer.
#include <algorithm>
#include <iterator>

#include <gst/coef/dwt-private.h>
#include <gst/coef/dwt-serial.h>
#include <gst/coef/meta-private.h>

namespace {

gboolean validate_component(const GstDwtMeta* meta, const GstDwtInfo* info, guint i,
                            gsize buffer_size, const gstcoef::Refusal& refuse) {
  const GstDwtComponent& c = meta->components[i];
  const GstDwtComponent& wanted = info->components[i];
  if (!gstcoef::check_shape(c, wanted, i, refuse)) return FALSE;
  if (c.padded_width != wanted.padded_width || c.padded_height != wanted.padded_height)
    return refuse("component %u has %u x %u coefficients in the meta, expected %u x %u", i,
                  c.padded_width, c.padded_height, wanted.padded_width, wanted.padded_height);
  const gstcoef::Placement placement = {c.offset, c.stride, gst_dwt_info_row_bytes(info, i),
                                        c.padded_height};
  return gstcoef::check_placement(placement, info->format, i, buffer_size, refuse);
}

gboolean validate_quantizers(const GstDwtMeta* meta, const GstDwtInfo* info,
                             const gstcoef::Refusal& refuse) {
  const guint bands = gst_dwt_info_get_n_bands(info);
  const guint most = info->quantized ? GST_DWT_MAX_QUANT_INDEX : 0;
  for (guint i = 0; i < info->n_components; i++) {
    for (guint b = 0; b < bands; b++) {
      const guint index = meta->quantizers[i].indices[b];
      if (index <= most) continue;
      if (most == 0)
        return refuse(
            "band %u of component %u has quantiser index %u, expected 0: the "
            "coefficients are not quantised",
            b, i, index);
      return refuse("band %u of component %u has quantiser index %u, expected 0 to %u", b, i, index,
                    most);
    }
  }
  return TRUE;
}

}  // namespace

/**
 * gst_dwt_meta_api_get_type:
 *
 * Returns: %GST_DWT_META_API_TYPE, the API of #GstDwtMeta
 *
 * Since: 1.0
 */
GType gst_dwt_meta_api_get_type(void) {
  static const GType type = gstcoef::register_memory_api("GstDwtMetaAPI");
  return type;
}

/**
 * gst_dwt_meta_get_info:
 *
 * Returns: (transfer none): what GStreamer knows of #GstDwtMeta
 *
 * Since: 1.0
 */
const GstMetaInfo* gst_dwt_meta_get_info(void) {
  static const GstMetaInfo* const info =
      gstcoef::register_meta<GstDwtMeta, gstcoef::serialise, gstcoef::deserialise,
                             gstcoef::kDwtSerialVersion>(gst_dwt_meta_api_get_type(), "GstDwtMeta");
  return info;
}

/**
 * gst_buffer_add_dwt_meta:
 * @buffer: (transfer none): a writable buffer
 * @info: a filled info
 *
 * Adds a meta with @info's components in its default layout, quantiser indices of 0 and no fence;
 * the caller then changes what differs.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GstDwtMeta* gst_buffer_add_dwt_meta(GstBuffer* buffer, const GstDwtInfo* info) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  g_return_val_if_fail(info != nullptr && info->n_components > 0, nullptr);
  auto* meta =
      reinterpret_cast<GstDwtMeta*>(gst_buffer_add_meta(buffer, GST_DWT_META_INFO, nullptr));
  if (meta == nullptr) return nullptr;
  meta->n_components = info->n_components;
  std::copy(std::begin(info->components), std::end(info->components), meta->components);
  return meta;
}

/**
 * gst_buffer_get_dwt_meta:
 * @buffer: (transfer none): a buffer
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GstDwtMeta* gst_buffer_get_dwt_meta(GstBuffer* buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  return reinterpret_cast<GstDwtMeta*>(gst_buffer_get_meta(buffer, GST_DWT_META_API_TYPE));
}

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
const GstDwtComponent* gst_dwt_meta_get_component(const GstDwtMeta* meta, guint index) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  const bool there = index < meta->n_components && index < GST_DWT_MAX_COMPONENTS;
  return there ? &meta->components[index] : nullptr;
}

/**
 * gst_dwt_meta_get_quant_index:
 * @meta: a meta
 * @component: index of a component
 * @band: index of a band, as in gst_dwt_info_get_band()
 *
 * Returns: the quantiser index, or -1 when there is no such component or room for no such band
 *
 * Since: 1.0
 */
gint gst_dwt_meta_get_quant_index(const GstDwtMeta* meta, guint component, guint band) {
  g_return_val_if_fail(meta != nullptr, -1);
  if (gst_dwt_meta_get_component(meta, component) == nullptr || band >= GST_DWT_MAX_BANDS)
    return -1;
  return meta->quantizers[component].indices[band];
}

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
gboolean gst_dwt_meta_set_quant_index(GstDwtMeta* meta, guint component, guint band, guint index) {
  g_return_val_if_fail(meta != nullptr, FALSE);
  if (gst_dwt_meta_get_component(meta, component) == nullptr || band >= GST_DWT_MAX_BANDS ||
      index > GST_DWT_MAX_QUANT_INDEX)
    return FALSE;
  meta->quantizers[component].indices[band] = static_cast<guint8>(index);
  return TRUE;
}

/**
 * gst_dwt_meta_set_fence:
 * @meta: a meta
 * @fence: (transfer none) (nullable): a fence, or %NULL to remove the one there is
 *
 * Since: 1.0
 */
void gst_dwt_meta_set_fence(GstDwtMeta* meta, GstCoefFence* fence) {
  g_return_if_fail(meta != nullptr);
  gstcoef::set_fence(meta, fence);
}

/**
 * gst_dwt_meta_validate:
 * @meta: (nullable): a buffer's meta, or %NULL when it has none
 * @info: a filled info
 * @buffer_size: bytes of the buffer
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Whether @meta (or, when it is %NULL and the coefficients are not quantised, the default layout)
 * describes coefficients of @info inside @buffer_size bytes: components, padded sizes, offsets,
 * strides, alignment, quantiser indices.
 *
 * Returns: %TRUE when a reader can rely on @meta
 *
 * Since: 1.0
 */
gboolean gst_dwt_meta_validate(const GstDwtMeta* meta, const GstDwtInfo* info, gsize buffer_size,
                               gchar** reason) {
  const gstcoef::Refusal refuse = gst_dwt_refusal(reason);
  g_return_val_if_fail(info != nullptr && info->n_components > 0, FALSE);
  if (meta == nullptr) {
    if (info->quantized)
      return refuse(
          "a buffer of quantised coefficients without GstDwtMeta: the quantiser indices "
          "are missing");
    return gstcoef::check_size(*info, buffer_size, refuse);
  }
  if (!gstcoef::check_count(*meta, *info, refuse)) return FALSE;
  for (guint i = 0; i < info->n_components; i++)
    if (!validate_component(meta, info, i, buffer_size, refuse)) return FALSE;
  return gstcoef::check_ratios(*meta, *info, refuse) && validate_quantizers(meta, info, refuse);
}
