// The quantizer's steps in 16-bit arithmetic, for the CPU engine's vectors of 16-bit lanes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The same results as quantizer.h's, to the bit, where `usable` is true; vectors of 16-bit lanes
// hold twice as many values as those of 32.
#pragma once

#include <cstdint>

#include "transform/dct8x8/quantizer.h"

namespace cudatransform {

// |quantized coefficient| = ((((|x| + half) * reciprocal) >> 16) * scale) >> 16, each product of 32
// bits: the rounded division (|x| + d / 2) / d for 16-bit x.
struct alignas(16) ShortForwardTable {
  uint16_t half[64];
  uint16_t reciprocal[64];
  uint16_t scale[64];
  bool usable = false;
};

// value = coefficient x mul, saturated to 16 bits. A coefficient whose absolute value has no bits
// of `large` needs no saturation.
struct alignas(16) ShortInverseTable {
  int16_t mul[64];
  int16_t large = 0;
  bool usable = false;
};

// From an integer method's tables for quantized coefficients.
ShortForwardTable make_short_forward_table(const ForwardTable& table);
ShortInverseTable make_short_inverse_table(const InverseTable& table);

inline constexpr int kLevelShift8 = 128;  // of 8-bit samples

// The tables of one component's blocks in 16-bit lanes.
struct alignas(16) ShortTables {
  ShortForwardTable forward;  // islow, ifast
  ShortInverseTable inverse;  // islow, ifast
  // float: multipliers of values that are multiplied by 2^16. The inverse's are in the order of its
  // vectors: [32 p + 4 u + j] is that of frequency u, v = 2 j + p.
  float float_forward[64];
  float float_inverse[64];
  // float: no sample leaves int32, for any coefficients.
  bool float_inverse_usable;
};

// `method` islow, ifast or float.
ShortTables make_short_tables(Method method, const QuantTable& table);

// One divisor's numbers; false where there are none (below 3 or above 8191).
struct ShortDivisor {
  uint16_t half, reciprocal, scale;
};
bool make_short_divisor(int64_t divisor, ShortDivisor* result);

}  // namespace cudatransform
