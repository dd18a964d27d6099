// The inverse wavelet kernels of fast.cuh and packed.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/kernels.h"
#include "cuda/dwt/packed.cuh"

namespace cudatransform::cuda {

// CTAs that an SM should hold at once. Measured: with 72 registers two or three warps more hide the
// remaining waits; dd137 would have to keep too much in memory for that.
constexpr int ctas_wanted(Wavelet wavelet) {
  if (wavelet == Wavelet::kFidelity) return 3;
  return lifts_lanes(wavelet) && wavelet != Wavelet::kDd137 ? 7 : 1;
}

#define CT_KERNEL(name, wavelet, direction, pairs, at_samples)                                     \
  extern "C" __global__ void __launch_bounds__(kDwtThreads, ctas_wanted(Wavelet::k##wavelet))      \
      name(const __grid_constant__ FusedParams params) {                                           \
    transform_level_fast<Wavelet::k##wavelet, Direction::k##direction, pairs, at_samples>(params); \
  }
CT_DWT_FAST_INVERSE_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
