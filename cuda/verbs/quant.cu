// Levels times their old divisors, divided by the new ones, and what that changed.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: Requantiser of transform/verbs/quant.cpp.
#include "cuda/common/ptx.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/verbs/kernels.h"
#include "cuda/verbs/verbs.cuh"

namespace cudatransform::cuda {
namespace {

// A CTA's component: in shared memory, where lanes read in vectors. Parameters come one address at
// a time.
struct Entries {
  alignas(16) uint32_t before[64], after[64], multiplier[64];
};

__device__ __forceinline__ void fill(const RequantPlaneParams& plane, Entries& entries) {
  const unsigned i = threadIdx.x;
  if (i < 64) {
    entries.before[i] = plane.before[i];
    entries.after[i] = plane.after[i];
    entries.multiplier[i] = plane.multiplier[i];
  }
  __syncthreads();
}

__device__ __forceinline__ RequantEntry entry_at(const Entries& entries, unsigned at) {
  const uint32_t after = entries.after[at];
  return {2 * entries.before[at], after & ~1u, after, entries.multiplier[at],
          32u - static_cast<uint32_t>(__clz(static_cast<int>(after - 1)))};
}

__device__ __forceinline__ int16_t requantised(int16_t level, const RequantEntry& by,
                                               uint64_t& sse) {
  int32_t error;
  const int32_t made = requantised16(level, by, &error);
  sse += static_cast<uint64_t>(int64_t{error} * error);
  return static_cast<int16_t>(made);
}
__device__ __forceinline__ int32_t requantised(int32_t level, const RequantEntry& by,
                                               uint64_t& sse) {
  int64_t error;
  const int32_t made = requantised32(level, by, &error);
  sse += static_cast<uint64_t>(error) * static_cast<uint64_t>(error);
  return made;
}

__device__ __forceinline__ void add_sum(bool wanted, uint64_t mine, uint64_t* sum) {
  if (!wanted) return;
  const uint64_t all = sum_of_warp(mine);
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), all);
}

template <typename Level, bool kMeasures>
__device__ __forceinline__ void requantise(const RequantParams& params, Entries& entries) {
  const int c = plane_of_cta(params.planes);
  const RequantPlaneParams& plane = params.planes[c];
  fill(plane, entries);
  wait_for_predecessor();
  let_successor_launch();
  constexpr unsigned kGroups = kVerbThreads / kVerbLanes;
  const unsigned group = threadIdx.x / kVerbLanes, lane = threadIdx.x % kVerbLanes;
  RequantEntry mine[8];
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) mine[i] = entry_at(entries, 8 * lane + i);
  uint64_t sse = 0;
  uint32_t zeros = 0;
  const uint32_t first = (blockIdx.x - plane.first_cta) * kGroups * kRequantBlocks + group;
  Eight<Level> rows[kRequantBlocks];
  uint32_t x[kRequantBlocks], y[kRequantBlocks];
#pragma unroll
  for (int k = 0; k < kRequantBlocks; ++k) {
    const uint32_t block = first + static_cast<uint32_t>(k) * kGroups;
    y[k] = divide(block, plane.by_width);
    x[k] = block - y[k] * plane.blocks_w;
    if (block < plane.blocks)
      rows[k] = load_eight<Level>(place_of(plane.from, plane.from_steps, static_cast<int32_t>(x[k]),
                                           static_cast<int32_t>(y[k]), lane));
  }
#pragma unroll
  for (int k = 0; k < kRequantBlocks; ++k) {
    if (first + static_cast<uint32_t>(k) * kGroups >= plane.blocks) continue;
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      rows[k].at[i] = requantised(rows[k].at[i], mine[i], sse);
      zeros += rows[k].at[i] == 0;
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

#define CT_DEFINE_REQUANT(name, level, measures)             \
  extern "C" __global__ void __launch_bounds__(kVerbThreads) \
      name(const __grid_constant__ RequantParams params) {   \
    __shared__ Entries entries;                              \
    requantise<level, measures>(params, entries);            \
  }
CT_QUANT_KERNELS(CT_DEFINE_REQUANT)
#undef CT_DEFINE_REQUANT

}  // namespace cudatransform::cuda
