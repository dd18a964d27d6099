// How the fast kernels add up what they measure, and time themselves.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dct8x8_tile.cuh"

namespace cudatransform::cuda {

__device__ __forceinline__ uint64_t sum_of_warp(uint64_t value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}
__device__ __forceinline__ uint64_t sum_of_warp(uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, value);
#else
  return sum_of_warp(uint64_t(value));
#endif
}

// Adds to a word and returns whether that was the last of `count` additions; then *sum is the
// total.
__device__ __forceinline__ bool add_and_count(uint64_t* word, uint32_t shift, uint32_t count,
                                              uint64_t* sum) {
  const uint64_t added = (uint64_t{1} << shift) + *sum;
  const uint64_t before = atomicAdd(reinterpret_cast<unsigned long long*>(word), added);
  if (before >> shift != count - 1) return false;
  *sum = (before + added) & ((uint64_t{1} << shift) - 1);
  *word = 0;
  return true;
}

// See SumsInProgress. One lane calls it, with its warp's sum; `warp` is the warp's number. Returns
// whether no warp is left; then *sum is the total.
__device__ __forceinline__ bool add_to_progress(SumInProgress* progress, uint32_t shift,
                                                uint32_t warp, uint32_t warps, uint64_t* sum) {
  const uint32_t part = warp % kSumParts;
  const uint32_t in_part = (warps - part + kSumParts - 1) / kSumParts;
  return add_and_count(&progress->parts[part], shift, in_part, sum) &&
         add_and_count(&progress->whole, shift, min(warps, kSumParts), sum);
}
// The same, with the total in *result.
__device__ __forceinline__ bool add_to_progress(uint64_t sum, SumInProgress* progress,
                                                uint32_t shift, uint32_t warp, uint32_t warps,
                                                uint64_t* result) {
  if (!add_to_progress(progress, shift, warp, warps, &sum)) return false;
  *result = sum;
  return true;
}

// What nobody measures is 0.
__device__ __forceinline__ void clear_unmeasured(const FastFrame& frame) {
  for (int c = 0; c < 3; ++c) {
    const bool there = frame.layout[c].warps != 0;
    if (!there || !(frame.measure & kMeasureSse)) frame.sums->sse[c] = 0;
    if (!there || !(frame.measure & kMeasureZeros)) frame.sums->zeros[c] = 0;
  }
}

// ---- Time ----

// In ns; one clock for all SMs. How often it is updated is the device's affair: every 32 ns on an
// H200.
__device__ __forceinline__ uint64_t nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Only kernels that are compiled for it are timed: to find out that nobody wants the time costs
// others a tenth of a microsecond, which is 3 % of a small frame.

// Every thread calls it where the kernel begins. CTA 0 is the first to be launched.
template <bool kTimed>
__device__ __forceinline__ void note_begin(const FastFrame& frame) {
  if constexpr (kTimed) {
    if (frame.timed && blockIdx.x == 0 && threadIdx.x == 0) frame.times->begin = nanoseconds();
  }
}

// Every thread of a kernel that measures nothing calls it last: the last warp to come tells the
// time.
template <bool kTimed>
__device__ __forceinline__ void note_end(const FastFrame& frame) {
  if (!kTimed || !frame.timed) return;
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
  const uint32_t warps_a_cta = blockDim.x / 32;
  uint64_t nothing = 0;
  if (add_to_progress(&frame.progress->finished, 0, blockIdx.x * warps_a_cta + threadIdx.x / 32,
                      gridDim.x * warps_a_cta, &nothing))
    frame.times->end = nanoseconds();
}

// ---- Sums ----

// The last warp of each component calls it: the last of those tells the time. Another count of all
// warps would have each wait a second time for an answer from the L2 cache.
template <bool kTimed>
__device__ __forceinline__ void note_component_end(const FastFrame& frame) {
  if (!kTimed || !frame.timed) return;
  uint32_t components = 0;
  for (const SumLayout& layout : frame.layout) components += layout.warps != 0;
  uint64_t nothing = 0;
  if (add_and_count(&frame.progress->finished.whole, 0, components, &nothing))
    frame.times->end = nanoseconds();
}

// Adds what the threads of a warp have measured, and tells the time after what was added last. No
// warp waits for another.
template <bool kTimed, typename Sse>
__device__ __forceinline__ void add_measured(const FastFrame& frame, const FastPlane& plane,
                                             const FastPlace& place, Sse sse, uint32_t zeros) {
  if (blockIdx.x == 0 && threadIdx.x == 0) clear_unmeasured(frame);
  const bool speaks = threadIdx.x % 32 == 0;
  const uint32_t warp = place.index / 32;
  for (int parity = 0; parity <= int(plane.interleaved); ++parity) {
    const bool mine = place.active && place.parity == parity;
    const uint32_t component = plane.component[parity];
    const SumLayout& layout = frame.layout[component];
    bool last = false;
    if (frame.measure & kMeasureSse) {
      const uint64_t sum = sum_of_warp(mine ? sse : Sse(0));
      if (speaks) {
        last = add_to_progress(sum, &frame.progress->sse[component], layout.sse_shift, warp,
                               layout.warps, &frame.sums->sse[component]);
      }
    }
    if (frame.measure & kMeasureZeros) {
      const uint64_t sum = sum_of_warp(mine ? zeros : 0u);
      if (speaks) {
        last = add_to_progress(sum, &frame.progress->zeros[component], layout.zeros_shift, warp,
                               layout.warps, &frame.sums->zeros[component]);
      }
    }
    if (last) note_component_end<kTimed>(frame);
  }
}

}  // namespace cudatransform::cuda
