// The fast kernels for 32-bit coefficients in blocks, of the float method: quantized coefficients
// of 16-bit samples, and transform values.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: forward_blocks() and inverse_blocks() of transform/dct8x8/simd_rows-inl.h.
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/fast_inverse.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {

CT_FAST_WIDE_FORWARD_KERNELS(CT_FAST_FORWARD)

#define CT_INVERSE(name, method, samples, coefs, arrangement, planes, variant)                  \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name) name(               \
      const __grid_constant__ InverseParamsOf<Arrangement::k##arrangement, Variant::k##variant> \
          params) {                                                                             \
    wide_inverse<samples##Row<Planes::k##planes>, coefs, Variant::k##variant>(params);          \
  }
CT_FAST_WIDE_INVERSE_KERNELS(CT_INVERSE)

}  // namespace cudatransform::cuda
