// The fast inverse kernels for 16-bit quantized coefficients, one thread per 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: inverse_row_short() of transform/dct8x8/simd_short_rows-inl.h.
#include "cuda/dct8x8/fast_inverse.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {

#define CT_KERNEL(name, method, samples, coefs, arrangement, planes, variant)                   \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name) name(               \
      const __grid_constant__ InverseParamsOf<Arrangement::k##arrangement, Variant::k##variant> \
          params) {                                                                             \
    fast_inverse<Inverse##method, samples##Row<Planes::k##planes>, Arrangement::k##arrangement, \
                 Variant::k##variant>(params);                                                  \
  }
CT_FAST_INVERSE_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
