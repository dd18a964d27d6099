// GstDctJpegMeta: the contents of a JPEG file besides the coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <vector>

#include <gst/coef/dct-serial.h>
#include <gst/coef/dct.h>
#include <gst/coef/meta-private.h>

namespace {

gboolean jpeg_meta_init(GstMeta* meta, gpointer, GstBuffer*) {
  auto* jpeg = reinterpret_cast<GstDctJpegMeta*>(meta);
  jpeg->segments = nullptr;
  jpeg->irregular = GST_DCT_JPEG_REGULAR;
  jpeg->behind = nullptr;
  jpeg->n_attachments = 0;
  jpeg->attachments = nullptr;
  return TRUE;
}

void jpeg_meta_free(GstMeta* meta, GstBuffer*) {
  auto* jpeg = reinterpret_cast<GstDctJpegMeta*>(meta);
  g_clear_pointer(&jpeg->segments, g_bytes_unref);
  g_clear_pointer(&jpeg->behind, g_bytes_unref);
  g_clear_pointer(&jpeg->attachments, g_free);
}

gboolean jpeg_meta_transform(GstBuffer* target, GstMeta* meta, GstBuffer*, GQuark type,
                             gpointer data) {
  if (!gstcoef::is_whole_copy(type, data)) return FALSE;
  const auto* from = reinterpret_cast<const GstDctJpegMeta*>(meta);
  GstDctJpegMeta* copy = gst_buffer_add_dct_jpeg_meta(target, from->segments);
  if (copy == nullptr) return FALSE;
  copy->irregular = from->irregular;
  gst_dct_jpeg_meta_set_behind(copy, from->behind, from->attachments, from->n_attachments);
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
  if (!gstcoef::serialise_head(*jpeg, &head)) return FALSE;
  *version = gstcoef::kSerialVersion;
  return gst_byte_array_interface_append_data(data, head.data(), guint(head.size())) &&
         append(jpeg->segments, data) && append(jpeg->behind, data);
}

GstMeta* jpeg_meta_deserialize(const GstMetaInfo*, GstBuffer* buffer, const guint8* data,
                               gsize size, guint8 version) {
  GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(buffer, nullptr);
  if (meta == nullptr) return nullptr;
  if (gstcoef::deserialise(data, size, version, meta)) return &meta->meta;
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

gboolean gst_dct_jpeg_meta_set_behind(GstDctJpegMeta* meta, GBytes* behind,
                                      const GstDctJpegPlace* attachments, guint n_attachments) {
  g_return_val_if_fail(meta != nullptr, FALSE);
  g_return_val_if_fail(n_attachments == 0 || attachments != nullptr, FALSE);
  if (n_attachments > GST_DCT_JPEG_MAX_ATTACHMENTS) return FALSE;
  const gsize size = behind != nullptr ? g_bytes_get_size(behind) : 0;
  const auto* end = attachments + n_attachments;
  if (!std::all_of(attachments, end, [size](const auto& place) { return is_in(place, size); }))
    return FALSE;
  GBytes* old_behind = meta->behind;
  GstDctJpegPlace* old_attachments = meta->attachments;
  meta->behind = behind != nullptr ? g_bytes_ref(behind) : nullptr;
  meta->attachments = static_cast<GstDctJpegPlace*>(
      g_memdup2(attachments, n_attachments * sizeof *attachments));  // null for none
  meta->n_attachments = n_attachments;
  if (old_behind != nullptr) g_bytes_unref(old_behind);
  g_free(old_attachments);
  return TRUE;
}

GBytes* gst_dct_jpeg_meta_get_attachment(const GstDctJpegMeta* meta, guint index) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  if (index >= meta->n_attachments) return nullptr;
  const GstDctJpegPlace& place = meta->attachments[index];
  return g_bytes_new_from_bytes(meta->behind, place.offset, place.size);
}

GBytes* gst_dct_jpeg_meta_get_trailer(const GstDctJpegMeta* meta) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  if (meta->behind == nullptr) return nullptr;
  gsize begin = 0;
  for (guint i = 0; i < meta->n_attachments; i++)
    begin = std::max(begin, meta->attachments[i].offset + meta->attachments[i].size);
  const gsize size = g_bytes_get_size(meta->behind);
  return size > begin ? g_bytes_new_from_bytes(meta->behind, begin, size - begin) : nullptr;
}
