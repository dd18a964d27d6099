// Measuring in the fast kernels: sums over all warps, and the kernel's own time.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: RowSums of transform/dct8x8/rows.h.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/dct8x8/tile.cuh"

namespace cudatransform::cuda {

// See SumsInProgress. One lane calls it, with its warp's sum; `warp` is the warp's number. It does
// not wait for a reply from the L2 cache: its CTA would occupy the SM meanwhile, and no other could
// start.
__device__ __forceinline__ void add_to_progress(SumInProgress* progress, uint32_t shift,
                                                uint32_t warp, uint64_t sum) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&progress->parts[warp % kSumParts]),
            (uint64_t{1} << shift) + sum);
}

// The first warp of the last CTA collects the sums of all warps. CTAs are launched in order, so
// all others are running by then or have ended. If some were not, they would still be launched
// concurrently, which would only wait longer.
__device__ __forceinline__ bool is_collector() {
  return blockIdx.x == gridDim.x - 1 && threadIdx.x < 32;
}

// How many of `warps` add to a part.
__device__ __forceinline__ uint32_t additions_to(uint32_t part, uint32_t warps) {
  return (warps - part + kSumParts - 1) / kSumParts;
}

// The collector waits until `warps[i]` warps have added to progress[i], for all of them together,
// and leaves zero there. All its threads get the totals.
template <int kCount>
__device__ __forceinline__ void collect(SumInProgress* progress, const uint32_t (&shift)[kCount],
                                        const uint32_t (&warps)[kCount], uint64_t (&sum)[kCount]) {
  constexpr int kPerLane = kSumParts / 32;
  const uint32_t lane = threadIdx.x % 32;
  uint64_t words[kCount][kPerLane];
  const auto part = [&](int i, int j) -> volatile uint64_t& {
    return progress[i].parts[lane + 32 * j];
  };
  bool missing;
  do {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
#pragma unroll
      for (int j = 0; j < kPerLane; ++j) words[i][j] = part(i, j);
    missing = false;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
#pragma unroll
      for (int j = 0; j < kPerLane; ++j)
        missing |= words[i][j] >> shift[i] != additions_to(lane + 32 * j, warps[i]);
  } while (__any_sync(kAllLanes, missing));
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    uint64_t mine = 0;
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) {
      part(i, j) = 0;
      mine += words[i][j] & ((uint64_t{1} << shift[i]) - 1);
    }
    sum[i] = sum_of_warp(mine);
  }
}

// ---- Time ----

// Only kernels that are compiled for it are timed: testing at run time whether to time costs a
// tenth of a microsecond, which is 3 % of a small frame.

// Every thread calls it where the kernel begins. CTA 0 is the first to be launched.
template <bool kTimed>
__device__ __forceinline__ void note_begin(const FastFrame& frame) {
  if constexpr (kTimed) {
    if (frame.timed && blockIdx.x == 0 && threadIdx.x == 0) frame.times->begin = nanoseconds();
  }
}

// Every thread of a kernel that measures nothing calls it last.
template <bool kTimed>
__device__ __forceinline__ void note_end(const FastFrame& frame) {
  if (!kTimed || !frame.timed) return;
  __syncwarp();
  const uint32_t warps_a_cta = blockDim.x / 32;
  if (threadIdx.x % 32 == 0) {
    add_to_progress(&frame.progress->finished, 0, blockIdx.x * warps_a_cta + threadIdx.x / 32, 0);
  }
  if (!is_collector()) return;
  uint64_t nothing[1];
  collect<1>(&frame.progress->finished, {0}, {gridDim.x * warps_a_cta}, nothing);
  if (threadIdx.x == 0) frame.times->end = nanoseconds();
}

// ---- Sums ----

// Publishes the sums of one kind, by component. Sums that are not measured are 0.
__device__ __forceinline__ void hand_on(bool measured, SumInProgress* progress,
                                        const SumLayout (&layout)[3], uint32_t SumLayout::*shift,
                                        uint64_t* result) {
  uint64_t sum[3] = {};
  if (measured) {
    collect<3>(progress, {layout[0].*shift, layout[1].*shift, layout[2].*shift},
               {layout[0].warps, layout[1].warps, layout[2].warps}, sum);
  }
  if (threadIdx.x < 3)
    result[threadIdx.x] = threadIdx.x == 0 ? sum[0] : threadIdx.x == 1 ? sum[1] : sum[2];
}

// Adds the measurements of a warp's threads; the last CTA publishes the sums and the time.
template <bool kTimed, typename Sse>
__device__ __forceinline__ void add_measured(const FastFrame& frame, const FastPlane& plane,
                                             const FastPlace& place, Sse sse, uint32_t zeros) {
  const bool is_leader = threadIdx.x % 32 == 0;
  SumsInProgress* const progress = frame.progress;
  const SumLayout(&layout)[3] = frame.layout;
  for (int parity = 0; parity <= int(plane.interleaved); ++parity) {
    const bool mine = place.active && place.parity == parity;
    const uint32_t c = plane.component[parity];
    if (frame.measure & kMeasureSse) {
      const uint64_t sum = sum_of_warp(mine ? sse : Sse(0));
      if (is_leader) add_to_progress(&progress->sse[c], layout[c].sse_shift, place.warp, sum);
    }
    if (frame.measure & kMeasureZeros) {
      const uint64_t sum = sum_of_warp(mine ? zeros : 0u);
      if (is_leader) add_to_progress(&progress->zeros[c], layout[c].zeros_shift, place.warp, sum);
    }
  }
  if (!is_collector()) return;
  hand_on(frame.measure & kMeasureSse, progress->sse, layout, &SumLayout::sse_shift,
          frame.sums->sse);
  hand_on(frame.measure & kMeasureZeros, progress->zeros, layout, &SumLayout::zeros_shift,
          frame.sums->zeros);
  if (kTimed && frame.timed && threadIdx.x == 0) frame.times->end = nanoseconds();
}

}  // namespace cudatransform::cuda
