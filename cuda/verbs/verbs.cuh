// Eight coefficients a lane, and the plane that a CTA works on.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstring>

#include "cuda/verbs/flip_quant_params.h"

namespace cudatransform::cuda {

template <typename Word>
struct alignas(16) Eight {
  Word words[8];
};

// In units of 16 bytes.
template <typename Word>
__device__ __forceinline__ Eight<Word> load_eight(const uint8_t* from) {
  Eight<Word> row;
#pragma unroll
  for (unsigned i = 0; i < sizeof row / 16; ++i)
    reinterpret_cast<uint4*>(&row)[i] = reinterpret_cast<const uint4*>(from)[i];
  return row;
}
template <typename Word>
__device__ __forceinline__ void store_eight(uint8_t* to, const Eight<Word>& row) {
#pragma unroll
  for (unsigned i = 0; i < sizeof row / 16; ++i)
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(&row)[i];
}

template <typename Byte>
__device__ __forceinline__ Byte* place_of(Byte* data, const VerbSteps& steps, int32_t x, int32_t y,
                                          unsigned lane) {
  return data + y * steps.down + int64_t{x} * steps.across +
         static_cast<int32_t>(lane) * steps.lane;
}

template <typename Plane>
__device__ __forceinline__ int plane_of_cta(const Plane (&planes)[kMostCoefArrays]) {
  int plane = 0;
#pragma unroll
  for (int c = 1; c < kMostCoefArrays; ++c) plane += blockIdx.x >= planes[c].first_cta;
  return plane;
}

}  // namespace cudatransform::cuda
