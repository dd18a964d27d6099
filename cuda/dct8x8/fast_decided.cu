// The fast forward kernels whose quantized coefficients are decided, one thread per 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: decide_group() of transform/dct8x8/simd_decided-inl.h.
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {

#define CT_KERNEL(name, method, samples, coefs, arrangement, planes, variant, quantizer)         \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name)                      \
      name(const __grid_constant__ ForwardParamsOf<Variant::k##variant, Quantizer::k##quantizer> \
               params) {                                                                         \
    fast_forward<Fast##method, samples##Row<Planes::k##planes>, coefs,                           \
                 Arrangement::k##arrangement, Variant::k##variant, Quantizer::k##quantizer>(     \
        params);                                                                                 \
  }
CT_FAST_DECIDED_FORWARD_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
