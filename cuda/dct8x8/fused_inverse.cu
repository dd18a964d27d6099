// The fast inverse kernels for quantised 16-bit levels, one thread per 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8/fast_inverse.cuh"

namespace cudatransform::cuda {

// CTAs on an SM: what fits without spilling registers. Comparing and rows of a plane, which all are
// there at once, need more of them.
#define CT_KERNEL(name, kCtas, Params, inverse, minus_limits, reference, ...) \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas)          \
      inverse_##name(const __grid_constant__ Params params) {                 \
    fast_inverse<__VA_ARGS__>(inverse, minus_limits, reference);              \
  }
#define CT_MEASURE(name, ...)                                           \
  CT_KERNEL(name##_measure, 8, FastCompareParams, params.plane.inverse, \
            &params.plane.minus_limits, params.reference, __VA_ARGS__, true)
#define CT_KERNELS(name, kCtas, ...)                                                      \
  CT_KERNEL(name, kCtas, FastInverseParams, params, nullptr, nullptr, __VA_ARGS__, false) \
  CT_MEASURE(name, __VA_ARGS__)
#define CT_PLANE_KERNELS(name, kCtas, ...)                                                      \
  CT_KERNEL(name, kCtas, FastPlaneInverseParams, params.inverse, &params.minus_limits, nullptr, \
            __VA_ARGS__, false)                                                                 \
  CT_MEASURE(name, __VA_ARGS__)
#define CT_ARRANGEMENTS(name, kCtas, M, Row)                                \
  CT_KERNELS(name##_s16_block, kCtas, M, Row<false>, Arrangement::kBlock)   \
  CT_KERNELS(name##_s16_block_pairs, 10, M, Row<true>, Arrangement::kBlock) \
  CT_KERNELS(name##_s16_zigzag, kCtas, M, Row<false>, Arrangement::kZigzag) \
  CT_PLANE_KERNELS(name##_s16_plane, 10, M, Row<false>, Arrangement::kPlane)

// The commonest formats have kernels that tell their time.
#define CT_TIMED(name, kCtas, ...) \
  CT_KERNEL(name##_timed, kCtas, FastInverseParams, params, nullptr, nullptr, __VA_ARGS__, true)
#define CT_TIMED_ARRANGEMENTS(name, M)                                   \
  CT_TIMED(name##_s16_block, 12, M, ByteRow<false>, Arrangement::kBlock) \
  CT_TIMED(name##_s16_block_pairs, 10, M, ByteRow<true>, Arrangement::kBlock)

CT_TIMED_ARRANGEMENTS(islow_u8, InverseIslow)
CT_TIMED_ARRANGEMENTS(float_u8, InverseFloat)

CT_ARRANGEMENTS(islow_u8, 12, InverseIslow, ByteRow)
CT_ARRANGEMENTS(float_u8, 12, InverseFloat, ByteRow)
CT_ARRANGEMENTS(float_u16, 10, InverseFloat, WordRow)

}  // namespace cudatransform::cuda
