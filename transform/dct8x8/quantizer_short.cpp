// Prepares the 16-bit tables.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/quantizer_short.h"

#include <algorithm>
#include <cmath>

namespace cudatransform {

// With 2^k < d <= 2^(k+1), the reciprocal 2^(16+k) / d has 16 significant bits, and a shift by k is
// a multiplication by 2^(16-k) whose high half is kept.
//
// Rounded up, r d = 2^(16+k) + e with e <= d / 2 <= 2^k, and the quotient of s < 2^16 is s e / (d
// 2^(16+k)) < 1 / d too large: too little to reach the next integer. Rounded down, it would be too
// small, so s is incremented: (s + 1) r / 2^(16+k) is below (s + 1) / d, and less than 1 / d below
// it, so not below s / d. Either way the floor is the quotient's.
bool make_short_divisor(int64_t divisor, ShortDivisor* result) {
  if (divisor < 3 || divisor > 8191) return false;
  const auto d = uint32_t(divisor);
  int k = 0;
  while ((2u << k) < d) ++k;
  const uint32_t down = (65536u << k) / d, remainder = (65536u << k) % d;
  const bool up = remainder == 0 || 2 * remainder > d;
  result->half = uint16_t(d / 2 + (up ? 0 : 1));
  result->reciprocal = uint16_t(down + (up && remainder != 0 ? 1 : 0));
  result->scale = uint16_t(65536u >> k);
  return true;
}

ShortForwardTable make_short_forward_table(const ForwardTable& table) {
  ShortForwardTable result = {};
  for (int i = 0; i < 64; ++i) {
    // The divisor's inverse rounded to 24 bits gives the divisor back.
    const int64_t divisor = std::llround(1.0 / double(table.mul[i]));
    ShortDivisor numbers;
    if (!make_short_divisor(divisor, &numbers)) return result;
    result.half[i] = numbers.half;
    result.reciprocal[i] = numbers.reciprocal;
    result.scale[i] = numbers.scale;
  }
  result.usable = true;
  return result;
}

ShortInverseTable make_short_inverse_table(const InverseTable& table) {
  ShortInverseTable result = {};
  // 1 where all multipliers are 0, as ifast's of small divisors can be.
  const int32_t largest = std::max(1, *std::max_element(table.imul, table.imul + 64));
  if (largest > 32767 || table.shift != 0) return result;
  for (int i = 0; i < 64; ++i) result.mul[i] = int16_t(table.imul[i]);
  int32_t limit = 1;  // a power of two; coefficients below it have small products
  while (2 * limit * largest <= 32768) limit *= 2;
  result.large = int16_t(uint16_t(~(limit - 1)));
  result.usable = true;
  return result;
}

ShortTables make_short_tables(Method method, const QuantTable& table) {
  ShortTables result = {};
  // An inverse job's table may have zeros, which do not divide: it needs no forward half.
  const ForwardTable forward =
      table.has_zero() ? ForwardTable{} : make_forward_table(method, &table);
  const InverseTable inverse = make_inverse_table(method, &table);
  if (method == Method::kFloat) {
    for (int i = 0; i < 64; ++i) {
      result.float_forward[i] = forward.mul[i] * 0x1p-16f;
      const int u = i % 8, v = i / 8;
      result.float_inverse[32 * (v % 2) + 4 * u + v / 2] = inverse.mul[i] * 0x1p-16f;
    }
    // A sample is at most a quarter of the sum of 64 coefficients: 64 x 32768 x 2047 / 4 = 1.07e9.
    result.float_inverse_usable = *std::max_element(table.q, table.q + 64) <= 2047;
  } else {
    if (!table.has_zero()) result.forward = make_short_forward_table(forward);
    result.inverse = make_short_inverse_table(inverse);
  }
  return result;
}

}  // namespace cudatransform
