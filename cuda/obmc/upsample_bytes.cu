// The half-sample positions of a reference of bytes, in registers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 15.8.11. A lane has four columns, a word, of a few rows. All
// that the vertical filter needs of those around them is loaded together, into registers; its
// neighbors' columns come by shuffles. Filters work on two lanes of 16 bits in a word. Taps sum to
// 32 with a positive part of 24 x 2 x 255 and a negative one of 8 x 2 x 255: from kMore on no lane
// ever borrows from the other.
#include "cuda/common/ptx.cuh"
#include "cuda/obmc/kernels.h"
#include "cuda/obmc/place.cuh"

namespace cudatransform::cuda {
namespace {

constexpr int32_t kMore = 4096;  // a multiple of 32, and more than 8 x 2 x 255
constexpr uint32_t kLanes = 0x00ff00ffu;

// A half position of each lane: `inner` is the sum of the two samples next to it, and so on
// outwards. The result is in bytes.
__device__ __forceinline__ uint32_t half_samples(uint32_t inner, uint32_t second, uint32_t third,
                                                 uint32_t outer) {
  static_assert(kObmcFilterTaps[0] == 21 && kObmcFilterTaps[1] == -7 && kObmcFilterTaps[2] == 3 &&
                kObmcFilterTaps[3] == -1);
  const uint32_t sum =
      21 * inner + 3 * third + in_halves(kObmcFilterRounding + kMore) - 7 * second - outer;
  const uint32_t shifted = sum >> kObmcFilterShift & in_halves(0xffff >> kObmcFilterShift);
  return __viaddmin_s16x2_relu(shifted, in_halves(-(kMore >> kObmcFilterShift)), in_halves(255));
}

struct Lane {
  const UpsampleComponentParams& component;
  const int32_t x;  // of its first column; may be outside of the picture
  const bool inside;

  // Four columns of a row, its first or last sample where there are none.
  __device__ __forceinline__ uint32_t load(int32_t y) const {
    const uint8_t* row =
        component.planes[0].data +
        static_cast<int64_t>(max(min(y, component.height - 1), 0)) * component.planes[0].pitch;
    if (inside) return __ldg(reinterpret_cast<const uint32_t*>(row + x));
    uint32_t word = 0;
#pragma unroll 1
    for (int32_t k = 3; k >= 0; --k)
      word = word << 8 | row[max(min(x + k, component.width - 1), 0)];
    return word;
  }
  __device__ __forceinline__ void store(int plane, int32_t y, uint32_t word) const {
    const ObmcPlaneParams& to = component.planes[plane];
    uint8_t* at = to.data + y * to.pitch + x;
    if (inside) {
      *reinterpret_cast<uint32_t*>(at) = word;
      return;
    }
#pragma unroll 1
    for (int32_t k = 0; k < component.width - x; ++k, word >>= 8)
      at[k] = static_cast<uint8_t>(word);
  }
};

// The half positions right of four columns; `left` and `right` are those of the adjacent lanes.
__device__ __forceinline__ uint32_t half_columns(uint32_t word, uint32_t left, uint32_t right) {
  const uint32_t before = __funnelshift_r(left, word, 16),
                 behind = __funnelshift_r(word, right, 16);
  // at[i]: columns i - 3 and i - 1.
  const uint32_t at[9] = {left >> 8 & kLanes,   before & kLanes,    before >> 8 & kLanes,
                          word & kLanes,        word >> 8 & kLanes, behind & kLanes,
                          behind >> 8 & kLanes, right & kLanes,     right >> 8 & kLanes};
  const uint32_t even = half_samples(at[3] + at[4], at[2] + at[5], at[1] + at[6], at[0] + at[7]);
  const uint32_t odd = half_samples(at[4] + at[5], at[3] + at[6], at[2] + at[7], at[1] + at[8]);
  return even | odd << 8;
}

// The half positions below four columns, from the eight rows around.
__device__ __forceinline__ uint32_t half_rows(const uint32_t* rows) {
  const auto pair = [&](int k, int shift) {
    return (rows[3 - k] >> shift & kLanes) + (rows[4 + k] >> shift & kLanes);
  };
  const uint32_t even = half_samples(pair(0, 0), pair(1, 0), pair(2, 0), pair(3, 0));
  const uint32_t odd = half_samples(pair(0, 8), pair(1, 8), pair(2, 8), pair(3, 8));
  return even | odd << 8;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kUpsampleThreads)
    obmc_upsample_bytes(const __grid_constant__ UpsampleParams params) {
  int number;
  const UpsampleComponentParams& component = component_of_cta(params, blockIdx.x, &number);
  const uint32_t warp =
      (blockIdx.x - component.first_cta) * (kUpsampleThreads / 32) + threadIdx.x / 32;
  const auto own = static_cast<int32_t>(threadIdx.x % 32) - 1;
  const int32_t x =
      static_cast<int32_t>(warp % component.tiles_across) * kUpsampleTileColumns + 4 * own;
  const int32_t begin = static_cast<int32_t>(warp / component.tiles_across) * kUpsampleRun;
  const Lane lane = {component, x, x >= 0 && x + 4 <= component.width};
  const bool writes = own >= 0 && own < kUpsampleOwnLanes && x < component.width;
  // The last column, seen from this lane's first; it has nothing on its right.
  const uint32_t last = component.width - 1 - x;
  const uint32_t ends = last < 4 ? 0xffu << (8 * last) : 0;
  uint32_t rows[kUpsampleRun + 7];
#pragma unroll
  for (int k = 0; k < kUpsampleRun + 7; ++k) rows[k] = lane.load(begin + k - 3);
#pragma unroll
  for (int32_t r = 0; r < kUpsampleRun; ++r) {
    const int32_t y = begin + r;
    if (y >= component.height) return;
    const uint32_t word = rows[r + 3];
    const uint32_t below = y + 1 == component.height ? word : half_rows(rows + r);
    const auto beside = [&](uint32_t of) {
      const uint32_t left = __shfl_up_sync(kAllLanes, of, 1);
      const uint32_t right = __shfl_down_sync(kAllLanes, of, 1);
      return half_columns(of, left, right) & ~ends | of & ends;
    };
    const uint32_t right = beside(word), right_below = beside(below);
    if (!writes) continue;
    lane.store(1, y, right);
    lane.store(2, y, below);
    lane.store(3, y, right_below);
  }
}

}  // namespace cudatransform::cuda
