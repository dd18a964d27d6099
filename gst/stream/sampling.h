// The GstCoefSampling of a raw format's samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/format.h>
#include "gst/stream/formats.h"

namespace cudatransform {

inline GstCoefSampling sampling_of(const RawFormat& format) {
  const Sampling& sampling = format.sampling;
  if (sampling.color == Color::kGray) return GST_COEF_SAMPLING_GRAYSCALE;
  if (sampling.color == Color::kRgb) return GST_COEF_SAMPLING_RGB;
  if (sampling.chroma_v == 2) return GST_COEF_SAMPLING_420;
  return sampling.chroma_h == 1   ? GST_COEF_SAMPLING_444
         : sampling.chroma_h == 2 ? GST_COEF_SAMPLING_422
                                  : GST_COEF_SAMPLING_411;
}

// Whether frames of YCbCr-4:4:0, for which GStreamer has no format, may be written as `format`.
// Only files of 8 bits have such frames.
inline bool holds_440(const RawFormat& format) {
  return sampling_of(format) == GST_COEF_SAMPLING_444 && format.depth == 8;
}

}  // namespace cudatransform
