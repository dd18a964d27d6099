// Blocks of coefficients by the warp, and rows of them in planes, for the fast kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: coef_address() of transform/dct8x8/adapters.h; blocks are read where they lie.
#pragma once

#include "cuda/dct8x8/tile.cuh"

namespace cudatransform::cuda {

// A block is 128 or 256 consecutive bytes, so threads that each read or wrote their own would touch
// 32 cache lines an instruction. Instead a warp moves its blocks through shared memory, 512 bytes
// an instruction. 16 bytes between blocks keep 16-byte accesses free of bank conflicts. Reading
// goes by way of registers: asynchronous copies to shared memory reach 4 to 6 % less of the
// memory's speed here.
template <int kBlockBytes, int kBlocks, Planes P>
struct WarpStage {
  static constexpr int kStride = kBlockBytes + 16;
  static constexpr int kLanes = kBlockBytes / 16;    // that move one block
  static constexpr int kPerStep = 32 / kLanes;       // blocks an instruction
  static constexpr int kSteps = kBlocks / kPerStep;  // instructions
  static constexpr int kBytes = kBlocks * kStride;

  uint8_t* shared;  // kBytes
  int lane;

  __device__ __forceinline__ uint4* group(int block, int g) const {
    return reinterpret_cast<uint4*>(shared + block * kStride + 16 * g);
  }
  __device__ __forceinline__ uint4* share(int step) const {
    return group(kPerStep * step + lane / kLanes, lane % kLanes);
  }

  // The place of block `index` in the plane's sequence.
  static __device__ __forceinline__ uint8_t* address(const FastPlane& plane, uint32_t index) {
    if (P != Planes::kPairs || !plane.interleaved)
      return plane.coefs[0] + int64_t(index) * kBlockBytes;
    return plane.coefs[index & 1] + int64_t(index >> 1) * kBlockBytes;
  }

  // Whether all kBlocks blocks from `first` on are there, one behind the other.
  static __device__ __forceinline__ bool are_consecutive(const FastPlane& plane, uint32_t first) {
    return P == Planes::kFull ||
           (first + kBlocks <= plane.blocks && !(P == Planes::kPairs && plane.interleaved));
  }

  // This lane's share of the kBlocks blocks from `first` on. Blocks beyond the last repeat it.
  __device__ __forceinline__ void read(const FastPlane& plane, uint32_t first, uint4* words) const {
    if (are_consecutive(plane, first)) {
      const uint4* from =
          reinterpret_cast<const uint4*>(plane.coefs[0] + int64_t(first) * kBlockBytes) + lane;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) words[step] = from[32 * step];
      return;
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint32_t index = min(first + kPerStep * step + lane / kLanes, plane.blocks - 1);
      words[step] = reinterpret_cast<const uint4*>(address(plane, index))[lane % kLanes];
    }
  }
  __device__ __forceinline__ void put(const uint4* words) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) *share(step) = words[step];
    __syncwarp();
  }
  // Writes the groups that this warp's threads have filled.
  __device__ __forceinline__ void write(const FastPlane& plane, uint32_t first) const {
    __syncwarp();
    if (are_consecutive(plane, first)) {
      uint4* to = reinterpret_cast<uint4*>(plane.coefs[0] + int64_t(first) * kBlockBytes) + lane;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) to[32 * step] = *share(step);
      return;
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint32_t index = first + kPerStep * step + lane / kLanes;
      if (index < plane.blocks)
        reinterpret_cast<uint4*>(address(plane, index))[lane % kLanes] = *share(step);
    }
  }
};

// Row `v` of a block in plane layout.
__device__ __forceinline__ uint4* plane_row(const FastPlane& plane, const FastPlace& place, int v) {
  return reinterpret_cast<uint4*>(plane.coefs[place.parity] + place.by * plane.row_step +
                                  int64_t(v) * plane.coef_pitch) +
         place.bx;
}

}  // namespace cudatransform::cuda
