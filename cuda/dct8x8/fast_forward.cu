// The fast forward kernels for 16-bit quantized coefficients, one thread per 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: forward_row_short() of transform/dct8x8/simd_short_rows-inl.h.
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {

#define CT_KERNEL(name, method, samples, coefs, arrangement, planes, variant)     \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name)       \
      name(const __grid_constant__ ForwardParamsOf<Variant::k##variant> params) { \
    fast_forward<Fast##method, samples##Row<Planes::k##planes>, coefs,            \
                 Arrangement::k##arrangement, Variant::k##variant>(params);       \
  }
CT_FAST_FORWARD_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
