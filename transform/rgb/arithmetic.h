// The arithmetic of RGB and JPEG's components, for both engines: libjpeg-turbo's integers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// JFIF, ITU-T T.871, clause 7, with 16 bits of fraction. In filters `near` is the sample that
// contains a position, and `other` the next one on the position's side; at an edge that is `near`.
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"
#include "transform/rgb/rgb.h"

namespace cudatransform {

// ---- Memory ----

// Bytes of a pixel, and where among them R, G and B are; `x` is negative where there is none.
struct RgbLayout {
  int pixel_bytes;
  int r, g, b, x;
};

CT_HD constexpr RgbLayout rgb_layout(RgbPacking packing) {
  switch (packing) {
    case RgbPacking::kRgb:
      return {3, 0, 1, 2, -1};
    case RgbPacking::kBgr:
      return {3, 2, 1, 0, -1};
    case RgbPacking::kRgbx:
      return {4, 0, 1, 2, 3};
    case RgbPacking::kBgrx:
      return {4, 2, 1, 0, 3};
    case RgbPacking::kXrgb:
      return {4, 1, 2, 3, 0};
    case RgbPacking::kXbgr:
      return {4, 3, 2, 1, 0};
    case RgbPacking::kPlanar:
      break;
  }
  return {1, 0, 0, 0, -1};  // in planes of their own
}

// ---- Color ----

inline constexpr int kRgbFraction = 16;
inline constexpr int32_t kRgbHalf = 1 << (kRgbFraction - 1);
inline constexpr int32_t kRgbMiddle = 128;  // of chroma

// 1.402, 1.772, .34414, .71414.
inline constexpr int32_t kRedOfCr = 91881, kBlueOfCb = 116130;
inline constexpr int32_t kGreenOfCb = 22554, kGreenOfCr = 46802;
// .299, .587, .114; .16874, .33126; .41869, .08131. The rest of chroma is a half.
inline constexpr int32_t kLumaOfRed = 19595, kLumaOfGreen = 38470, kLumaOfBlue = 7471;
inline constexpr int32_t kCbOfRed = 11059, kCbOfGreen = 21709;
inline constexpr int32_t kCrOfGreen = 27439, kCrOfBlue = 5329;
// One less than a half, so that the largest chroma is 255.
inline constexpr int32_t kChromaBias = (kRgbMiddle << kRgbFraction) + kRgbHalf - 1;

struct RgbPixel {
  int32_t r, g, b;
};
struct YccPixel {
  int32_t y, cb, cr;
};

CT_HD int32_t clamp_byte(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

CT_HD RgbPixel rgb_of(const YccPixel& from) {
  const int32_t cb = from.cb - kRgbMiddle, cr = from.cr - kRgbMiddle;
  return {clamp_byte(from.y + ((kRedOfCr * cr + kRgbHalf) >> kRgbFraction)),
          clamp_byte(from.y + ((kRgbHalf - kGreenOfCb * cb - kGreenOfCr * cr) >> kRgbFraction)),
          clamp_byte(from.y + ((kBlueOfCb * cb + kRgbHalf) >> kRgbFraction))};
}

CT_HD int32_t luma_of(const RgbPixel& from) {
  return (kLumaOfRed * from.r + kLumaOfGreen * from.g + kLumaOfBlue * from.b + kRgbHalf) >>
         kRgbFraction;
}
CT_HD YccPixel ycc_of(const RgbPixel& from) {
  return {
      luma_of(from),
      (kRgbHalf * from.b - kCbOfRed * from.r - kCbOfGreen * from.g + kChromaBias) >> kRgbFraction,
      (kRgbHalf * from.r - kCrOfGreen * from.g - kCrOfBlue * from.b + kChromaBias) >> kRgbFraction};
}

// ---- Upsampling ----

enum class RgbFilter {
  kNearest,
  kColumns,  // triangles of two columns (4:2:2)
  kRows,     // of two rows (4:4:0)
  kBoth,     // of both (4:2:0)
};

// `width`: of the component.
CT_HD RgbFilter rgb_filter(ChromaUpsampling upsampling, const RgbSubsampling& by, int32_t width) {
  if (upsampling == ChromaUpsampling::kNearest || by.y > 2) return RgbFilter::kNearest;
  if (by.x == 1) return by.y == 2 ? RgbFilter::kRows : RgbFilter::kNearest;
  if (by.x > 2 || width <= 2) return RgbFilter::kNearest;
  return by.y == 2 ? RgbFilter::kBoth : RgbFilter::kColumns;
}

// Three quarters of the near sample; between two positions of one sample halves are rounded down
// and up alternately.
CT_HD int32_t blend_two(int32_t near, int32_t other, int32_t position) {
  return (3 * near + other + 1 + (position & 1)) >> 2;
}
// The same of sums of two rows, which have 2 bits more.
CT_HD int32_t blend_rows(int32_t near, int32_t other) { return 3 * near + other; }
CT_HD int32_t blend_sums(int32_t near, int32_t other, int32_t column) {
  return (3 * near + other + 8 - (column & 1)) >> 4;
}

// ---- Downsampling ----

// The mean of x * y samples with that sum, at a column of the component. Halves are rounded down
// and up alternately where libjpeg has separate code.
CT_HD int32_t rgb_mean(int32_t sum, int x, int y, int32_t column) {
  if (x == 2 && y == 1) return (sum + (column & 1)) >> 1;
  if (x == 2 && y == 2) return (sum + 1 + (column & 1)) >> 2;
  const int32_t count = x * y;
  return (sum + count / 2) / count;
}

}  // namespace cudatransform
