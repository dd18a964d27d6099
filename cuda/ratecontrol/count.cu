// The symbols that a JPEG scan of a frame would have, for several sets of tables together.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One kernel transforms a frame's blocks, a thread each, and lists the coefficients that any
// candidate has a quantized coefficient for. Another one takes these lists, a coefficient a lane,
// quantizes them with each candidate's tables and counts the symbols in shared memory. Quantized
// coefficients are never stored.
#include "cuda/ratecontrol/kernels.h"
#include "cuda/ratecontrol/list.cuh"
#include "cuda/ratecontrol/symbols.cuh"

namespace cudatransform::cuda {

#define CT_TRANSFORM(name, method, quantizer)                               \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kGeneralCtas) \
      name(const __grid_constant__ RateTransformParams params) {            \
    list_coefficients<Decided##method, Quantizer::k##quantizer>(params);    \
  }
#define CT_COUNT(name, method, quantizer)                               \
  extern "C" __global__ void __launch_bounds__(kRateThreads, kRateCtas) \
      name(const __grid_constant__ RateCountParams params) {            \
    count_candidates<Decided##method, Quantizer::k##quantizer>(params); \
  }
CT_RATE_TRANSFORM_KERNELS(CT_TRANSFORM)
CT_RATE_COUNT_KERNELS(CT_COUNT)

}  // namespace cudatransform::cuda
