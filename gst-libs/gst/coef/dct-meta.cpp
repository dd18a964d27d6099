// Metas of video/x-dct: what may change with every buffer, whether it is valid, and the contents of
// a JPEG file other than the coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <vector>

#include <gst/coef/coef-private.h>
#include <gst/coef/dct.h>
#include <gst/coef/meta-private.h>
#include <gst/coef/serial-private.h>

namespace {

// ITU-T T.81, figure 5, as a path: up and to the right along even diagonals, down and to the left
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
      gstcoef::register_meta<GstDctMeta, gstcoef::serialize, gstcoef::deserialize,
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

namespace {

gboolean jpeg_meta_init(GstMeta* meta, gpointer, GstBuffer*) {
  auto* jpeg = reinterpret_cast<GstDctJpegMeta*>(meta);
  jpeg->segments = nullptr;
  jpeg->irregular = GST_DCT_JPEG_REGULAR;
  jpeg->trailing = nullptr;
  jpeg->n_attachments = 0;
  jpeg->attachments = nullptr;
  return TRUE;
}

void jpeg_meta_free(GstMeta* meta, GstBuffer*) {
  auto* jpeg = reinterpret_cast<GstDctJpegMeta*>(meta);
  g_clear_pointer(&jpeg->segments, g_bytes_unref);
  g_clear_pointer(&jpeg->trailing, g_bytes_unref);
  g_clear_pointer(&jpeg->attachments, g_free);
}

gboolean jpeg_meta_transform(GstBuffer* target, GstMeta* meta, GstBuffer*, GQuark type,
                             gpointer data) {
  if (!gstcoef::is_whole_copy(type, data)) return FALSE;
  const auto* from = reinterpret_cast<const GstDctJpegMeta*>(meta);
  GstDctJpegMeta* copy = gst_buffer_add_dct_jpeg_meta(target, from->segments);
  if (copy == nullptr) return FALSE;
  copy->irregular = from->irregular;
  gst_dct_jpeg_meta_set_trailing(copy, from->trailing, from->attachments, from->n_attachments);
  return TRUE;
}

#if GST_CHECK_VERSION(1, 23, 0)

bool append(GBytes* bytes, GstByteArrayInterface* data) {
  gsize size = 0;
  const void* from = bytes != nullptr ? g_bytes_get_data(bytes, &size) : nullptr;
  return size == 0 ||
         (size <= G_MAXUINT && gst_byte_array_interface_append_data(
                                   data, static_cast<const guint8*>(from), guint(size)));
}

gboolean jpeg_meta_serialize(const GstMeta* meta, GstByteArrayInterface* data, guint8* version) {
  const auto* jpeg = reinterpret_cast<const GstDctJpegMeta*>(meta);
  std::vector<uint8_t> head;
  if (!gstcoef::serialize_head(*jpeg, &head)) return FALSE;
  *version = gstcoef::kSerialVersion;
  return gst_byte_array_interface_append_data(data, head.data(), guint(head.size())) &&
         append(jpeg->segments, data) && append(jpeg->trailing, data);
}

GstMeta* jpeg_meta_deserialize(const GstMetaInfo*, GstBuffer* buffer, const guint8* data,
                               gsize size, guint8 version) {
  GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(buffer, nullptr);
  if (meta == nullptr) return nullptr;
  if (gstcoef::deserialize(data, size, version, meta)) return &meta->meta;
  gst_buffer_remove_meta(buffer, &meta->meta);
  return nullptr;
}

#endif

// From GStreamer 1.24 on with a serial form.
const GstMetaInfo* register_jpeg_meta() {
  const GType api = gst_dct_jpeg_meta_api_get_type();
  constexpr char kName[] = "GstDctJpegMeta";
#if GST_CHECK_VERSION(1, 23, 0)
  GstMetaInfo* info = gst_meta_info_new(api, kName, sizeof(GstDctJpegMeta));
  info->init_func = jpeg_meta_init;
  info->free_func = jpeg_meta_free;
  info->transform_func = jpeg_meta_transform;
  info->serialize_func = jpeg_meta_serialize;
  info->deserialize_func = jpeg_meta_deserialize;
  return gst_meta_info_register(info);
#else
  return gst_meta_register(api, kName, sizeof(GstDctJpegMeta), jpeg_meta_init, jpeg_meta_free,
                           jpeg_meta_transform);
#endif
}

bool is_in(const GstDctJpegPlace& place, gsize size) {
  return place.size > 0 && place.offset <= size && place.size <= size - place.offset;
}

}  // namespace

GType gst_dct_jpeg_meta_api_get_type(void) {
  static const GType type = gstcoef::register_memory_api("GstDctJpegMetaAPI");
  return type;
}

const GstMetaInfo* gst_dct_jpeg_meta_get_info(void) {
  static const GstMetaInfo* const info = register_jpeg_meta();
  return info;
}

GstDctJpegMeta* gst_buffer_add_dct_jpeg_meta(GstBuffer* buffer, GBytes* segments) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  auto* meta = reinterpret_cast<GstDctJpegMeta*>(
      gst_buffer_add_meta(buffer, GST_DCT_JPEG_META_INFO, nullptr));
  if (meta == nullptr) return nullptr;
  if (segments != nullptr) meta->segments = g_bytes_ref(segments);
  return meta;
}

