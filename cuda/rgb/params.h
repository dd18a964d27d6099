// Parameters of the kernels of RGB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/divider.h"
#include "transform/rgb/arithmetic.h"
#include "transform/rgb/rgb.h"

namespace cudatransform::cuda {

inline constexpr unsigned kRgbThreads = 128;

// Pixels of a thread of the fast kernels.
inline constexpr int32_t kRgbColumns = 8, kRgbThreadRows = 2;

// How colours lie in memory, whichever of red and blue is the first.
enum class RgbPlaces : int32_t {
  kTriples,
  kXLast,   // four bytes
  kXFirst,  // four bytes
  kPlanes,
};

struct RgbPlaneParams {
  uint8_t* data;
  int64_t pitch;
  int32_t width, height;
  int32_t x, y;  // subsampling
  RgbFilter filter;
};

struct RgbParams {
  // Luma, or grey; chroma of the first colour in memory, and of the third: Cr and Cb, or Cb and Cr.
  // For RgbColor::kRgb: green, and those colours themselves.
  RgbPlaneParams planes[kMaxComponents];
  uint8_t* rgb[3];  // in the order of the colours' places
  int64_t pitch[3];
  int32_t width, height;
  RgbColor color;
  RgbPlaces places;
  int32_t pixel_bytes, place[3], x_place;  // of colours in a pixel; x_place < 0: there is none

  // Factors of chroma. Inverse: of the first colour, of the third, of green for either. Forward: of
  // luma for the first and third; of green and of the other colour for either chroma.
  int32_t first, third, green_first, green_third;
  int32_t luma_first, luma_third;
  int32_t first_of_green, first_of_third, third_of_green, third_of_first;

  // Fast kernels: whether words may be read and written where they are whole.
  bool aligned_rgb, aligned_planes;
  // Threads (general kernels: CTAs) in a row, and altogether.
  uint32_t across, count;
  Divider by_across;
  uint32_t component;  // general, forward: the one that is written
};

}  // namespace cudatransform::cuda
