// The forward wavelet kernels of fast.cuh and packed.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/kernels.h"
#include "cuda/dwt/packed.cuh"

namespace cudatransform::cuda {

#define CT_KERNEL(name, wavelet, direction, pairs, at_samples)                                     \
  extern "C" __global__ void __launch_bounds__(kDwtThreads,                                        \
                                               fast_ctas(Wavelet::k##wavelet).forward)             \
      name(const __grid_constant__ FusedParams params) {                                           \
    transform_level_fast<Wavelet::k##wavelet, Direction::k##direction, pairs, at_samples>(params); \
  }
CT_DWT_FAST_FORWARD_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
