// What the fused kernels of both directions share: which block a thread has, and the way of 16-bit
// blocks between global memory and a thread's registers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_pipeline.h>

#include "cuda/dct8x8_adapters.cuh"
#include "transform/dct8x8_block.h"

namespace cudatransform::cuda {

__device__ __forceinline__ BlockPlace place_of_thread(const FrameParams& frame) {
  const int component =
      (blockIdx.x >= frame.planes[1].first_cta) + (blockIdx.x >= frame.planes[2].first_cta);
  const uint32_t cta = blockIdx.x - frame.planes[component].first_cta;
  return place_in_plane(frame, component, cta * kFusedThreads + threadIdx.x);
}

// A thread's block of 64 int16 is 128 consecutive bytes, so threads that each read or wrote their
// own would touch 32 cache lines an instruction. Instead a warp moves its 32 blocks through shared
// memory, four blocks an instruction. 144 bytes from block to block keep 16-byte accesses free of
// bank conflicts.
struct BlockStage {
  static constexpr int kBlockBytes = 144;
  alignas(16) uint8_t bytes[kFusedThreads * kBlockBytes];

  __device__ __forceinline__ uint4* group(int thread, int g) {
    return reinterpret_cast<uint4*>(bytes + thread * kBlockBytes + 16 * g);
  }

  // Calls move(global address, shared address) for this thread's share of the warp's blocks.
  // `mine` is where this thread's block is in global memory, null for none.
  template <typename Move>
  __device__ __forceinline__ void for_each_share(uint8_t* mine, Move&& move) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      const int owner = 4 * step + lane / 8;
      const uint64_t address = __shfl_sync(0xffffffffu, reinterpret_cast<uint64_t>(mine), owner);
      if (address != 0) {
        move(reinterpret_cast<uint4*>(address) + lane % 8,
             group(int(threadIdx.x) - lane + owner, lane % 8));
      }
    }
  }

  // After fetch(), group(threadIdx.x, 0..7) hold this thread's block.
  __device__ __forceinline__ void fetch(uint8_t* mine) {
    for_each_share(mine, [](const uint4* global, uint4* shared) {
      __pipeline_memcpy_async(shared, global, sizeof(uint4));
    });
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }
  // Writes what this warp's threads have put into group(threadIdx.x, 0..7).
  __device__ __forceinline__ void flush(uint8_t* mine) {
    __syncwarp();
    for_each_share(mine, [](uint4* global, const uint4* shared) { *global = *shared; });
  }
};

}  // namespace cudatransform::cuda