GstDctJpegMeta* gst_buffer_get_dct_jpeg_meta(GstBuffer* buffer) {
  return gstcoef::get_meta<GstDctJpegMeta>(buffer, GST_DCT_JPEG_META_API_TYPE);
}

gboolean gst_dct_jpeg_meta_set_trailing(GstDctJpegMeta* meta, GBytes* trailing,
                                        const GstDctJpegPlace* attachments, guint n_attachments) {
  g_return_val_if_fail(meta != nullptr, FALSE);
  g_return_val_if_fail(n_attachments == 0 || attachments != nullptr, FALSE);
  if (n_attachments > GST_DCT_JPEG_MAX_ATTACHMENTS) return FALSE;
  const gsize size = trailing != nullptr ? g_bytes_get_size(trailing) : 0;
  const auto* end = attachments + n_attachments;
  if (!std::all_of(attachments, end, [size](const auto& place) { return is_in(place, size); }))
    return FALSE;
  GBytes* old_trailing = meta->trailing;
  GstDctJpegPlace* old_attachments = meta->attachments;
  meta->trailing = trailing != nullptr ? g_bytes_ref(trailing) : nullptr;
  meta->attachments = static_cast<GstDctJpegPlace*>(
      g_memdup2(attachments, n_attachments * sizeof *attachments));  // null for none
  meta->n_attachments = n_attachments;
  if (old_trailing != nullptr) g_bytes_unref(old_trailing);
  g_free(old_attachments);
  return TRUE;
}

GBytes* gst_dct_jpeg_meta_get_attachment(const GstDctJpegMeta* meta, guint index) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  if (index >= meta->n_attachments) return nullptr;
  const GstDctJpegPlace& place = meta->attachments[index];
  return g_bytes_new_from_bytes(meta->trailing, place.offset, place.size);
}

GBytes* gst_dct_jpeg_meta_get_trailer(const GstDctJpegMeta* meta) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  if (meta->trailing == nullptr) return nullptr;
  gsize begin = 0;
  for (guint i = 0; i < meta->n_attachments; i++)
    begin = std::max(begin, meta->attachments[i].offset + meta->attachments[i].size);
  const gsize size = g_bytes_get_size(meta->trailing);
  return size > begin ? g_bytes_new_from_bytes(meta->trailing, begin, size - begin) : nullptr;
}

// Metas come from other elements, applications and files. A valid meta cannot make a reader leave
// the buffer or divide by zero.

namespace {

gboolean check_component(const GstDctMeta* meta, const GstDctInfo* info, guint i, gsize buffer_size,
                         const gstcoef::Refusal& refuse) {
  const GstDctComponent& c = meta->components[i];
  const GstDctComponent& wanted = info->components[i];
  if (c.blocks_w != wanted.blocks_w || c.blocks_h != wanted.blocks_h)
    return refuse("component %u has %u x %u blocks in the meta, expected %u x %u", i, c.blocks_w,
                  c.blocks_h, wanted.blocks_w, wanted.blocks_h);
  const gstcoef::Placement placement = {c.offset, c.stride, gst_dct_info_row_bytes(info, i),
                                        gst_dct_info_rows(info, i)};
  return gstcoef::check_placement(placement, info->format, i, buffer_size, refuse);
}

gboolean check_tables(const GstDctMeta* meta, const GstDctInfo* info,
                      const gstcoef::Refusal& refuse) {
  if (!info->quantized) {
    if (meta->n_tables == 0) return TRUE;
    return refuse("%u quantization tables with unquantized coefficients, expected none",
                  meta->n_tables);
  }
  if (meta->n_tables < 1 || meta->n_tables > GST_DCT_MAX_TABLES) {
    return refuse("%u quantization tables, expected 1 to %d", meta->n_tables, GST_DCT_MAX_TABLES);
  }
  for (guint i = 0; i < info->n_components; i++) {
    if (meta->components[i].table >= meta->n_tables) {
      return refuse("component %u uses table %u of %u", i, meta->components[i].table,
                    meta->n_tables);
    }
  }
  for (guint t = 0; t < meta->n_tables; t++) {
    const auto& values = meta->tables[t].values;
    if (std::count(std::begin(values), std::end(values), 0) == 64)
      return refuse("all entries of quantization table %u are 0", t);
  }
  return TRUE;
}

}  // namespace

gboolean gst_dct_meta_validate(const GstDctMeta* meta, const GstDctInfo* info, gsize buffer_size,
                               gchar** reason) {
  const gstcoef::Refusal refuse = gst_dct_refusal(reason);
  g_return_val_if_fail(info != nullptr && info->n_components > 0, FALSE);
  return gstcoef::validate(
      meta, *info, buffer_size, "GstDctMeta: the quantization tables are missing", refuse,
      [&](guint i) { return check_component(meta, info, i, buffer_size, refuse); },
      [&] { return check_tables(meta, info, refuse); });
}
