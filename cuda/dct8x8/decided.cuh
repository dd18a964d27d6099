// The methods whose levels may be decided, and levels by a dead zone.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: decide_block() of transform/dct8x8/decision.cpp.
#pragma once

#include "cuda/dct8x8/general.cuh"
#include "cuda/dct8x8/rate.cuh"

namespace cudatransform::cuda {

// The methods of general.cuh, of which DC is rounded as ever.
struct DecidedIslow : GeneralIslow {
  static __device__ __forceinline__ int32_t eighths(int32_t x, int) { return x; }
};
struct DecidedIfast : GeneralIfast {
  static __device__ __forceinline__ int32_t eighths(int32_t x, int i) {
    return quantize_integer(x, aan_eighths_mul(i), aan_eighths_half(i));
  }
};
struct DecidedFloat : GeneralFloat {
  static __device__ __forceinline__ int32_t eighths(float x, int i) {
    return eighths_of_float(x, i);
  }
};

template <typename M>
__device__ __forceinline__ int16_t dead_zone_level(typename M::Value value,
                                                   const ForwardTable& table, int i,
                                                   int32_t thousandths) {
  const int32_t x = limit_eighths(M::eighths(value, i));
  const int32_t level = quantize_integer(x, table.mul[i], table.half[i]);
  return int16_t(in_dead_zone(abs(x), thousandths * 2 * int32_t(table.half[i])) ? 0 : level);
}

}  // namespace cudatransform::cuda
