// The names and sizes of the types in format.h.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/format.h>

#include <gst/coef/coef-private.h>

namespace {

struct SamplingRule {
  GstCoefSampling sampling;
  const char* name;  // jpegparse's spelling; it has none for four components and for 4:4:1
  const char* colorspace;
  guint components;
  guint h_max, v_max;  // the sampling factors of Y and K; chroma's are 1
};

constexpr SamplingRule kSamplings[] = {
    {GST_COEF_SAMPLING_GRAYSCALE, "GRAYSCALE", "GRAY", 1, 1, 1},
    {GST_COEF_SAMPLING_420, "YCbCr-4:2:0", "sYUV", 3, 2, 2},
    {GST_COEF_SAMPLING_422, "YCbCr-4:2:2", "sYUV", 3, 2, 1},
    {GST_COEF_SAMPLING_444, "YCbCr-4:4:4", "sYUV", 3, 1, 1},
    {GST_COEF_SAMPLING_440, "YCbCr-4:4:0", "sYUV", 3, 1, 2},
    {GST_COEF_SAMPLING_411, "YCbCr-4:1:1", "sYUV", 3, 4, 1},
    {GST_COEF_SAMPLING_RGB, "RGB", "sRGB", 3, 1, 1},
    {GST_COEF_SAMPLING_CMYK, "CMYK-4:4:4", "CMYK", 4, 1, 1},
    {GST_COEF_SAMPLING_YCCK_420, "YCCK-4:2:0", "YCCK", 4, 2, 2},
    {GST_COEF_SAMPLING_YCCK_422, "YCCK-4:2:2", "YCCK", 4, 2, 1},
    {GST_COEF_SAMPLING_YCCK_444, "YCCK-4:4:4", "YCCK", 4, 1, 1},
    {GST_COEF_SAMPLING_YCCK_440, "YCCK-4:4:0", "YCCK", 4, 1, 2},
    {GST_COEF_SAMPLING_YCCK_411, "YCCK-4:1:1", "YCCK", 4, 4, 1},
    {GST_COEF_SAMPLING_441, "YCbCr-4:4:1", "sYUV", 3, 1, 4},
    {GST_COEF_SAMPLING_YCCK_441, "YCCK-4:4:1", "YCCK", 4, 1, 4},
};

struct FormatRule {
  GstCoefFormat format;
  const char* name;
  guint size;
};

constexpr FormatRule kFormats[] = {
    {GST_COEF_FORMAT_S16LE, "S16LE", 2},
    {GST_COEF_FORMAT_S32LE, "S32LE", 4},
    {GST_COEF_FORMAT_F32LE, "F32LE", 4},
    {GST_COEF_FORMAT_F16LE, "F16LE", 2},
};

const SamplingRule* find_sampling(GstCoefSampling sampling) {
  for (const SamplingRule& rule : kSamplings)
    if (rule.sampling == sampling) return &rule;
  return nullptr;
}

const FormatRule* find_format(GstCoefFormat format) {
  for (const FormatRule& rule : kFormats)
    if (rule.format == format) return &rule;
  return nullptr;
}

guint divide_up(guint64 value, guint divisor) {
  return static_cast<guint>((value + divisor - 1) / divisor);
}

}  // namespace

guint gst_coef_sampling_components(GstCoefSampling sampling) {
  const SamplingRule* rule = find_sampling(sampling);
  return rule ? rule->components : 0;
}

GstCoefShape gst_coef_sampling_shape(GstCoefSampling sampling, guint index, gint width,
                                     gint height) {
  const SamplingRule& rule = *find_sampling(sampling);
  GstCoefShape shape = {};
  const char* ids = sampling == GST_COEF_SAMPLING_RGB    ? "RGB"
                    : sampling == GST_COEF_SAMPLING_CMYK ? "CMYK"
                                                         : "\1\2\3\4";
  shape.id = static_cast<guint>(ids[index]);
  const bool is_chroma = index == 1 || index == 2;
  shape.h_samp = is_chroma ? 1 : rule.h_max;
  shape.v_samp = is_chroma ? 1 : rule.v_max;
  shape.width = divide_up(guint64{shape.h_samp} * static_cast<guint>(width), rule.h_max);
  shape.height = divide_up(guint64{shape.v_samp} * static_cast<guint>(height), rule.v_max);
  return shape;
}

