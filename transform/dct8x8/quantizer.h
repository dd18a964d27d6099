// From transform values to stored coefficients and back, and from results to samples: the rounding,
// scaling and saturating steps of every method, for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The multipliers absorb each method's own scale, so one formula is right for quantized
// coefficients and unquantized values. Each step is a few correctly rounded operations without a
// multiply-add that could be contracted, so that engines agree to the bit wherever the transform
// itself is exact.
#pragma once

#include <math.h>

#include <cstdint>

#include "transform/dct8x8/1d.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/host_device_macros.h"
#include "transform/samples.h"

namespace cudatransform {

// Everything that storing coefficients requires of one table, in natural order. Made once per job;
// plain data, to be passed to a kernel by value.
struct alignas(16) ForwardTable {
  // float and the teaching methods: coefficient = value x mul. reference: value / mul.
  // islow, ifast: |coefficient| = floor((|value| + half) x mul) for integers, value x mul for F32.
  float mul[64];
  float half[64];  // islow, ifast only
};

// The same for reading coefficients.
struct alignas(16) InverseTable {
  float mul[64];      // the floating methods: value = coefficient x mul
  int32_t imul[64];   // islow, ifast: value = (coefficient x imul + round) >> shift, saturated to
  int32_t round = 0;  // 16 bits
  int32_t shift = 0;
};

// `table` null: unquantized. The method must be an effective one (for `scale`, too).
ForwardTable make_forward_table(Method method, const QuantTable* table);
InverseTable make_inverse_table(Method method, const QuantTable* table, int scale = 1);

// ---- Samples ----

// Clamps before it rounds, so that the conversion is defined for every float; NaN becomes `low`.
// Rounds half to even: one instruction everywhere.
CT_HD int32_t round_clamped(float x, float low, float high) {
  x = x > low ? x : low;
  x = x < high ? x : high;
  return int32_t(rintf(x));
}
// Half away from zero, as the definition has it.
CT_HD int32_t round_away_clamped(double x, double low, double high) {
  x = x > low ? x : low;
  x = x < high ? x : high;
  return int32_t(round(x));
}

// ---- Coefficients of the integer methods ----

// sign(x) * floor((|x| + half) * mul), by one addition and one multiplication in fp32 and exact.
// With an integer divisor d, half = floor(d / 2) + 1/2 and mul = 1 / d rounded, this is libjpeg's
// rounded division (|x| + d / 2) / d: the sum is exact (below 2^23), and the added 1/2 keeps the
// true quotient at least 1 / (2d) away from every integer, while the two roundings move it by less
// than quotient x 2^-23. That is enough while (|x| + d / 2) < 2^22, so for every 16-bit table and
// every x that 12-bit samples can reach.
CT_HD int32_t quantize_integer(int32_t x, float mul, float half) {
  const float value = float(x);
  return int32_t(copysignf((fabsf(value) + half) * mul, value));
}

// `imul` is at most 65535, so the product of a 16-bit coefficient stays inside int32.
CT_HD int32_t dequantize_integer(int32_t coefficient, int32_t imul, int32_t round, int32_t shift) {
  return saturate16((saturate16(coefficient) * imul + round) >> shift);
}

// ---- Stored coefficients, by type ----

template <typename Coef>
struct CoefLimits;
template <>
struct CoefLimits<int16_t> {
  static constexpr float kLow = -32768.0f, kHigh = 32767.0f;
};
template <>
struct CoefLimits<int32_t> {
  // The largest float below 2^31 is 2^31 - 128.
  static constexpr float kLow = -2147483648.0f, kHigh = 2147483520.0f;
};

template <typename Coef>
CT_HD Coef store_integer(int32_t x, float mul, float half) {
  return Coef(quantize_integer(x, mul, half));
}
template <>
CT_HD float store_integer<float>(int32_t x, float mul, float) {
  return float(x) * mul;
}

template <typename Coef>
CT_HD Coef store_float(float x, float mul) {
  return Coef(round_clamped(x * mul, CoefLimits<Coef>::kLow, CoefLimits<Coef>::kHigh));
}
template <>
CT_HD float store_float<float>(float x, float mul) {
  return x * mul;
}

template <typename Coef>
CT_HD Coef store_double(double x, double divisor) {
  return Coef(round_away_clamped(x / divisor, double(CoefLimits<Coef>::kLow),
                                 double(CoefLimits<Coef>::kHigh)));
}
template <>
CT_HD float store_double<float>(double x, double divisor) {
  return float(x / divisor);
}

// A coefficient as the integer that an integer method dequantizes.
CT_HD int32_t integer_of(int32_t coefficient) { return coefficient; }
CT_HD int32_t integer_of(float coefficient) {
  const float clamped = coefficient > -32768.0f ? coefficient : -32768.0f;
  return int32_t(roundf(clamped < 32767.0f ? clamped : 32767.0f));
}

}  // namespace cudatransform
