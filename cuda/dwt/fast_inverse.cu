// The inverse wavelet kernels of fast.cuh, packed.cuh and two_levels.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/kernels.h"
#include "cuda/dwt/packed.cuh"
#include "cuda/dwt/two_levels.cuh"

namespace cudatransform::cuda {

#define CT_KERNEL(name, wavelet, direction, pairs, at_samples)                                     \
  extern "C" __global__ void __launch_bounds__(kDwtThreads,                                        \
                                               fast_ctas(Wavelet::k##wavelet).inverse)             \
      name(const __grid_constant__ FusedParams params) {                                           \
    transform_level_fast<Wavelet::k##wavelet, Direction::k##direction, pairs, at_samples>(params); \
  }
CT_DWT_FAST_INVERSE_KERNELS(CT_KERNEL)

#define CT_TWO_LEVELS(name, wavelet)                                                      \
  extern "C" __global__ void __launch_bounds__(kDwtThreads,                               \
                                               fast_ctas(Wavelet::k##wavelet).two_levels) \
      name(const __grid_constant__ TwoLevelParams params) {                               \
    transform_two_levels<Wavelet::k##wavelet>(params);                                    \
  }
CT_DWT_TWO_LEVELS_KERNELS(CT_TWO_LEVELS)

}  // namespace cudatransform::cuda
