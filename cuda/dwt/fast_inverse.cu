// The inverse wavelet kernels of fast.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/fast.cuh"
#include "cuda/dwt/kernels.h"

namespace cudatransform::cuda {

#define CT_KERNEL(name, wavelet, direction, pairs, at_samples)                                     \
  extern "C" __global__ void __launch_bounds__(kDwtThreads)                                        \
      name(const __grid_constant__ FusedParams params) {                                           \
    transform_level_fast<Wavelet::k##wavelet, Direction::k##direction, pairs, at_samples>(params); \
  }
CT_DWT_FAST_INVERSE_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
