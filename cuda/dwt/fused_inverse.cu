// The inverse wavelet transform of a level in one launch.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/fused.cuh"
#include "cuda/dwt/kernels.h"

namespace cudatransform::cuda {

#define CT_KERNEL(name, wavelet, direction, coef, pairs)                                \
  extern "C" __global__ void __launch_bounds__(kDwtThreads)                             \
      name(const __grid_constant__ FusedParams params) {                                \
    transform_level<coef, Wavelet::k##wavelet, Direction::k##direction, pairs>(params); \
  }
CT_DWT_FUSED_INVERSE_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
