// GstDctMeta: what may change with every buffer of video/x-dct.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>
#include <vector>

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

// Everything after the GstMeta itself.
void clear(GstDctMeta* meta) {
  const GstMeta parent = meta->meta;
  *meta = GstDctMeta{};
  meta->meta = parent;
}

gboolean dct_meta_init(GstMeta* meta, gpointer, GstBuffer*) {
  clear(reinterpret_cast<GstDctMeta*>(meta));
  return TRUE;
}

void dct_meta_free(GstMeta* meta, GstBuffer*) {
  gst_dct_meta_set_fence(reinterpret_cast<GstDctMeta*>(meta), nullptr);
}

gboolean dct_meta_transform(GstBuffer* target, GstMeta* meta, GstBuffer*, GQuark type,
                            gpointer data) {
  if (!gstcoef::is_whole_copy(type, data)) return FALSE;
  const auto* from = reinterpret_cast<const GstDctMeta*>(meta);
  GstDctMeta* to = add_empty_meta(target);
  if (to == nullptr) return FALSE;
  memcpy(&to->flags, &from->flags, sizeof to->flags);  // whatever they are
  to->n_components = from->n_components;
  std::copy(std::begin(from->components), std::end(from->components), to->components);
  to->n_tables = from->n_tables;
  std::copy(std::begin(from->tables), std::end(from->tables), to->tables);
  gst_dct_meta_set_fence(to, from->fence);
  return TRUE;
}

#if GST_CHECK_VERSION(1, 23, 0)

gboolean dct_meta_serialize(const GstMeta* meta, GstByteArrayInterface* data, guint8* version) {
  const auto* dct = reinterpret_cast<const GstDctMeta*>(meta);
  // Whoever stores the meta stores the bytes of the buffer too, and knows no fence.
  if (dct->fence != nullptr && !gst_coef_fence_wait_written(dct->fence, nullptr)) return FALSE;
  std::vector<uint8_t> bytes;
  if (!gstcoef::serialise(*dct, &bytes)) return FALSE;
  *version = gstcoef::kSerialVersion;
  return gst_byte_array_interface_append_data(data, bytes.data(), static_cast<guint>(bytes.size()));
}

GstMeta* dct_meta_deserialize(const GstMetaInfo*, GstBuffer* buffer, const guint8* data, gsize size,
                              guint8 version) {
  GstDctMeta read = {};
  if (!gstcoef::deserialise(data, size, version, &read)) return nullptr;
  GstDctMeta* meta = add_empty_meta(buffer);
  if (meta == nullptr) return nullptr;
  read.meta = meta->meta;
  *meta = read;
  return &meta->meta;
}

const GstMetaInfo* register_dct_meta() {
  GstMetaInfo* info =
      gst_meta_info_new(gst_dct_meta_api_get_type(), "GstDctMeta", sizeof(GstDctMeta));
  info->init_func = dct_meta_init;
  info->free_func = dct_meta_free;
  info->transform_func = dct_meta_transform;
  info->serialize_func = dct_meta_serialize;
  info->deserialize_func = dct_meta_deserialize;
  return gst_meta_info_register(info);
}

#else

const GstMetaInfo* register_dct_meta() {
  return gst_meta_register(gst_dct_meta_api_get_type(), "GstDctMeta", sizeof(GstDctMeta),
                           dct_meta_init, dct_meta_free, dct_meta_transform);
}

#endif

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
  static const GstMetaInfo* const info = register_dct_meta();
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
  if (fence != nullptr) gst_coef_fence_ref(fence);
  if (meta->fence != nullptr) gst_coef_fence_unref(meta->fence);
  meta->fence = fence;
}
