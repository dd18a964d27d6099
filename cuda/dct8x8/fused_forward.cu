// The fast forward kernels for quantised 16-bit levels, one thread per 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8/fast_forward.cuh"

namespace cudatransform::cuda {

// CTAs on an SM: what fits without spilling registers. Measuring and rows of a plane, which all are
// there at once, need more of them.
#define CT_KERNELS(name, kCtas, kMeasureCtas, ...)                                 \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas)               \
      forward_##name(const __grid_constant__ FastForwardParams params) {           \
    fast_forward<__VA_ARGS__, false>(params, nullptr);                             \
  }                                                                                \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kMeasureCtas)        \
      forward_##name##_measure(const __grid_constant__ FastMeasureParams params) { \
    fast_forward<__VA_ARGS__, true>(params.forward, params.inverse);               \
  }
#define CT_ARRANGEMENTS(name, kMeasureCtas, M, Row)                                                \
  CT_KERNELS(name##_s16_block, 12, kMeasureCtas, M, Row<false>, int16_t, Arrangement::kBlock)      \
  CT_KERNELS(name##_s16_block_pairs, 10, kMeasureCtas, M, Row<true>, int16_t, Arrangement::kBlock) \
  CT_KERNELS(name##_s16_zigzag, 12, kMeasureCtas, M, Row<false>, int16_t, Arrangement::kZigzag)    \
  CT_KERNELS(name##_s16_plane, 12, kMeasureCtas, M, Row<false>, int16_t, Arrangement::kPlane)

// The commonest formats have kernels that tell their time.
#define CT_TIMED(name, kCtas, ...)                                               \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas)             \
      forward_##name##_timed(const __grid_constant__ FastForwardParams params) { \
    fast_forward<__VA_ARGS__, false, true>(params, nullptr);                     \
  }
#define CT_TIMED_ARRANGEMENTS(name, M)                                            \
  CT_TIMED(name##_s16_block, 12, M, ByteRow<false>, int16_t, Arrangement::kBlock) \
  CT_TIMED(name##_s16_block_pairs, 10, M, ByteRow<true>, int16_t, Arrangement::kBlock)

CT_TIMED_ARRANGEMENTS(islow_u8, FastIslow)
CT_TIMED_ARRANGEMENTS(float_u8, FastFloat)

CT_ARRANGEMENTS(islow_u8, 8, FastIslow, ByteRow)
CT_ARRANGEMENTS(float_u8, 10, FastFloat, ByteRow)
CT_ARRANGEMENTS(float_u16, 6, FastFloat, WordRow)

}  // namespace cudatransform::cuda
