// GstDwtInfo: the geometry of wavelet coefficients, from numbers and from caps, and back to caps.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <string>

#include <gst/coef/coef-private.h>

namespace {

// The next multiple of 2^halvings, or 0 if that is no gint.
guint padded(guint size, guint halvings) {
  const guint64 unit = guint64{1} << halvings;
  const guint64 up = (size + unit - 1) & ~(unit - 1);
  return up <= G_MAXINT ? static_cast<guint>(up) : 0;
}

// Lays the components out one after the other; false if the bytes do not fit a gssize.
bool lay_out(GstDwtInfo* info) {
  gsize offset = 0;
  info->n_components = gst_coef_sampling_components(info->sampling);
  for (guint i = 0; i < info->n_components; i++) {
    const GstCoefShape shape =
        gst_coef_sampling_shape(info->sampling, i, info->width, info->height);
    GstDwtComponent c = {};
    c.id = shape.id;
    c.h_samp = shape.h_samp;
    c.v_samp = shape.v_samp;
    c.width = shape.width;
    c.height = shape.height;
    c.padded_width = padded(c.width, info->levels + info->levels_ho);
    c.padded_height = padded(c.height, info->levels);
    if (c.padded_width == 0 || c.padded_height == 0) return false;
    c.offset = offset;
    c.stride = gsize{c.padded_width} * gst_coef_format_size(info->format);
    if (!gstcoef::place_rows(c.stride, c.padded_height, &offset)) return false;
    info->components[i] = c;
  }
  info->size = offset;
  return true;
}

gboolean check_transform(GstDwtWavelet wavelet, GstDwtWavelet wavelet_ho, guint levels,
                         guint levels_ho, const gstcoef::Refusal& refuse) {
  const gchar* name = gst_dwt_wavelet_to_string(wavelet);
  const gchar* name_ho = gst_dwt_wavelet_to_string(wavelet_ho);
  if (name == nullptr || name_ho == nullptr)
    return refuse("wavelets %d and %d, expected 0 to %d", static_cast<int>(wavelet),
                  static_cast<int>(wavelet_ho), gst_dwt_wavelet_class()->maximum);
  if ((wavelet == GST_DWT_WAVELET_J2K53) != (wavelet_ho == GST_DWT_WAVELET_J2K53))
    return refuse("wavelet=%s with wavelet-ho=%s: j2k53 requires both", name, name_ho);
  if (levels > GST_DWT_MAX_LEVELS)
    return refuse("levels=%u, expected 0 to %d", levels, GST_DWT_MAX_LEVELS);
  if (levels_ho > GST_DWT_MAX_LEVELS_HO)
    return refuse("levels-ho=%u, expected 0 to %d", levels_ho, GST_DWT_MAX_LEVELS_HO);
  if (levels + levels_ho == 0) return refuse("levels + levels-ho must be at least 1");
  return TRUE;
}

gboolean read_wavelet(const GstStructure* s, const char* field, GstDwtWavelet* wavelet,
                      const gstcoef::Refusal& refuse) {
  const gchar* name = gst_structure_get_string(s, field);
  if (gst_dwt_wavelet_from_string(name, wavelet)) return TRUE;
  const GEnumClass* known = gst_dwt_wavelet_class();
  std::string names;
  for (guint i = 0; i < known->n_values; i++)
    names += std::string(i == 0                    ? ""
                         : i + 1 < known->n_values ? ", "
                                                   : " or ") +
             known->values[i].value_nick;
  return refuse("%s is %s, expected %s", field, GST_STR_NULL(name), names.c_str());
}

gboolean read_levels(const GstStructure* s, const char* field, guint* levels,
                     const gstcoef::Refusal& refuse) {
  gint read = 0;
  if (!gst_structure_get_int(s, field, &read) || read < 0)
    return refuse("%s is missing or not an integer of at least 0", field);
  *levels = static_cast<guint>(read);
  return TRUE;
}

}  // namespace

gboolean gst_dwt_info_set(GstDwtInfo* info, GstDwtWavelet wavelet, GstDwtWavelet wavelet_ho,
                          guint levels, guint levels_ho, gboolean quantized, guint depth,
                          GstCoefSampling sampling, gint width, gint height, gchar** reason) {
  const gstcoef::Refusal refuse = gst_dwt_refusal(reason);
  g_return_val_if_fail(info != nullptr, FALSE);
  *info = GstDwtInfo{};
  if (!check_transform(wavelet, wavelet_ho, levels, levels_ho, refuse)) return FALSE;
  GstDwtInfo filled = {};
  filled.format = gst_dwt_choose_format(depth, wavelet, wavelet_ho, levels, levels_ho);
  if (!gstcoef::check_picture(filled.format, depth, sampling, width, height, refuse)) return FALSE;
  if (gst_coef_sampling_components(sampling) > 3)
    return refuse("sampling=%s has four components, expected up to three in video/x-dwt",
                  gst_coef_sampling_to_string(sampling));
  filled.wavelet = wavelet;
  filled.wavelet_ho = wavelet_ho;
  filled.levels = levels;
  filled.levels_ho = levels_ho;
  filled.quantized = quantized ? TRUE : FALSE;
  filled.depth = depth;
  filled.sampling = sampling;
  filled.width = width;
  filled.height = height;
  filled.fps_n = 0;
  filled.fps_d = 1;
  if (!lay_out(&filled))
    return refuse("the coefficients of %d x %d samples exceed the address space", width, height);
  *info = filled;
  return TRUE;
}

