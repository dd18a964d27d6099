// The GstCoefSampling of a raw format's samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>

#include <gst/coef/format.h>
#include "gst/stream/formats.h"

namespace cudatransform {

inline GstCoefSampling sampling_of(const RawFormat& format) {
  const Sampling& sampling = format.sampling;
  if (sampling.color == Color::kGray) return GST_COEF_SAMPLING_GRAYSCALE;
  if (sampling.color == Color::kRgb) return GST_COEF_SAMPLING_RGB;
  if (sampling.chroma_v == 2) return GST_COEF_SAMPLING_420;
  if (sampling.chroma_v == 4) {
    constexpr guint kFactors[] = {4, 1, 1};
    return gst_coef_sampling_from_factors("sYUV", kFactors, kFactors, 3);
  }
  return sampling.chroma_h == 1   ? GST_COEF_SAMPLING_444
         : sampling.chroma_h == 2 ? GST_COEF_SAMPLING_422
                                  : GST_COEF_SAMPLING_411;
}

// The colorspaces that caps of coefficients name.
inline constexpr const char* kColorspaces[] = {"sYUV", "sRGB", "GRAY", "CMYK", "YCCK", "2CLR"};

// Whether the components are those of a colorspace of caps.
inline bool is_of(GstCoefSampling sampling, const char* colorspace) {
  return g_strcmp0(gst_coef_sampling_get_colorspace(sampling), colorspace) == 0;
}

// Whether the second and the third component are chroma, with separate quantization tables.
inline bool has_chroma(GstCoefSampling sampling) {
  return is_of(sampling, "sYUV") || is_of(sampling, "YCCK");
}

// The largest sampling factors of all components.
struct MaxFactors {
  guint h = 1, v = 1;
};
inline MaxFactors max_factors(GstCoefSampling sampling) {
  MaxFactors max;
  guint h = 0, v = 0;
  for (guint c = 0; gst_coef_sampling_get_factors(sampling, c, &h, &v); c++)
    max = {std::max(max.h, h), std::max(max.v, v)};
  return max;
}
// Whether the picture has a whole number of samples for each sample of each component.
inline bool has_whole_ratios(GstCoefSampling sampling) {
  const MaxFactors max = max_factors(sampling);
  guint h = 0, v = 0;
  for (guint c = 0; gst_coef_sampling_get_factors(sampling, c, &h, &v); c++)
    if (max.h % h != 0 || max.v % v != 0) return false;
  return true;
}

// The rows that share chroma in samplings for which GStreamer has no format; 1 in all others.
inline int rows_of_chroma(GstCoefSampling sampling) {
  return sampling == GST_COEF_SAMPLING_440 ? 2 : sampling == GST_COEF_SAMPLING_441 ? 4 : 1;
}
inline constexpr GstCoefSampling kTallSamplings[] = {GST_COEF_SAMPLING_440, GST_COEF_SAMPLING_441};
// Whether frames of these may be written as `format`: those of 8 bits.
inline bool holds_tall(const RawFormat& format) {
  return sampling_of(format) == GST_COEF_SAMPLING_444 && format.depth == 8;
}

// Whether frames of `depth` bits may be written as `format`. GStreamer has no format for gray of 12
// bits, which files may have: GRAY16_LE holds it in the upper bits of its words.
inline bool holds_depth(const RawFormat& format, guint depth) {
  return format.depth == depth || (format.format == GST_VIDEO_FORMAT_GRAY16_LE && depth == 12);
}
// The bits below such samples, in addition to the format's own.
inline int bits_below(GstVideoFormat format, guint depth) {
  return format == GST_VIDEO_FORMAT_GRAY16_LE ? 16 - static_cast<int>(depth) : 0;
}

}  // namespace cudatransform
