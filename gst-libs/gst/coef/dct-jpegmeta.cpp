// GstDctJpegMeta: the contents of a JPEG file besides the coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dct.h>
#include <gst/coef/meta-private.h>

namespace {

gboolean jpeg_meta_init(GstMeta* meta, gpointer, GstBuffer*) {
  auto* jpeg = reinterpret_cast<GstDctJpegMeta*>(meta);
  jpeg->segments = nullptr;
  jpeg->irregular = GST_DCT_JPEG_REGULAR;
  return TRUE;
}

void jpeg_meta_free(GstMeta* meta, GstBuffer*) {
  auto* jpeg = reinterpret_cast<GstDctJpegMeta*>(meta);
  g_clear_pointer(&jpeg->segments, g_bytes_unref);
}

gboolean jpeg_meta_transform(GstBuffer* target, GstMeta* meta, GstBuffer*, GQuark type,
                             gpointer data) {
  if (!gstcoef::is_whole_copy(type, data)) return FALSE;
  const auto* from = reinterpret_cast<const GstDctJpegMeta*>(meta);
  GstDctJpegMeta* copy = gst_buffer_add_dct_jpeg_meta(target, from->segments);
  if (copy == nullptr) return FALSE;
  copy->irregular = from->irregular;
  return TRUE;
}

}  // namespace

GType gst_dct_jpeg_meta_api_get_type(void) {
  static const GType type = gstcoef::register_memory_api("GstDctJpegMetaAPI");
  return type;
}

const GstMetaInfo* gst_dct_jpeg_meta_get_info(void) {
  static const GstMetaInfo* const info =
      gst_meta_register(gst_dct_jpeg_meta_api_get_type(), "GstDctJpegMeta", sizeof(GstDctJpegMeta),
                        jpeg_meta_init, jpeg_meta_free, jpeg_meta_transform);
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
