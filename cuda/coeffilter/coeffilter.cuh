// Eight coefficients of a thread in words of 16 bytes, where they are, and the plane that a CTA
// works on.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstring>

#include "cuda/coeffilter/params.h"

namespace cudatransform::cuda {

template <typename Number>
struct alignas(16) Eight {
  Number at[8];
};

template <typename Number>
__device__ __forceinline__ Eight<Number> load_eight(const void* from) {
  Eight<Number> numbers;
#pragma unroll
  for (unsigned i = 0; i < sizeof numbers / sizeof(uint4); ++i)
    reinterpret_cast<uint4*>(&numbers)[i] = static_cast<const uint4*>(from)[i];
  return numbers;
}
template <typename Number>
__device__ __forceinline__ void store_eight(void* to, const Eight<Number>& numbers) {
#pragma unroll
  for (unsigned i = 0; i < sizeof numbers / sizeof(uint4); ++i)
    static_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(&numbers)[i];
}

template <typename Byte>
__device__ __forceinline__ Byte* place_of(Byte* data, const CoefSteps& steps, int32_t x, int32_t y,
                                          unsigned lane) {
  return data + y * steps.down + int64_t{x} * steps.across +
         static_cast<int32_t>(lane) * static_cast<int32_t>(steps.lane);
}

template <typename Plane>
__device__ __forceinline__ int plane_of_cta(const Plane (&planes)[kMaxCoefArrays]) {
  int plane = 0;
#pragma unroll
  for (int c = 1; c < kMaxCoefArrays; ++c) plane += blockIdx.x >= planes[c].first_cta;
  return plane;
}

}  // namespace cudatransform::cuda
