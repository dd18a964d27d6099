// The inverse wavelet kernels of fast.cuh, packed.cuh and two_levels.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/kernels.h"
#include "cuda/dwt/packed.cuh"
#include "cuda/dwt/two_levels.cuh"

namespace cudatransform::cuda {

// CTAs that an SM should hold at once. Measured, as are the numbers of rows that a level takes in a
// turn and has on their way. No choice may need local memory, and on other GPUs than Hopper's some
// filters would with more.
constexpr int ctas_wanted(Wavelet wavelet) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
  if (wavelet == Wavelet::kDd97 || wavelet == Wavelet::kJ2k53) return 5;
  if (wavelet == Wavelet::kDd137) return 4;
#endif
  if (wavelet == Wavelet::kFidelity) return 3;
  if (wavelet == Wavelet::kDaub97) return 1;
  if (wavelet == Wavelet::kDd137) return 5;
  return wavelet == Wavelet::kDd97 ? 6 : 7;
}

#define CT_KERNEL(name, wavelet, direction, pairs, at_samples)                                     \
  extern "C" __global__ void __launch_bounds__(kDwtThreads, ctas_wanted(Wavelet::k##wavelet))      \
      name(const __grid_constant__ FusedParams params) {                                           \
    transform_level_fast<Wavelet::k##wavelet, Direction::k##direction, pairs, at_samples>(params); \
  }
CT_DWT_FAST_INVERSE_KERNELS(CT_KERNEL)

constexpr int ctas_wanted_of_two(Wavelet wavelet) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
  if (wavelet == Wavelet::kHaar) return 5;
#endif
  return wavelet == Wavelet::kDd97 ? 5 : 6;
}

#define CT_TWO_LEVELS(name, wavelet)                                                    \
  extern "C" __global__ void __launch_bounds__(kDwtThreads,                             \
                                               ctas_wanted_of_two(Wavelet::k##wavelet)) \
      name(const __grid_constant__ TwoLevelParams params) {                             \
    transform_two_levels<Wavelet::k##wavelet>(params);                                  \
  }
CT_DWT_TWO_LEVELS_KERNELS(CT_TWO_LEVELS)

}  // namespace cudatransform::cuda
