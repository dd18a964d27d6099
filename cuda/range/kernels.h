// Every kernel of range conversions, by the name that a profiler prints and a launch requests: its
// parameters, and the memory that it reads and writes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   all planes of a frame in a launch, 16 bytes of a row a thread (expand.cu)
//
// Its twin on the CPU, its test, its benchmark and its page:
//
//   range_bytes, range_words
//     twin   convert_strip() in transform/range/engine.cpp, transform/range/vectors.cpp
//     test   tests/engine/range/range_test.cpp
//     bench  tests/engine/kernel_jobs.cpp: case:range
//     page   docs/kernels.md, 19
#pragma once

#include <cstdint>

#include "cuda/common/accesses.h"
#include "cuda/common/divider.h"
#include "transform/picture.h"
#include "transform/range/arithmetic.h"

#define CT_RANGE_KERNELS(X) \
  X(range_bytes)            \
  X(range_words)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_RANGE_IMAGES(IMAGE) IMAGE(range_expand, CT_RANGE_KERNELS)

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

inline void range_accesses(const RangeParams& params, AccessList* list) {
  for (const RangePlaneParams& plane : params.planes) {
    if (plane.first_cta == UINT32_MAX) continue;
    list->add(plane.from, plane.from_pitch, plane.row_bytes, plane.rows, false);
    list->add(plane.to, plane.to_pitch, plane.row_bytes, plane.rows, true);
  }
}

#define CT_RANGE(name) CT_ACCESSES(name, RangeParams, range_accesses)
inline constexpr KernelAccesses kRangeAccesses[] = {CT_RANGE_KERNELS(CT_RANGE)};
#undef CT_RANGE

}  // namespace cudatransform::cuda
