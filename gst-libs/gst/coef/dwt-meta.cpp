// GstDwtMeta: the properties of video/x-dwt that may change with every buffer, and their validity.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Metas come from other elements, applications and files. A meta that passes
// gst_dwt_meta_validate() cannot make a reader leave the buffer.
#include <gst/coef/coef-private.h>
#include <gst/coef/meta-private.h>
#include <gst/coef/serial-private.h>

namespace {

gboolean check_component(const GstDwtMeta* meta, const GstDwtInfo* info, guint i, gsize buffer_size,
                         const gstcoef::Refusal& refuse) {
  const GstDwtComponent& c = meta->components[i];
  const GstDwtComponent& wanted = info->components[i];
  if (c.padded_width != wanted.padded_width || c.padded_height != wanted.padded_height)
    return refuse("component %u has %u x %u coefficients in the meta, expected %u x %u", i,
                  c.padded_width, c.padded_height, wanted.padded_width, wanted.padded_height);
  const gstcoef::Placement placement = {c.offset, c.stride, gst_dwt_info_row_bytes(info, i),
                                        c.padded_height};
  return gstcoef::check_placement(placement, info->format, i, buffer_size, refuse);
}

gboolean check_quantizers(const GstDwtMeta* meta, const GstDwtInfo* info,
                          const gstcoef::Refusal& refuse) {
  const guint bands = gst_dwt_info_get_n_bands(info);
  const guint most = info->quantized ? GST_DWT_MAX_QUANT_INDEX : 0;
  for (guint i = 0; i < info->n_components; i++) {
    for (guint b = 0; b < bands; b++) {
      const guint index = meta->quantizers[i].indices[b];
      if (index <= most) continue;
      if (most == 0)
        return refuse(
            "band %u of component %u has quantizer index %u, expected 0: the "
            "coefficients are not quantized",
            b, i, index);
      return refuse("band %u of component %u has quantizer index %u, expected 0 to %u", b, i, index,
                    most);
    }
  }
  return TRUE;
}

}  // namespace

GType gst_dwt_meta_api_get_type(void) {
  static const GType type = gstcoef::register_memory_api("GstDwtMetaAPI");
  return type;
}

const GstMetaInfo* gst_dwt_meta_get_info(void) {
  static const GstMetaInfo* const info =
      gstcoef::register_meta<GstDwtMeta, gstcoef::serialize, gstcoef::deserialize,
                             gstcoef::kDwtSerialVersion>(gst_dwt_meta_api_get_type(), "GstDwtMeta");
  return info;
}

GstDwtMeta* gst_buffer_add_dwt_meta(GstBuffer* buffer, const GstDwtInfo* info) {
  return gstcoef::add_meta<GstDwtMeta>(buffer, GST_DWT_META_INFO, info);
}

GstDwtMeta* gst_buffer_get_dwt_meta(GstBuffer* buffer) {
  return gstcoef::get_meta<GstDwtMeta>(buffer, GST_DWT_META_API_TYPE);
}

const GstDwtComponent* gst_dwt_meta_get_component(const GstDwtMeta* meta, guint index) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  return gstcoef::get_component(meta, index);
}

gint gst_dwt_meta_get_quant_index(const GstDwtMeta* meta, guint component, guint band) {
  g_return_val_if_fail(meta != nullptr, -1);
  if (gst_dwt_meta_get_component(meta, component) == nullptr || band >= GST_DWT_MAX_BANDS)
    return -1;
  return meta->quantizers[component].indices[band];
}

gboolean gst_dwt_meta_set_quant_index(GstDwtMeta* meta, guint component, guint band, guint index) {
  g_return_val_if_fail(meta != nullptr, FALSE);
  if (gst_dwt_meta_get_component(meta, component) == nullptr || band >= GST_DWT_MAX_BANDS ||
      index > GST_DWT_MAX_QUANT_INDEX)
    return FALSE;
  meta->quantizers[component].indices[band] = static_cast<guint8>(index);
  return TRUE;
}

void gst_dwt_meta_set_fence(GstDwtMeta* meta, GstCoefFence* fence) {
  g_return_if_fail(meta != nullptr);
  gstcoef::set_fence(meta, fence);
}

gboolean gst_dwt_meta_validate(const GstDwtMeta* meta, const GstDwtInfo* info, gsize buffer_size,
                               gchar** reason) {
  const gstcoef::Refusal refuse = gst_dwt_refusal(reason);
  g_return_val_if_fail(info != nullptr && info->n_components > 0, FALSE);
  return gstcoef::validate(
      meta, *info, buffer_size, "GstDwtMeta: the quantizer indices are missing", refuse,
      [&](guint i) { return check_component(meta, info, i, buffer_size, refuse); },
      [&] { return check_quantizers(meta, info, refuse); });
}
