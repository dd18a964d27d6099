// The colour spaces of JPEG pictures that we read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudatransform {

enum class JpegColor {
  kGray,   // 1 component; written with a JFIF header
  kYcbcr,  // 3 components; written with a JFIF header
  kRgb,    // 3 components; written with an Adobe marker that says so
  kCmyk,   // 4 components; likewise
  kYcck,   // 4 components, CMY as YCbCr; likewise
};

constexpr int components_of(JpegColor color) {
  if (color == JpegColor::kGray) return 1;
  return color == JpegColor::kCmyk || color == JpegColor::kYcck ? 4 : 3;
}
// Whether the second and third component are chroma, with tables of their own and perhaps fewer
// samples. The fourth is as the first.
constexpr bool has_chroma(JpegColor color) {
  return color == JpegColor::kYcbcr || color == JpegColor::kYcck;
}
constexpr bool is_chroma(JpegColor color, int component) {
  return has_chroma(color) && (component == 1 || component == 2);
}

}  // namespace cudatransform
