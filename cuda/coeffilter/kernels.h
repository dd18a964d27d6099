// Every kernel of the coefficient filters, by the name that a profiler prints and a launch uses.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   convert_*   a tile of 64 blocks a CTA, from any arrangement to any, between two kinds of
//   numbers
//     twin   transform/coeffilter/convert_rows.cpp
//     test   tests/engine/coeffilter/convert_test.cpp
//     bench  tests/engine/kernel_jobs.cpp: case:convert
//     page   docs/kernels.md, 20
//   flip_*
//     twin   Flipper in transform/coeffilter/flip.cpp
//     test   tests/engine/coeffilter/flip_test.cpp
//     bench  tests/engine/kernel_jobs.cpp: case:flip
//     page   docs/kernels.md, 21
//   quant_*
//     twin   Requantizer in transform/coeffilter/quant.cpp
//     test   tests/engine/coeffilter/quant_test.cpp
//     bench  tests/engine/kernel_jobs.cpp: case:quant
//     page   docs/kernels.md, 21
#pragma once

#include <cstdint>

#include "transform/coeffilter/conversions.h"

namespace cudatransform::cuda {

// What happens to the coefficients of a block: they stay; rows become columns, in natural order or
// in zigzag order. The last two are for planes.
enum class FlipWay { kStraight, kTransposed, kZigzag, kPlane, kTransposedPlane };
inline constexpr uint32_t kFlipWays = 5;

}  // namespace cudatransform::cuda

// X(name, word of a coefficient, way): in the order of FlipWay.
#define CT_FLIP_KERNELS(X)                                \
  X(flip_straight_16, uint16_t, kStraight)                \
  X(flip_transposed_16, uint16_t, kTransposed)            \
  X(flip_zigzag_16, uint16_t, kZigzag)                    \
  X(flip_plane_16, uint16_t, kPlane)                      \
  X(flip_transposed_plane_16, uint16_t, kTransposedPlane) \
  X(flip_straight_32, uint32_t, kStraight)                \
  X(flip_transposed_32, uint32_t, kTransposed)            \
  X(flip_zigzag_32, uint32_t, kZigzag)                    \
  X(flip_plane_32, uint32_t, kPlane)                      \
  X(flip_transposed_plane_32, uint32_t, kTransposedPlane)

// X(name, quantized coefficient, whether it measures)
#define CT_QUANT_KERNELS(X)           \
  X(quant_s16, int16_t, false)        \
  X(quant_s16_measure, int16_t, true) \
  X(quant_s32, int32_t, false)        \
  X(quant_s32_measure, int32_t, true)

// X(name, From, To), in the order of ConversionNumber.
#define CT_CONVERT_KERNELS(X) CT_CONVERSIONS(X, convert_)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_CONVERT_IMAGES(IMAGE) IMAGE(coeffilter_convert, CT_CONVERT_KERNELS)
#define CT_COEF_FILTER_IMAGES(IMAGE)      \
  IMAGE(coeffilter_flip, CT_FLIP_KERNELS) \
  IMAGE(coeffilter_quant, CT_QUANT_KERNELS)
