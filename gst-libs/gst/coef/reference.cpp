// GstCoefReferenceMeta: the source frame of coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/reference.h>

#include <gst/coef/meta-private.h>

namespace {

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
  if (!gstcoef::is_whole_copy(type, data)) return FALSE;
  const auto* from = reinterpret_cast<const GstCoefReferenceMeta*>(meta);
  return gst_buffer_add_coef_reference_meta(target, from->source, &from->info) != nullptr;
}

}  // namespace

GType gst_coef_reference_meta_api_get_type(void) {
  static const GType type = gstcoef::register_memory_api("GstCoefReferenceMetaAPI");
  return type;
}

const GstMetaInfo* gst_coef_reference_meta_get_info(void) {
  static const GstMetaInfo* const info = gst_meta_register(
      gst_coef_reference_meta_api_get_type(), "GstCoefReferenceMeta", sizeof(GstCoefReferenceMeta),
      reference_meta_init, reference_meta_free, reference_meta_transform);
  return info;
}

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

GstCoefReferenceMeta* gst_buffer_get_coef_reference_meta(GstBuffer* buffer) {
  return gstcoef::get_meta<GstCoefReferenceMeta>(buffer, GST_COEF_REFERENCE_META_API_TYPE);
}
