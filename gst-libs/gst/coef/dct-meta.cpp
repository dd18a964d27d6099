// GstDctMeta: the properties of video/x-dct that may change with every buffer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include <gst/coef/dct-private.h>
#include <gst/coef/dct-serial.h>
#include <gst/coef/meta-private.h>

namespace {

// ITU-T T.81, figure 5, as a walk: up and to the right along even diagonals, down and to the left
// along odd ones.
const guint8* natural_of_zigzag() {
  static const auto table = [] {
    struct {
      guint8 natural[64];
    } t;
    int k = 0;
    for (int diagonal = 0; diagonal < 15; diagonal++) {
      for (int step = 0; step <= diagonal; step++) {
        const int u = diagonal % 2 == 0 ? step : diagonal - step;
        const int v = diagonal - u;
        if (u < 8 && v < 8) t.natural[k++] = static_cast<guint8>(8 * v + u);
      }
    }
    return t;
  }();
  return table.natural;
}

}  // namespace

GType gst_dct_meta_api_get_type(void) {
  static const GType type = gstcoef::register_memory_api("GstDctMetaAPI");
  return type;
}

const GstMetaInfo* gst_dct_meta_get_info(void) {
  static const GstMetaInfo* const info =
      gstcoef::register_meta<GstDctMeta, gstcoef::serialise, gstcoef::deserialise,
                             gstcoef::kSerialVersion>(gst_dct_meta_api_get_type(), "GstDctMeta");
  return info;
}

GstDctMeta* gst_buffer_add_dct_meta(GstBuffer* buffer, const GstDctInfo* info) {
  return gstcoef::add_meta<GstDctMeta>(buffer, GST_DCT_META_INFO, info);
}

GstDctMeta* gst_buffer_get_dct_meta(GstBuffer* buffer) {
  return gstcoef::get_meta<GstDctMeta>(buffer, GST_DCT_META_API_TYPE);
}

gboolean gst_dct_meta_get_table(const GstDctMeta* meta, guint index, GstDctOrder order,
                                guint16* values) {
  g_return_val_if_fail(meta != nullptr && values != nullptr, FALSE);
  if (index >= meta->n_tables || index >= GST_DCT_MAX_TABLES) return FALSE;
  const guint16* natural = meta->tables[index].values;
  const guint8* zigzag = natural_of_zigzag();
  for (guint k = 0; k < 64; k++) values[k] = natural[order == GST_DCT_ORDER_ZIGZAG ? zigzag[k] : k];
  return TRUE;
}

guint16* gst_dct_meta_dup_table(const GstDctMeta* meta, guint index, GstDctOrder order) {
  guint16 values[64];
  if (!gst_dct_meta_get_table(meta, index, order, values)) return nullptr;
  return static_cast<guint16*>(g_memdup2(values, sizeof(values)));
}

gboolean gst_dct_meta_set_table(GstDctMeta* meta, guint index, const guint16* values) {
  g_return_val_if_fail(meta != nullptr && values != nullptr, FALSE);
  if (index >= GST_DCT_MAX_TABLES) return FALSE;
  std::copy(values, values + 64, meta->tables[index].values);
  meta->n_tables = MAX(meta->n_tables, index + 1);
  return TRUE;
}

const GstDctComponent* gst_dct_meta_get_component(const GstDctMeta* meta, guint index) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  return gstcoef::get_component(meta, index);
}

void gst_dct_meta_set_fence(GstDctMeta* meta, GstCoefFence* fence) {
  g_return_if_fail(meta != nullptr);
  gstcoef::set_fence(meta, fence);
}
