// Where a lane's eight coefficients are, and the plane that a CTA works on.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstring>

#include "cuda/verbs/eight.cuh"
#include "cuda/verbs/flip_quant_params.h"

namespace cudatransform::cuda {

template <typename Byte>
__device__ __forceinline__ Byte* place_of(Byte* data, const VerbSteps& steps, int32_t x, int32_t y,
                                          unsigned lane) {
  return data + y * steps.down + int64_t{x} * steps.across +
         static_cast<int32_t>(lane) * static_cast<int32_t>(steps.lane);
}

template <typename Plane>
__device__ __forceinline__ int plane_of_cta(const Plane (&planes)[kMostCoefArrays]) {
  int plane = 0;
#pragma unroll
  for (int c = 1; c < kMostCoefArrays; ++c) plane += blockIdx.x >= planes[c].first_cta;
  return plane;
}

}  // namespace cudatransform::cuda
