// GstDctMeta and GstCoefReferenceMeta: what may change with every buffer of video/x-dct.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>
#include <vector>

#include <gst/coef/dct-private.h>
#include <gst/coef/dct-serial.h>

GstDebugCategory* gst_dct_debug_category() {
  static GstDebugCategory* const category = [] {
    GstDebugCategory* made = nullptr;
    GST_DEBUG_CATEGORY_INIT(made, "dct", 0, "video/x-dct caps and metas");
    return made;
  }();
  return category;
}

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

// Metas stay with copies of the whole buffer: part of a buffer is no picture.
bool is_whole_copy(GQuark type, gpointer data) {
  return GST_META_TRANSFORM_IS_COPY(type) && !static_cast<GstMetaTransformCopy*>(data)->region;
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
  if (!is_whole_copy(type, data)) return FALSE;
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

gboolean reference_meta_init(GstMeta* meta, gpointer, GstBuffer*) {
  auto* reference = reinterpret_cast<GstCoefReferenceMeta*>(meta);
  reference->source = nullptr;
  gst_video_info_init(&reference->info);
  return TRUE;
}

void reference_meta_free(GstMeta* meta, GstBuffer*) {
  gst_clear_buffer(&reinterpret_cast<GstCoefReferenceMeta*>(meta)->source);
}

gboolean reference_meta_transform(GstBuffer* target, GstMeta* meta, GstBuffer*, GQuark type,
                                  gpointer data) {
  if (!is_whole_copy(type, data)) return FALSE;
  const auto* from = reinterpret_cast<const GstCoefReferenceMeta*>(meta);
  return gst_buffer_add_coef_reference_meta(target, from->source, &from->info) != nullptr;
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

// Both metas describe the very memory of their buffer: an element that makes new memory must not
// carry them over, and the tag tells it so.
GType register_api(const gchar* name) {
  static const gchar* tags[] = {GST_META_TAG_MEMORY_STR, nullptr};
  return gst_meta_api_type_register(name, tags);
}

}  // namespace

GType gst_dct_meta_api_get_type(void) {
  static const GType type = register_api("GstDctMetaAPI");
  return type;
}

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
 */
void gst_dct_meta_set_fence(GstDctMeta* meta, GstCoefFence* fence) {
  g_return_if_fail(meta != nullptr);
  if (fence != nullptr) gst_coef_fence_ref(fence);
  if (meta->fence != nullptr) gst_coef_fence_unref(meta->fence);
  meta->fence = fence;
}

GType gst_coef_reference_meta_api_get_type(void) {
  static const GType type = register_api("GstCoefReferenceMetaAPI");
  return type;
}

const GstMetaInfo* gst_coef_reference_meta_get_info(void) {
  static const GstMetaInfo* const info = gst_meta_register(
      gst_coef_reference_meta_api_get_type(), "GstCoefReferenceMeta", sizeof(GstCoefReferenceMeta),
      reference_meta_init, reference_meta_free, reference_meta_transform);
  return info;
}

/**
 * gst_buffer_add_coef_reference_meta:
 * @buffer: (transfer none): a writable buffer of coefficients
 * @source: (transfer none): the frame that they were made from
 * @info: its format and size, and the strides and offsets that hold in @source
 *
 * Returns: (transfer none): the meta, owned by @buffer
 */
GstCoefReferenceMeta* gst_buffer_add_coef_reference_meta(GstBuffer* buffer, GstBuffer* source,
                                                         const GstVideoInfo* info) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer) && GST_IS_BUFFER(source), nullptr);
  g_return_val_if_fail(buffer != source, nullptr);  // a buffer that holds itself is never freed
  g_return_val_if_fail(info != nullptr, nullptr);
  auto* meta = reinterpret_cast<GstCoefReferenceMeta*>(
      gst_buffer_add_meta(buffer, GST_COEF_REFERENCE_META_INFO, nullptr));
  if (meta == nullptr) return nullptr;
  meta->source = gst_buffer_ref(source);
  meta->info = *info;
  return meta;
}

/**
 * gst_buffer_get_coef_reference_meta:
 * @buffer: (transfer none): a buffer
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer
 */
GstCoefReferenceMeta* gst_buffer_get_coef_reference_meta(GstBuffer* buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  return reinterpret_cast<GstCoefReferenceMeta*>(
      gst_buffer_get_meta(buffer, GST_COEF_REFERENCE_META_API_TYPE));
}
