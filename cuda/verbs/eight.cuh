// Eight coefficients of a thread, in whole words of 16 bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

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

}  // namespace cudatransform::cuda
