// The GTypes of what dct.h declares, and the boxed GstDctInfo.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dct.h>

namespace {

GstDctComponent* copy_component(GstDctComponent* component) {
  return static_cast<GstDctComponent*>(g_memdup2(component, sizeof *component));
}

void free_component(GstDctComponent* component) { g_free(component); }

}  // namespace

G_DEFINE_BOXED_TYPE(GstDctInfo, gst_dct_info, gst_dct_info_copy, gst_dct_info_free)
G_DEFINE_BOXED_TYPE(GstDctComponent, gst_dct_component, copy_component, free_component)

#define VALUE(name, nick) \
  { name, #name, nick }

GType gst_dct_layout_get_type(void) {
  static const GEnumValue values[] = {
      VALUE(GST_DCT_LAYOUT_BLOCK, "block"), VALUE(GST_DCT_LAYOUT_PLANE, "plane"), {}};
  static const GType type = g_enum_register_static("GstDctLayout", values);
  return type;
}

GType gst_dct_order_get_type(void) {
  static const GEnumValue values[] = {
      VALUE(GST_DCT_ORDER_RASTER, "raster"), VALUE(GST_DCT_ORDER_ZIGZAG, "zigzag"), {}};
  static const GType type = g_enum_register_static("GstDctOrder", values);
  return type;
}

GType gst_dct_jpeg_irregularity_get_type(void) {
  static const GFlagsValue values[] = {VALUE(GST_DCT_JPEG_REGULAR, "regular"),
                                       VALUE(GST_DCT_JPEG_LEFT_OVER_BYTES, "left-over-bytes"),
                                       VALUE(GST_DCT_JPEG_STRAY_BYTES, "stray-bytes"),
                                       VALUE(GST_DCT_JPEG_SCAN_PARAMETERS, "scan-parameters"),
                                       VALUE(GST_DCT_JPEG_MISSING_END, "missing-end"),
                                       VALUE(GST_DCT_JPEG_USELESS_MARKER, "useless-marker"),
                                       VALUE(GST_DCT_JPEG_UNKNOWN_HEADER, "unknown-header"),
                                       {}};
  static const GType type = g_flags_register_static("GstDctJpegIrregularity", values);
  return type;
}

GType gst_dct_meta_flags_get_type(void) {
  static const GFlagsValue values[] = {VALUE(GST_DCT_META_FLAG_NONE, "none"),
                                       VALUE(GST_DCT_META_FLAG_TOP_FIELD, "top-field"),
                                       VALUE(GST_DCT_META_FLAG_BOTTOM_FIELD, "bottom-field"),
                                       {}};
  static const GType type = g_flags_register_static("GstDctMetaFlags", values);
  return type;
}

/**
 * gst_dct_info_new: (constructor)
 *
 * Returns: (transfer full): an info that nobody has filled, with everything zero
 *
 * Since: 1.0
 */
GstDctInfo* gst_dct_info_new(void) { return g_new0(GstDctInfo, 1); }

/**
 * gst_dct_info_copy:
 * @info: an info
 *
 * Returns: (transfer full): a copy of @info
 *
 * Since: 1.0
 */
GstDctInfo* gst_dct_info_copy(const GstDctInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return static_cast<GstDctInfo*>(g_memdup2(info, sizeof *info));
}

/**
 * gst_dct_info_free:
 * @info: (nullable): an info of gst_dct_info_new() or gst_dct_info_copy()
 *
 * Since: 1.0
 */
void gst_dct_info_free(GstDctInfo* info) { g_free(info); }
