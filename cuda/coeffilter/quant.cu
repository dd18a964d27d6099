// Quantized coefficients times their old divisors, divided by the new ones, and what that changed.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: Requantizer of transform/coeffilter/quant.cpp.
#include <type_traits>

#include "cuda/coeffilter/coeffilter.cuh"
#include "cuda/coeffilter/kernels.h"
#include "cuda/common/ptx.cuh"

namespace cudatransform::cuda {
namespace {

// A CTA's component: in shared memory, an entry's four words that every quantized coefficient needs
// are next to those of the next lane.
struct Entries {
  uint4 of[8][kCoefLanes];
  uint32_t after[8][kCoefLanes];

  // Called by all threads; `at` is below 64.
  __device__ __forceinline__ void put(unsigned at, const RequantEntry& entry) {
    if (threadIdx.x < 64) {
      of[at % 8][at / 8] = {entry.before, entry.half, entry.multiplier, entry.shift};
      after[at % 8][at / 8] = entry.after;
    }
    __syncthreads();
  }
  __device__ __forceinline__ RequantEntry at(unsigned i, unsigned lane) const {
    const uint4 words = of[i][lane];
    return {words.x, words.y, after[i][lane], words.z, words.w};
  }
};

__device__ __forceinline__ int16_t requantized(int16_t qcoef, const RequantEntry& by,
                                               uint64_t& sse) {
  int32_t error;
  const int32_t made = requantized16(qcoef, by, &error);
  sse += static_cast<uint64_t>(int64_t{error} * error);
  return static_cast<int16_t>(made);
}
__device__ __forceinline__ int32_t requantized(int32_t qcoef, const RequantEntry& by,
                                               uint64_t& sse) {
  int64_t error;
  const int32_t made = requantized32(qcoef, by, &error);
  sse += static_cast<uint64_t>(error) * static_cast<uint64_t>(error);
  return made;
}

// Quantized coefficients alone: two of 16 bits are saturated together.
__device__ __forceinline__ int32_t signed_quotient(int16_t qcoef, const RequantEntry& by) {
  const int32_t size = static_cast<int32_t>(requantized_size(uint32_t(abs(qcoef)), by));
  return qcoef < 0 ? -size : size;
}
__device__ __forceinline__ void requantize_eight(Eight<int16_t>& row, const RequantEntry (&by)[8]) {
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    const uint32_t two = pack_clamped_s16(signed_quotient(row.at[i + 1], by[i + 1]),
                                          signed_quotient(row.at[i], by[i]));
    std::memcpy(&row.at[i], &two, sizeof two);
  }
}

__device__ __forceinline__ void add_sum(bool wanted, uint64_t mine, uint64_t* sum) {
  if (!wanted) return;
  const uint64_t all = sum_of_warp(mine);
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), all);
}

template <typename Qcoef, bool kMeasures>
__device__ __forceinline__ void requantize(const RequantParams& params, Entries& entries) {
  const int c = plane_of_cta(params.planes);
  const RequantPlaneParams& plane = params.planes[c];
  // Loaded while the preceding kernel ends, and stored while quantized coefficients arrive.
  const unsigned own = threadIdx.x % 64;
  const uint32_t before = as_memory(plane.before)[own], after = as_memory(plane.after)[own],
                 multiplier = as_memory(plane.multiplier)[own];
  constexpr unsigned kGroups = kCoefThreads / kCoefLanes;
  // In planes a warp has two rows of 16 blocks, not eight of four.
  const unsigned thread =
      params.are_planes ? threadIdx.x % kGroups * kCoefLanes + threadIdx.x / kGroups : threadIdx.x;
  const unsigned group = thread / kCoefLanes, lane = thread % kCoefLanes;
  wait_for_predecessor();
  let_successor_launch();
  uint64_t sse = 0;
  uint32_t zeros = 0;
  const uint32_t first = (blockIdx.x - plane.first_cta) * kGroups * kRequantBlocks + group;
  Eight<Qcoef> rows[kRequantBlocks];
  uint32_t x[kRequantBlocks], y[kRequantBlocks];
#pragma unroll
  for (int k = 0; k < kRequantBlocks; ++k) {
    const uint32_t block = first + static_cast<uint32_t>(k) * kGroups;
    y[k] = divide(block, plane.by_width);
    x[k] = block - y[k] * plane.blocks_w;
    if (block < plane.blocks)
      rows[k] = load_eight<Qcoef>(place_of(plane.from, plane.from_steps, static_cast<int32_t>(x[k]),
                                           static_cast<int32_t>(y[k]), lane));
  }
  const uint32_t shift = 32u - static_cast<uint32_t>(__clz(static_cast<int>(after - 1)));
  entries.put(own, {2 * before, after & ~1u, after, multiplier, shift});
  RequantEntry mine[8];
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) mine[i] = entries.at(i, lane);
#pragma unroll
  for (int k = 0; k < kRequantBlocks; ++k) {
    if (first + static_cast<uint32_t>(k) * kGroups >= plane.blocks) continue;
    if constexpr (std::is_same_v<Qcoef, int16_t> && !kMeasures) {
      requantize_eight(rows[k], mine);
    } else {
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) {
        rows[k].at[i] = requantized(rows[k].at[i], mine[i], sse);
        zeros += rows[k].at[i] == 0;
      }
    }
    store_eight(place_of(plane.to, plane.to_steps, static_cast<int32_t>(x[k]),
                         static_cast<int32_t>(y[k]), lane),
                rows[k]);
  }
  if constexpr (!kMeasures) return;
  if (c >= kMaxComponents) return;
  add_sum(params.measure & kMeasureSse, sse, &params.sums->sse[c]);
  add_sum(params.measure & kMeasureZeros, zeros, &params.sums->zeros[c]);
}

}  // namespace

#define CT_DEFINE_REQUANT(name, qcoef, measures)             \
  extern "C" __global__ void __launch_bounds__(kCoefThreads) \
      name(const __grid_constant__ RequantParams params) {   \
    __shared__ Entries entries;                              \
    requantize<qcoef, measures>(params, entries);            \
  }
CT_QUANT_KERNELS(CT_DEFINE_REQUANT)
#undef CT_DEFINE_REQUANT

}  // namespace cudatransform::cuda