gboolean gst_dwt_info_from_caps(GstDwtInfo* info, const GstCaps* caps, gchar** reason) {
  const gstcoef::Refusal refuse = gst_dwt_refusal(reason);
  g_return_val_if_fail(info != nullptr, FALSE);
  *info = GstDwtInfo{};
  g_return_val_if_fail(caps != nullptr, FALSE);
  const GstStructure* s = gstcoef::fixed_structure(caps, GST_DWT_MEDIA_TYPE, refuse);
  gstcoef::PictureFields fields;
  GstDwtWavelet wavelet = GST_DWT_WAVELET_DD97, wavelet_ho = wavelet;
  guint levels = 0, levels_ho = 0;
  GstDwtInfo filled;
  if (s == nullptr || !gstcoef::read_picture_fields(s, &fields, refuse) ||
      !read_wavelet(s, "wavelet", &wavelet, refuse) ||
      !read_wavelet(s, "wavelet-ho", &wavelet_ho, refuse) ||
      !read_levels(s, "levels", &levels, refuse) ||
      !read_levels(s, "levels-ho", &levels_ho, refuse) ||
      !gst_dwt_info_set(&filled, wavelet, wavelet_ho, levels, levels_ho, fields.quantized,
                        fields.depth, fields.sampling, fields.width, fields.height, reason)) {
    return FALSE;
  }
  if (fields.format != filled.format)
    return refuse(
        "format=%s, expected %s for %u bits, wavelet=%s, wavelet-ho=%s, levels=%u, "
        "levels-ho=%u",
        gst_coef_format_to_string(fields.format), gst_coef_format_to_string(filled.format),
        fields.depth, gst_dwt_wavelet_to_string(wavelet), gst_dwt_wavelet_to_string(wavelet_ho),
        levels, levels_ho);
  filled.fps_n = fields.fps_n;
  filled.fps_d = fields.fps_d;
  *info = filled;
  return TRUE;
}

GstCaps* gst_dwt_info_to_caps(const GstDwtInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  g_return_val_if_fail(info->n_components > 0, nullptr);
  return gst_caps_new_simple(
      GST_DWT_MEDIA_TYPE, "format", G_TYPE_STRING, gst_coef_format_to_string(info->format),
      "wavelet", G_TYPE_STRING, gst_dwt_wavelet_to_string(info->wavelet), "wavelet-ho",
      G_TYPE_STRING, gst_dwt_wavelet_to_string(info->wavelet_ho), "levels", G_TYPE_INT,
      static_cast<gint>(info->levels), "levels-ho", G_TYPE_INT, static_cast<gint>(info->levels_ho),
      "quantized", G_TYPE_BOOLEAN, info->quantized, "depth", G_TYPE_INT,
      static_cast<gint>(info->depth), "sampling", G_TYPE_STRING,
      gst_coef_sampling_to_string(info->sampling), "colorspace", G_TYPE_STRING,
      gst_coef_sampling_get_colorspace(info->sampling), "width", G_TYPE_INT, info->width, "height",
      G_TYPE_INT, info->height, "framerate", GST_TYPE_FRACTION, info->fps_n, info->fps_d, nullptr);
}

const GstDwtComponent* gst_dwt_info_get_component(const GstDwtInfo* info, guint index) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return index < info->n_components ? &info->components[index] : nullptr;
}

gsize gst_dwt_info_row_bytes(const GstDwtInfo* info, guint component) {
  g_return_val_if_fail(info != nullptr, 0);
  g_return_val_if_fail(component < info->n_components, 0);
  return gsize{info->components[component].padded_width} * gst_coef_format_size(info->format);
}

guint gst_dwt_info_get_n_bands(const GstDwtInfo* info) {
  g_return_val_if_fail(info != nullptr && info->n_components > 0, 0);
  return gst_dwt_band_count(info->levels, info->levels_ho);
}

gboolean gst_dwt_info_get_band(const GstDwtInfo* info, guint component, guint band,
                               GstDwtBand* geometry) {
  g_return_val_if_fail(info != nullptr && geometry != nullptr, FALSE);
  if (component >= info->n_components || band >= gst_dwt_info_get_n_bands(info)) return FALSE;
  const GstDwtComponent& c = info->components[component];
  GstDwtBand b = {};
  if (band <= info->levels_ho) {
    b.level = band;
    const guint halvings = info->levels + info->levels_ho - (band == 0 ? 0 : band - 1);
    b.width = c.padded_width >> halvings;
    b.height = c.padded_height >> info->levels;
    b.x = band == 0 ? 0 : b.width;
    b.orientation = band > 0              ? GST_DWT_ORIENTATION_H
                    : info->levels_ho > 0 ? GST_DWT_ORIENTATION_L
                                          : GST_DWT_ORIENTATION_LL;
  } else {
    static const GstDwtOrientation kOrder[] = {GST_DWT_ORIENTATION_HL, GST_DWT_ORIENTATION_LH,
                                               GST_DWT_ORIENTATION_HH};
    const guint above = band - info->levels_ho - 1;
    const guint halvings = info->levels - above / 3;
    b.level = info->levels_ho + 1 + above / 3;
    b.orientation = kOrder[above % 3];
    b.width = c.padded_width >> halvings;
    b.height = c.padded_height >> halvings;
    b.x = b.orientation == GST_DWT_ORIENTATION_LH ? 0 : b.width;
    b.y = b.orientation == GST_DWT_ORIENTATION_HL ? 0 : b.height;
  }
  *geometry = b;
  return TRUE;
}

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
    GST_DEBUG_CATEGORY_INIT(made, "coef-dwt", 0, "video/x-dwt caps and metas");
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
