// The GTypes of dwt.h, the names of wavelets, and the boxed GstDwtInfo.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dwt-private.h>

G_DEFINE_BOXED_TYPE(GstDwtInfo, gst_dwt_info, gst_dwt_info_copy, gst_dwt_info_free)
G_DEFINE_BOXED_TYPE(GstDwtComponent, gst_dwt_component, gstcoef::copy_struct<GstDwtComponent>,
                    g_free)
G_DEFINE_BOXED_TYPE(GstDwtBand, gst_dwt_band, gstcoef::copy_struct<GstDwtBand>, g_free)

#define VALUE(name, nick) \
  { name, #name, nick }

GType gst_dwt_wavelet_get_type(void) {
  static const GEnumValue values[] = {VALUE(GST_DWT_WAVELET_DD97, "dd97"),
                                      VALUE(GST_DWT_WAVELET_LEGALL53, "legall53"),
                                      VALUE(GST_DWT_WAVELET_DD137, "dd137"),
                                      VALUE(GST_DWT_WAVELET_HAAR, "haar"),
                                      VALUE(GST_DWT_WAVELET_HAAR_SHIFT, "haar-shift"),
                                      VALUE(GST_DWT_WAVELET_FIDELITY, "fidelity"),
                                      VALUE(GST_DWT_WAVELET_DAUB97, "daub97"),
                                      VALUE(GST_DWT_WAVELET_J2K53, "j2k53"),
                                      {}};
  static const GType type = g_enum_register_static("GstDwtWavelet", values);
  return type;
}

GType gst_dwt_orientation_get_type(void) {
  static const GEnumValue values[] = {VALUE(GST_DWT_ORIENTATION_LL, "ll"),
                                      VALUE(GST_DWT_ORIENTATION_L, "l"),
                                      VALUE(GST_DWT_ORIENTATION_H, "h"),
                                      VALUE(GST_DWT_ORIENTATION_HL, "hl"),
                                      VALUE(GST_DWT_ORIENTATION_LH, "lh"),
                                      VALUE(GST_DWT_ORIENTATION_HH, "hh"),
                                      {}};
  static const GType type = g_enum_register_static("GstDwtOrientation", values);
  return type;
}

GEnumClass* gst_dwt_wavelet_class() {
  static gpointer const klass = g_type_class_ref(gst_dwt_wavelet_get_type());
  return G_ENUM_CLASS(klass);
}

GstDebugCategory* gst_dwt_debug_category() {
  static GstDebugCategory* const category = [] {
    GstDebugCategory* made = nullptr;
    GST_DEBUG_CATEGORY_INIT(made, "dwt", 0, "video/x-dwt caps and metas");
    return made;
  }();
  return category;
}

const gchar* gst_dwt_wavelet_to_string(GstDwtWavelet wavelet) {
  const GEnumValue* value = g_enum_get_value(gst_dwt_wavelet_class(), static_cast<gint>(wavelet));
  return value != nullptr ? value->value_nick : nullptr;
}

gboolean gst_dwt_wavelet_from_string(const gchar* string, GstDwtWavelet* wavelet) {
  g_return_val_if_fail(wavelet != nullptr, FALSE);
  const GEnumValue* value =
      string != nullptr ? g_enum_get_value_by_nick(gst_dwt_wavelet_class(), string) : nullptr;
  if (value == nullptr) return FALSE;
  *wavelet = static_cast<GstDwtWavelet>(value->value);
  return TRUE;
}

GstDwtInfo* gst_dwt_info_new(void) { return g_new0(GstDwtInfo, 1); }

GstDwtInfo* gst_dwt_info_copy(const GstDwtInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return gstcoef::copy_struct(info);
}

void gst_dwt_info_free(GstDwtInfo* info) { g_free(info); }
