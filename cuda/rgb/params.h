// Parameters of the kernels of RGB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/common/divider.h"
#include "transform/rgb/arithmetic.h"
#include "transform/rgb/rgb.h"

namespace cudatransform::cuda {

inline constexpr unsigned kRgbThreads = 128;

// Fast kernels: columns of a thread, which has the rows of one row of chroma; threads of a CTA
// side by side.
inline constexpr int32_t kRgbColumns = 8;
inline constexpr unsigned kRgbLanesAcross = 32;

// The order of colors in memory, with red or blue first.
enum class RgbPlaces : int32_t {
  kTriples,
  kXLast,   // four bytes
  kXFirst,  // four bytes
  kPlanes,
  kAny,  // a kernel's: params have it
};

// CTAs that an SM has registers for: loads take time, and more warps hide it. With 12, the most
// that an Ampere or Ada GPU has room for, a thread has 40 registers, which is enough for three
// bytes a pixel without edges, but for planes, for 4:4:0, which has twice the chroma of 4:2:0, and
// for the compiler of Blackwell GPUs.
constexpr int rgb_inverse_ctas(RgbPlaces places, bool is_440) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
  constexpr int kMax = 1;
#elif __CUDA_ARCH__ < 1000
  constexpr int kMax = 12;
#else
  constexpr int kMax = 8;
#endif
  if (places != RgbPlaces::kTriples && places != RgbPlaces::kPlanes) return 1;
  return std::min(kMax, is_440 ? 8 : places == RgbPlaces::kPlanes ? 10 : 12);
}

struct RgbPlaneParams {
  uint8_t* data;
  int64_t pitch;
  int32_t width, height;
  int32_t x, y;  // subsampling
  RgbFilter filter;
};

// Factors of two bytes side by side, for dot products: 16 bits each.
using RgbPair = uint32_t;

// What chroma adds to the colors of luma, with 16 bits of fraction.
struct RgbInverseWeights {
  RgbPair first, third;  // halves of a factor, for a byte and the same again
  RgbPair green;         // for 255 less chroma of the first color, and of the third
  uint32_t first_sum, third_sum, green_sum;  // chroma's middle, and what rounds
};

// Luma of the first color in memory and green, and of the third; or 255 less chroma, whose own
// color has a factor of -32768: +32768 would not fit.
struct RgbForwardWeights {
  RgbPair two, third;
};

struct RgbParams {
  // Luma, or gray; chroma of the first color in memory, and of the third: Cr and Cb, or Cb and Cr.
  // For RgbColor::kRgb: green, and those colors themselves.
  RgbPlaneParams planes[kMaxComponents];
  uint8_t* rgb[3];  // in the order of the colors' places
  int64_t pitch[3];
  int32_t width, height;
  RgbColor color;
  RgbPlaces places;
  int32_t pixel_bytes, place[3], x_place;  // of colors in a pixel; x_place < 0: there is none

  bool red_first;

  // Fast kernels: whether a triangle filter makes chroma; up to which column and row of the picture
  // all planes are there in aligned words.
  bool blends;
  int32_t whole_width, whole_height;
  RgbInverseWeights inverse;
  RgbForwardWeights luma, first, third;

  // CTAs side by side, and altogether; fast kernels: columns and rows that threads cover.
  uint32_t across, count;
  int32_t columns, rows;
  Divider by_across;
  uint32_t component;  // general, forward: the one that is written
};

}  // namespace cudatransform::cuda
