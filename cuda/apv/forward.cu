// APV's forward transform: a thread a block, all components of a frame in a launch.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A block is eight loads of 16 bytes, or of 8 where samples are bytes, and eight stores: the
// threads of a warp have blocks side by side. Those at edges, which repeat the last column and row,
// and those of interleaved components are loaded by sample.
// Kernels that code quantize what they load: factors here would take registers of half the warps.
#include "cuda/apv/kernels.h"
#include "cuda/common/ptx.cuh"
#include "transform/apv/forward_arithmetic.h"

namespace cudatransform::cuda {
namespace {

// Samples in memory order.
__device__ __forceinline__ int container(const ApvForwardPlaneParams& plane, uint32_t x,
                                         uint32_t y) {
  const uint8_t* const row = plane.samples + int64_t{y} * plane.pitch;
  const uint64_t at = uint64_t{x} * plane.step;
  return plane.is_bytes ? row[at] : reinterpret_cast<const uint16_t*>(row)[at];
}

__device__ __forceinline__ void load_samples(const ApvForwardPlaneParams& plane, uint32_t x0,
                                             uint32_t y0, int32_t (&v)[64]) {
#pragma unroll
  for (uint32_t i = 0; i < 64; ++i) {
    v[i] = container(plane, min(x0 + i % 8, plane.width - 1), min(y0 + i / 8, plane.height - 1));
  }
}

__device__ __forceinline__ void load_whole(const ApvForwardPlaneParams& plane, uint32_t x0,
                                           uint32_t y0, int32_t (&v)[64]) {
  const uint8_t* from =
      plane.samples + int64_t{y0} * plane.pitch + uint64_t{x0} * (plane.is_bytes ? 1 : 2);
#pragma unroll
  for (int y = 0; y < 8; ++y, from += plane.pitch) {
    int32_t* const row = v + 8 * y;
    if (plane.is_bytes) {
      const uint2 words = *reinterpret_cast<const uint2*>(from);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        row[i] = static_cast<int32_t>((i < 4 ? words.x : words.y) >> (8 * (i % 4)) & 255);
    } else {
      const uint4 words = *reinterpret_cast<const uint4*>(from);
      const uint32_t of[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
      for (int i = 0; i < 8; ++i)
        row[i] = static_cast<int32_t>(of[i / 2] >> (16 * (i % 2)) & 0xffff);
    }
  }
}

__device__ __forceinline__ uint32_t packed(int32_t low, int32_t high) {
  return (static_cast<uint32_t>(low) & 0xffff) | static_cast<uint32_t>(high) << 16;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kApvForwardThreads)
    apv_forward(const __grid_constant__ ApvForwardParams params) {
  const uint32_t block = blockIdx.x * kApvForwardThreads + threadIdx.x;
  if (block >= params.blocks) return;
  int component = 0;
#pragma unroll
  for (int c = 1; c < kMaxApvComponents; ++c) component += block >= params.planes[c].first_block;
  // Blocks of a warp may be in two components: read as global memory, through the L1 cache.
  const ApvForwardPlaneParams& plane = as_memory(params.planes)[component];
  const uint32_t index = block - plane.first_block;
  const uint32_t y = divide(index, plane.by_across), x = index - y * plane.blocks_across;

  int32_t v[64];
  if (plane.is_aligned && 8 * x + 8 <= plane.width && 8 * y + 8 <= plane.height)
    load_whole(plane, 8 * x, 8 * y, v);
  else
    load_samples(plane, 8 * x, 8 * y, v);
  const int depth = params.depth;
  const int32_t peak = (1 << depth) - 1, middle = 1 << (depth - 1);
  const int up = plane.is_bytes ? depth - 8 : 0, down = plane.is_bytes ? 0 : params.shift;
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = min(v[i] << up >> down, peak) - middle;
  apv_forward_block(v, depth);

  auto* const to = reinterpret_cast<uint4*>(plane.coefs) + uint64_t{index} * 8;
  constexpr ApvScan kScan;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const auto pair = [&](int k) {
      return packed(v[kScan.place[8 * i + k]], v[kScan.place[8 * i + k + 1]]);
    };
    to[i] = make_uint4(pair(0), pair(2), pair(4), pair(6));
  }
}

}  // namespace cudatransform::cuda
