// The memory that the kernels of coefficient filters read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cuda/coeffilter/kernels.h"
#include "cuda/coeffilter/params.h"
#include "cuda/common/accesses.h"
#include "transform/coeffilter/numbers.h"

namespace cudatransform::cuda {

// `bytes` are those of a coefficient.
inline void add_blocks(const uint8_t* data, const CoefSteps& steps, int64_t bytes, int64_t across,
                       int64_t down, bool is_written, AccessList* list) {
  const int64_t eight = 8 * bytes;
  if (steps.across == 8 * eight)
    list->add(data, steps.down, across * 8 * eight, down, is_written);
  else if (steps.across == eight)
    list->add(data, steps.lane, across * eight, 8 * down, is_written);
  else  // bands
    list->add(data, steps.down, across * bytes, 64 * down, is_written);
}

// The first source block of a row or column of blocks, and how many there are to the last one.
// Blocks of partial MCUs stay where they are, so sources are not in order.
inline std::pair<int32_t, int32_t> flip_sources(int32_t blocks, int32_t first, bool mirrors,
                                                int32_t mirrored) {
  int32_t begin = INT32_MAX, last = 0;
  for (int32_t i = 0; i < blocks; ++i) {
    const int32_t at = flip_source(i, first, mirrors, mirrored).at;
    begin = std::min(begin, at);
    last = std::max(last, at);
  }
  return {begin, last - begin + 1};
}

inline void flip_accesses(const FlipParams& params, int64_t bytes, FlipWay way, AccessList* list) {
  const bool transposes = way != FlipWay::kStraight && way != FlipWay::kPlane;
  for (const FlipPlaneParams& plane : params.planes) {
    if (plane.first_cta == UINT32_MAX) continue;
    const FlipPlace& place = plane.place;
    auto [x, across] = flip_sources(plane.blocks_w, place.left, params.mirrors_x, place.mirrored_w);
    auto [y, down] = flip_sources(plane.blocks_h, place.top, params.mirrors_y, place.mirrored_h);
    if (transposes) {
      std::swap(x, y);
      std::swap(across, down);
    }
    add_blocks(plane.from + y * plane.from_steps.down + int64_t{x} * plane.from_steps.across,
               plane.from_steps, bytes, across, down, false, list);
    add_blocks(plane.to, plane.to_steps, bytes, plane.blocks_w, plane.blocks_h, true, list);
  }
}

inline void quant_accesses(const RequantParams& params, int64_t bytes, AccessList* list) {
  for (const RequantPlaneParams& plane : params.planes) {
    if (plane.first_cta == UINT32_MAX) continue;
    const int64_t down = plane.blocks / plane.blocks_w;
    add_blocks(plane.from, plane.from_steps, bytes, plane.blocks_w, down, false, list);
    add_blocks(plane.to, plane.to_steps, bytes, plane.blocks_w, down, true, list);
  }
  if (params.measure != 0) list->add_numbers(params.sums, sizeof(PictureSums), false);
}

inline void convert_accesses(const ConvertParams& params, int64_t from_bytes, int64_t to_bytes,
                             AccessList* list) {
  for (int32_t c = 0; c < params.components; ++c) {
    const ConvertPlane& plane = params.planes[c];
    add_blocks(plane.from, plane.from_steps, from_bytes, plane.blocks_w, plane.blocks_h, false,
               list);
    add_blocks(plane.to, plane.to_steps, to_bytes, plane.blocks_w, plane.blocks_h, true, list);
  }
}

#define CT_FLIP(name, word, way) \
  CT_ACCESSES(name, FlipParams, flip_accesses, sizeof(word), FlipWay::way)
#define CT_QUANT(name, qcoef, measures) \
  CT_ACCESSES(name, RequantParams, quant_accesses, sizeof(qcoef))
#define CT_CONVERT(name, From, To) \
  CT_ACCESSES(name, ConvertParams, convert_accesses, sizeof(From::Stored), sizeof(To::Stored))

inline constexpr KernelAccesses kCoefFilterAccesses[] = {CT_FLIP_KERNELS(CT_FLIP)    //
                                                         CT_QUANT_KERNELS(CT_QUANT)  //
                                                         CT_CONVERT_KERNELS(CT_CONVERT)};

#undef CT_FLIP
#undef CT_QUANT
#undef CT_CONVERT

}  // namespace cudatransform::cuda
