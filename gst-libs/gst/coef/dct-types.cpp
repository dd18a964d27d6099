// The GTypes of dct.h, the boxed GstDctInfo, and the debug category.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dct-private.h>

G_DEFINE_BOXED_TYPE(GstDctInfo, gst_dct_info, gst_dct_info_copy, gst_dct_info_free)
G_DEFINE_BOXED_TYPE(GstDctComponent, gst_dct_component, gstcoef::copy_struct<GstDctComponent>,
                    g_free)

#define VALUE(name, nick) \
  { name, #name, nick }

GType gst_dct_layout_get_type(void) {
  static const GEnumValue values[] = {VALUE(GST_DCT_LAYOUT_BLOCK, "block"),
                                      VALUE(GST_DCT_LAYOUT_PLANE, "plane"),
                                      VALUE(GST_DCT_LAYOUT_BAND, "band"),
                                      {}};
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

GstDebugCategory* gst_dct_debug_category() {
  static GstDebugCategory* const category = [] {
    GstDebugCategory* made = nullptr;
    GST_DEBUG_CATEGORY_INIT(made, "dct", 0, "video/x-dct caps and metas");
    return made;
  }();
  return category;
}

GstDctInfo* gst_dct_info_new(void) { return g_new0(GstDctInfo, 1); }

GstDctInfo* gst_dct_info_copy(const GstDctInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return gstcoef::copy_struct(info);
}

void gst_dct_info_free(GstDctInfo* info) { g_free(info); }
