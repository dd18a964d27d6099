// The fast kernels of the float method for 32-bit coefficients in blocks: levels of 16-bit samples,
// and transform values.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/fast_inverse.cuh"

namespace cudatransform::cuda {

// CTAs on an SM: what fits without spilling registers.
#define CT_KERNEL(name, kCtas, Params, ...)                          \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas) \
      name(const __grid_constant__ Params params) {                  \
    __VA_ARGS__;                                                     \
  }
#define CT_KERNELS(name, Row, Coef)                                                          \
  CT_KERNEL(forward_##name, 10, FastForwardParams,                                           \
            fast_forward<FastFloat, Row, Coef, Arrangement::kBlock, false>(params, nullptr)) \
  CT_KERNEL(forward_##name##_measure, 6, FastMeasureParams,                                  \
            fast_forward<FastFloat, Row, Coef, Arrangement::kBlock, true>(params.forward,    \
                                                                          params.inverse))   \
  CT_KERNEL(inverse_##name, 10, FastInverseParams,                                           \
            wide_inverse<Row, Coef, false>(params, nullptr))                                 \
  CT_KERNEL(inverse_##name##_measure, 8, FastCompareParams,                                  \
            wide_inverse<Row, Coef, true>(params.plane.inverse, params.reference))

CT_KERNELS(float_u8_s32_block, ByteRow<false>, int32_t)
CT_KERNELS(float_u8_f32_block, ByteRow<false>, float)
CT_KERNELS(float_u16_s32_block, WordRow<false>, int32_t)
CT_KERNELS(float_u16_f32_block, WordRow<false>, float)

}  // namespace cudatransform::cuda
