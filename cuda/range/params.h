// Parameters of the kernels of range conversions.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/divider.h"
#include "transform/picture.h"
#include "transform/range/arithmetic.h"

namespace cudatransform::cuda {

inline constexpr unsigned kRangeThreads = 128;
inline constexpr int32_t kRangeBytes = 16;  // of a row, that a thread has

struct RangePlaneParams {
  const uint8_t* from;
  uint8_t* to;
  int64_t from_pitch, to_pitch;
  int32_t row_bytes, rows;
  int32_t offset, factor, fraction;  // of bytes
  bool is_aligned;                   // whether the rows of both begin at multiples of 16 bytes
  RangeScale by;                     // of words
  // CTAs of a row, and the plane's first one in the grid.
  uint32_t across, first_cta;
  Divider by_across;
};

struct RangeParams {
  RangePlaneParams planes[kMaxComponents];
  int32_t shift;  // of words
};

}  // namespace cudatransform::cuda
