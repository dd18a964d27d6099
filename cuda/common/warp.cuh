// Sums over the lanes of a warp.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudatransform::cuda {

// All lanes call it, and all get the sum.
__device__ __forceinline__ uint64_t sum_of_warp(uint64_t value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}
// Right modulo 2^32: the instruction of cards from Ampere on has no more bits.
__device__ __forceinline__ uint64_t sum_of_warp(uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, value);
#else
  return sum_of_warp(uint64_t(value));
#endif
}

}  // namespace cudatransform::cuda