bool gst_coef_sampling_is_chroma(GstCoefSampling sampling, guint index) {
  return (index == 1 || index == 2) && sampling != GST_COEF_SAMPLING_RGB &&
         sampling != GST_COEF_SAMPLING_CMYK;
}

#define VALUE(name, nick) \
  { name, #name, nick }

GType gst_coef_format_get_type(void) {
  static const GEnumValue values[] = {
      VALUE(GST_COEF_FORMAT_UNKNOWN, "unknown"), VALUE(GST_COEF_FORMAT_S16LE, "s16le"),
      VALUE(GST_COEF_FORMAT_S32LE, "s32le"),     VALUE(GST_COEF_FORMAT_F32LE, "f32le"),
      VALUE(GST_COEF_FORMAT_F16LE, "f16le"),     {}};
  static const GType type = g_enum_register_static("GstCoefFormat", values);
  return type;
}

GType gst_coef_sampling_get_type(void) {
  static const GEnumValue values[] = {VALUE(GST_COEF_SAMPLING_UNKNOWN, "unknown"),
                                      VALUE(GST_COEF_SAMPLING_GRAYSCALE, "grayscale"),
                                      VALUE(GST_COEF_SAMPLING_420, "420"),
                                      VALUE(GST_COEF_SAMPLING_422, "422"),
                                      VALUE(GST_COEF_SAMPLING_444, "444"),
                                      VALUE(GST_COEF_SAMPLING_440, "440"),
                                      VALUE(GST_COEF_SAMPLING_411, "411"),
                                      VALUE(GST_COEF_SAMPLING_RGB, "rgb"),
                                      VALUE(GST_COEF_SAMPLING_CMYK, "cmyk"),
                                      VALUE(GST_COEF_SAMPLING_YCCK_420, "ycck-420"),
                                      VALUE(GST_COEF_SAMPLING_YCCK_422, "ycck-422"),
                                      VALUE(GST_COEF_SAMPLING_YCCK_444, "ycck-444"),
                                      VALUE(GST_COEF_SAMPLING_YCCK_440, "ycck-440"),
                                      VALUE(GST_COEF_SAMPLING_YCCK_411, "ycck-411"),
                                      VALUE(GST_COEF_SAMPLING_441, "441"),
                                      VALUE(GST_COEF_SAMPLING_YCCK_441, "ycck-441"),
                                      {}};
  static const GType type = g_enum_register_static("GstCoefSampling", values);
  return type;
}

const gchar* gst_coef_format_to_string(GstCoefFormat format) {
  const FormatRule* rule = find_format(format);
  return rule ? rule->name : nullptr;
}

GstCoefFormat gst_coef_format_from_string(const gchar* string) {
  for (const FormatRule& rule : kFormats)
    if (g_strcmp0(rule.name, string) == 0) return rule.format;
  return GST_COEF_FORMAT_UNKNOWN;
}

guint gst_coef_format_size(GstCoefFormat format) {
  const FormatRule* rule = find_format(format);
  return rule ? rule->size : 0;
}

const gchar* gst_coef_sampling_to_string(GstCoefSampling sampling) {
  const SamplingRule* rule = find_sampling(sampling);
  return rule ? rule->name : nullptr;
}

GstCoefSampling gst_coef_sampling_from_string(const gchar* string) {
  for (const SamplingRule& rule : kSamplings)
    if (g_strcmp0(rule.name, string) == 0) return rule.sampling;
  return GST_COEF_SAMPLING_UNKNOWN;
}

const gchar* gst_coef_sampling_get_colorspace(GstCoefSampling sampling) {
  const SamplingRule* rule = find_sampling(sampling);
  return rule ? rule->colorspace : nullptr;
}
