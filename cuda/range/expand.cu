// Limited range to full range: 16 bytes of a row a thread, all planes of a frame in a launch.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A product and a shift a sample; the instruction that packs bytes clamps them, too. Rows are read
// once and written once, so that memory is the limit.
#include "cuda/common/ptx.cuh"
#include "cuda/range/kernels.h"

namespace cudatransform::cuda {
namespace {

__device__ __forceinline__ uint32_t expanded_bytes(const RangePlaneParams& plane, uint32_t word) {
  int to[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const auto sample = static_cast<int32_t>(word >> (8 * i) & 255);
    to[i] = (sample * plane.factor + plane.offset) >> plane.fraction;
  }
  return pack_four_clamped(to[0], to[1], to[2], to[3]);
}

__device__ __forceinline__ uint32_t expanded_word(const RangePlaneParams& plane, int32_t shift,
                                                  uint32_t word) {
  const int32_t sample = min(static_cast<int32_t>(word >> shift), plane.by.peak);
  return static_cast<uint32_t>(to_full_range(sample, plane.by)) << shift;
}

// Calls `four` for each word of 16 bytes, `one` for each unit of a row's end or of rows that are
// not aligned.
template <typename Unit, typename Four, typename One>
__device__ __forceinline__ void expand(const RangeParams& params, const Four& four,
                                       const One& one) {
  const RangePlaneParams& plane = params.planes[plane_of_cta(params.planes)];
  const uint32_t cta = blockIdx.x - plane.first_cta;
  const uint32_t y = divide(cta, plane.by_across);
  const auto x =
      static_cast<int32_t>((cta - y * plane.across) * kRangeThreads + threadIdx.x) * kRangeBytes;
  wait_for_predecessor();
  let_successor_launch();
  if (x >= plane.row_bytes) return;
  const uint8_t* from = plane.from + y * plane.from_pitch + x;
  uint8_t* to = plane.to + y * plane.to_pitch + x;
  if (plane.is_aligned && x + kRangeBytes <= plane.row_bytes) {
    const uint4 words = __ldg(reinterpret_cast<const uint4*>(from));
    *reinterpret_cast<uint4*>(to) = make_uint4(four(plane, words.x), four(plane, words.y),
                                               four(plane, words.z), four(plane, words.w));
    return;
  }
  const int32_t count = min(plane.row_bytes - x, kRangeBytes) / static_cast<int32_t>(sizeof(Unit));
#pragma unroll 1
  for (int32_t i = 0; i < count; ++i)
    reinterpret_cast<Unit*>(to)[i] =
        static_cast<Unit>(one(plane, reinterpret_cast<const Unit*>(from)[i]));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kRangeThreads)
    range_bytes(const __grid_constant__ RangeParams params) {
  const auto bytes = [](const RangePlaneParams& plane, uint32_t word) {
    return expanded_bytes(plane, word);
  };
  expand<uint8_t>(params, bytes, bytes);
}

extern "C" __global__ void __launch_bounds__(kRangeThreads)
    range_words(const __grid_constant__ RangeParams params) {
  const int32_t shift = params.shift;
  const auto one = [shift](const RangePlaneParams& plane, uint32_t word) {
    return expanded_word(plane, shift, word);
  };
  const auto two = [&](const RangePlaneParams& plane, uint32_t words) {
    return one(plane, words & 0xffff) | one(plane, words >> 16) << 16;
  };
  expand<uint16_t>(params, two, one);
}

}  // namespace cudatransform::cuda
