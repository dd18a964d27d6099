// The names and sizes of the types in format.h.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/format.h>

#include <string.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>

#include <gst/coef/coef-private.h>

namespace {

struct Colorspace {
  const char* name;
  const char* prefix;  // of the names of samplings
  guint components;
  bool has_chroma;  // the second and the third component
  const char* ids;  // of components, as in files of the kind
};

constexpr Colorspace kColorspaces[] = {
    {"GRAY", "GRAYSCALE", 1, false, "\1"}, {"sYUV", "YCbCr", 3, true, "\1\2\3"},
    {"sRGB", "RGB", 3, false, "RGB"},      {"CMYK", "CMYK", 4, false, "CMYK"},
    {"YCCK", "YCCK", 4, true, "\1\2\3\4"}, {"2CLR", "2CLR", 2, false, "\1\2"},
};

constexpr const Colorspace *kGray = &kColorspaces[0], *kYuv = &kColorspaces[1],
                           *kRgb = &kColorspaces[2], *kCmyk = &kColorspaces[3],
                           *kYcck = &kColorspaces[4];

struct Factors {
  guint8 h[GST_DCT_MAX_COMPONENTS], v[GST_DCT_MAX_COMPONENTS];
};

struct SamplingRule {
  GstCoefSampling sampling;
  const char* name;  // jpegparse's spelling; it has none for four components and for 4:4:1
  const Colorspace* colorspace;
  guint h_max, v_max;  // the sampling factors of Y and K; chroma's are 1
};

constexpr SamplingRule kSamplings[] = {
    {GST_COEF_SAMPLING_GRAYSCALE, "GRAYSCALE", kGray, 1, 1},
    {GST_COEF_SAMPLING_420, "YCbCr-4:2:0", kYuv, 2, 2},
    {GST_COEF_SAMPLING_422, "YCbCr-4:2:2", kYuv, 2, 1},
    {GST_COEF_SAMPLING_444, "YCbCr-4:4:4", kYuv, 1, 1},
    {GST_COEF_SAMPLING_440, "YCbCr-4:4:0", kYuv, 1, 2},
    {GST_COEF_SAMPLING_411, "YCbCr-4:1:1", kYuv, 4, 1},
    {GST_COEF_SAMPLING_RGB, "RGB", kRgb, 1, 1},
    {GST_COEF_SAMPLING_CMYK, "CMYK-4:4:4", kCmyk, 1, 1},
    {GST_COEF_SAMPLING_YCCK_420, "YCCK-4:2:0", kYcck, 2, 2},
    {GST_COEF_SAMPLING_YCCK_422, "YCCK-4:2:2", kYcck, 2, 1},
    {GST_COEF_SAMPLING_YCCK_444, "YCCK-4:4:4", kYcck, 1, 1},
    {GST_COEF_SAMPLING_YCCK_440, "YCCK-4:4:0", kYcck, 1, 2},
    {GST_COEF_SAMPLING_YCCK_411, "YCCK-4:1:1", kYcck, 4, 1},
    {GST_COEF_SAMPLING_441, "YCbCr-4:4:1", kYuv, 1, 4},
    {GST_COEF_SAMPLING_YCCK_441, "YCCK-4:4:1", kYcck, 1, 4},
};

// A value with GST_COEF_SAMPLING_FACTORS: from bit 0 on four bits for each component, one less than
// its factors, and from this bit on the index of the colorspace.
constexpr guint kColorspaceShift = 4 * GST_DCT_MAX_COMPONENTS;

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

const Colorspace* find_colorspace(const char* name) {
  for (const Colorspace& colorspace : kColorspaces)
    if (g_strcmp0(colorspace.name, name) == 0) return &colorspace;
  return nullptr;
}

bool is_chroma(const Colorspace& colorspace, guint index) {
  return colorspace.has_chroma && (index == 1 || index == 2);
}

Factors factors_of(const SamplingRule& rule) {
  const Colorspace& colorspace = *rule.colorspace;
  Factors factors = {};
  for (guint c = 0; c < colorspace.components; c++) {
    factors.h[c] = static_cast<guint8>(is_chroma(colorspace, c) ? 1 : rule.h_max);
    factors.v[c] = static_cast<guint8>(is_chroma(colorspace, c) ? 1 : rule.v_max);
  }
  return factors;
}

bool same(const Factors& a, const Factors& b) {
  return std::equal(a.h, std::end(a.h), b.h) && std::equal(a.v, std::end(a.v), b.v);
}

void reduce(guint8 (&factors)[GST_DCT_MAX_COMPONENTS]) {
  const guint8 divisor =
      std::accumulate(factors, std::end(factors), guint8{0},
                      [](guint8 a, guint8 b) { return static_cast<guint8>(std::gcd(a, b)); });
  for (guint8& factor : factors) factor = static_cast<guint8>(factor / divisor);
}

char digit(guint8 factor) { return static_cast<char>('0' + factor); }

// Of factors from 1 to 4.
GstCoefSampling sampling_by(const Colorspace& colorspace, Factors factors) {
  reduce(factors.h);
  reduce(factors.v);
  for (const SamplingRule& rule : kSamplings)
    if (rule.colorspace == &colorspace && same(factors, factors_of(rule))) return rule.sampling;
  guint bits = GST_COEF_SAMPLING_FACTORS | static_cast<guint>(&colorspace - kColorspaces)
                                               << kColorspaceShift;
  for (guint c = 0; c < colorspace.components; c++)
    bits |= (factors.h[c] - 1u + 4u * (factors.v[c] - 1u)) << (4 * c);
  return static_cast<GstCoefSampling>(bits);
}

// False for a value that is no sampling.
bool find_parts(GstCoefSampling sampling, const Colorspace** colorspace, Factors* factors) {
  if (const SamplingRule* rule = find_sampling(sampling)) {
    *colorspace = rule->colorspace;
    *factors = factors_of(*rule);
    return true;
  }
  const auto bits = static_cast<guint>(sampling) ^ GST_COEF_SAMPLING_FACTORS;
  const guint index = bits >> kColorspaceShift;
  if (index >= G_N_ELEMENTS(kColorspaces)) return false;
  *colorspace = &kColorspaces[index];
  *factors = {};
  for (guint c = 0; c < (*colorspace)->components; c++) {
    factors->h[c] = static_cast<guint8>(1 + (bits >> (4 * c)) % 4);
    factors->v[c] = static_cast<guint8>(1 + (bits >> (4 * c + 2)) % 4);
  }
  return sampling_by(**colorspace, *factors) == sampling;
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
  const Colorspace* colorspace = nullptr;
  Factors factors;
  return find_parts(sampling, &colorspace, &factors) ? colorspace->components : 0;
}

GstCoefShape gst_coef_sampling_shape(GstCoefSampling sampling, guint index, gint width,
                                     gint height) {
  const Colorspace* colorspace = nullptr;
  Factors factors;
  GstCoefShape shape = {};
  g_return_val_if_fail(find_parts(sampling, &colorspace, &factors), shape);
  shape.id = static_cast<guint>(colorspace->ids[index]);
  shape.h_samp = factors.h[index];
  shape.v_samp = factors.v[index];
  const guint h_max = *std::max_element(factors.h, std::end(factors.h));
  const guint v_max = *std::max_element(factors.v, std::end(factors.v));
  shape.width = divide_up(guint64{shape.h_samp} * static_cast<guint>(width), h_max);
  shape.height = divide_up(guint64{shape.v_samp} * static_cast<guint>(height), v_max);
  return shape;
}

bool gst_coef_sampling_is_chroma(GstCoefSampling sampling, guint index) {
  const Colorspace* colorspace = nullptr;
  Factors factors;
  return find_parts(sampling, &colorspace, &factors) && is_chroma(*colorspace, index);
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

// Those with a name.
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
  if (const SamplingRule* rule = find_sampling(sampling)) return rule->name;
  const Colorspace* colorspace = nullptr;
  Factors factors;
  if (!find_parts(sampling, &colorspace, &factors)) return nullptr;
  std::string name = colorspace->prefix;
  for (guint c = 0; c < colorspace->components; c++)
    for (const char part : {c == 0 ? '-' : ',', digit(factors.h[c]), 'x', digit(factors.v[c])})
      name.push_back(part);
  return g_intern_string(name.c_str());
}

GstCoefSampling gst_coef_sampling_from_string(const gchar* string) {
  for (const SamplingRule& rule : kSamplings)
    if (g_strcmp0(rule.name, string) == 0) return rule.sampling;
  for (const Colorspace& colorspace : kColorspaces) {
    const gsize prefix = strlen(colorspace.prefix), n = colorspace.components;
    // A sign, two digits and an x for each component.
    if (string == nullptr || strncmp(string, colorspace.prefix, prefix) != 0 ||
        strlen(string) != prefix + 4 * n)
      continue;
    guint h[GST_DCT_MAX_COMPONENTS], v[GST_DCT_MAX_COMPONENTS];
    for (gsize c = 0; c < n; c++) {
      h[c] = static_cast<guint>(string[prefix + 4 * c + 1]) - '0';
      v[c] = static_cast<guint>(string[prefix + 4 * c + 3]) - '0';
    }
    const GstCoefSampling sampling =
        gst_coef_sampling_from_factors(colorspace.name, h, v, colorspace.components);
    // One sampling has one spelling.
    if (g_strcmp0(gst_coef_sampling_to_string(sampling), string) == 0) return sampling;
  }
  return GST_COEF_SAMPLING_UNKNOWN;
}

const gchar* gst_coef_sampling_get_colorspace(GstCoefSampling sampling) {
  const Colorspace* colorspace = nullptr;
  Factors factors;
  return find_parts(sampling, &colorspace, &factors) ? colorspace->name : nullptr;
}

GstCoefSampling gst_coef_sampling_from_factors(const gchar* colorspace, const guint* h_samp,
                                               const guint* v_samp, guint n_components) {
  g_return_val_if_fail(h_samp != nullptr && v_samp != nullptr, GST_COEF_SAMPLING_UNKNOWN);
  const Colorspace* const found = find_colorspace(colorspace);
  if (found == nullptr || found->components != n_components) return GST_COEF_SAMPLING_UNKNOWN;
  Factors factors = {};
  for (guint c = 0; c < n_components; c++) {
    if (h_samp[c] < 1 || h_samp[c] > 4 || v_samp[c] < 1 || v_samp[c] > 4)
      return GST_COEF_SAMPLING_UNKNOWN;
    factors.h[c] = static_cast<guint8>(h_samp[c]);
    factors.v[c] = static_cast<guint8>(v_samp[c]);
  }
  return sampling_by(*found, factors);
}

gboolean gst_coef_sampling_get_factors(GstCoefSampling sampling, guint component, guint* h_samp,
                                       guint* v_samp) {
  g_return_val_if_fail(h_samp != nullptr && v_samp != nullptr, FALSE);
  const Colorspace* colorspace = nullptr;
  Factors factors;
  *h_samp = *v_samp = 0;
  if (!find_parts(sampling, &colorspace, &factors) || component >= colorspace->components)
    return FALSE;
  *h_samp = factors.h[component];
  *v_samp = factors.v[component];
  return TRUE;
}
