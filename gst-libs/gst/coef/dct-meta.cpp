// GstDctMeta: what may change with every buffer of video/x-dct.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>

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

GstDctMeta* add_empty_meta(GstBuffer* buffer) {
  return reinterpret_cast<GstDctMeta*>(
      gst_buffer_add_meta(buffer, gst_dct_meta_get_info(), nullptr));
}

}  // namespace

/**
 * gst_dct_meta_api_get_type:
 *
 * Returns: %GST_DCT_META_API_TYPE, the API of #GstDctMeta
 *
 * Since: 1.0
 */
GType gst_dct_meta_api_get_type(void) {
  static const GType type = gstcoef::register_memory_api("GstDctMetaAPI");
  return type;
}

/**
 * gst_dct_meta_get_info:
 *
 * Returns: (transfer none): what GStreamer knows of #GstDctMeta
 *
 * Since: 1.0
 */
const GstMetaInfo* gst_dct_meta_get_info(void) {
  static const GstMetaInfo* const info =
      gstcoef::register_meta<GstDctMeta, gstcoef::serialise, gstcoef::deserialise,
                             gstcoef::kSerialVersion>(gst_dct_meta_api_get_type(), "GstDctMeta");
  return info;
}

/**
 * gst_buffer_add_dct_meta:
 * @buffer: (transfer none): a writable buffer
 * @info: a filled info
 *
 * Adds a meta with @info's components in its default layout, no tables and no fence; the caller
 * then changes what differs.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GstDctMeta* gst_buffer_add_dct_meta(GstBuffer* buffer, const GstDctInfo* info) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  g_return_val_if_fail(info != nullptr && info->n_components > 0, nullptr);
  GstDctMeta* meta = add_empty_meta(buffer);
  if (meta == nullptr) return nullptr;
  meta->n_components = info->n_components;
  std::copy(std::begin(info->components), std::end(info->components), meta->components);
  return meta;
}

/**
 * gst_buffer_get_dct_meta:
 * @buffer: (transfer none): a buffer
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GstDctMeta* gst_buffer_get_dct_meta(GstBuffer* buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  return reinterpret_cast<GstDctMeta*>(gst_buffer_get_meta(buffer, GST_DCT_META_API_TYPE));
}

/**
 * gst_dct_meta_get_table: (skip)
 * @meta: a meta
 * @index: index of the table
 * @order: the order wanted; the table itself is in natural order
 * @values: 64 divisors to fill
 *
 * Returns: %FALSE, with @values untouched, when there is no such table
 *
 * Since: 1.0
 */
gboolean gst_dct_meta_get_table(const GstDctMeta* meta, guint index, GstDctOrder order,
                                guint16* values) {
  g_return_val_if_fail(meta != nullptr && values != nullptr, FALSE);
  if (index >= meta->n_tables || index >= GST_DCT_MAX_TABLES) return FALSE;
  const guint16* natural = meta->tables[index].values;
  const guint8* zigzag = natural_of_zigzag();
  for (guint k = 0; k < 64; k++) values[k] = natural[order == GST_DCT_ORDER_ZIGZAG ? zigzag[k] : k];
  return TRUE;
}

/**
 * gst_dct_meta_dup_table: (rename-to gst_dct_meta_get_table)
 * @meta: a meta
 * @index: index of the table
 * @order: the order wanted
 *
 * Returns: (transfer full) (nullable) (array fixed-size=64): the divisors, or %NULL when there is
 *   no such table
 *
 * Since: 1.0
 */
guint16* gst_dct_meta_dup_table(const GstDctMeta* meta, guint index, GstDctOrder order) {
  guint16 values[64];
  if (!gst_dct_meta_get_table(meta, index, order, values)) return nullptr;
  return static_cast<guint16*>(g_memdup2(values, sizeof(values)));
}

/**
 * gst_dct_meta_set_table:
 * @meta: a meta whose buffer has not been pushed
 * @index: index of the table; tables before it that nobody has set are zero, hence not valid
 * @values: (array fixed-size=64): the divisors in natural order
 *
 * Returns: %FALSE when there is no room for such a table
 *
 * Since: 1.0
 */
gboolean gst_dct_meta_set_table(GstDctMeta* meta, guint index, const guint16* values) {
  g_return_val_if_fail(meta != nullptr && values != nullptr, FALSE);
  if (index >= GST_DCT_MAX_TABLES) return FALSE;
  std::copy(values, values + 64, meta->tables[index].values);
  meta->n_tables = MAX(meta->n_tables, index + 1);
  return TRUE;
}

/**
 * gst_dct_meta_get_component:
 * @meta: a meta
 * @index: index of a component
 *
 * The same as the field, for languages that cannot read an array of structures.
 *
 * Returns: (transfer none) (nullable): the component, or %NULL when there is none
 *
 * Since: 1.0
 */
const GstDctComponent* gst_dct_meta_get_component(const GstDctMeta* meta, guint index) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  const bool there = index < meta->n_components && index < GST_DCT_MAX_COMPONENTS;
  return there ? &meta->components[index] : nullptr;
}

/**
 * gst_dct_meta_set_fence:
 * @meta: a meta
 * @fence: (transfer none) (nullable): a fence, or %NULL to remove the one there is
 *
 * Since: 1.0
 */
void gst_dct_meta_set_fence(GstDctMeta* meta, GstCoefFence* fence) {
  g_return_if_fail(meta != nullptr);
  gstcoef::set_fence(meta, fence);
}
