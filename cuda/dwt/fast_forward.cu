// The forward wavelet kernels of fast.cuh and packed.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/kernels.h"
#include "cuda/dwt/packed.cuh"

namespace cudatransform::cuda {

// CTAs that an SM should hold at once, see fast_inverse.cu.
constexpr int ctas_wanted_forward(Wavelet wavelet) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
  if (wavelet == Wavelet::kDd137) return 5;
#endif
  if (wavelet == Wavelet::kFidelity) return 3;
  return wavelet == Wavelet::kDaub97 ? 4 : 6;
}

#define CT_KERNEL(name, wavelet, direction, pairs, at_samples)                                     \
  extern "C" __global__ void __launch_bounds__(kDwtThreads,                                        \
                                               ctas_wanted_forward(Wavelet::k##wavelet))           \
      name(const __grid_constant__ FusedParams params) {                                           \
    transform_level_fast<Wavelet::k##wavelet, Direction::k##direction, pairs, at_samples>(params); \
  }
CT_DWT_FAST_FORWARD_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
