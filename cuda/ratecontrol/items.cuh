// The coefficients that rate control lists and counts: how they are packed, and their quantized
// coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A symbol needs of a quantized coefficient no more than its magnitude's number of bits. That is in
// the exponent of a float, so no quantized coefficient is ever converted to an integer.
#pragma once

#include <type_traits>

#include "cuda/dct8x8/general.cuh"

namespace cudatransform::cuda {

// ---- Magnitudes ----

// Of integers with an integer divisor d, from 0 to 2^15. The quantized coefficient's magnitude is
// floor(|x| / d + 1/2) for an even d and floor(|x| / d + 1/2 - 1 / (2 d)) for an odd one: see
// quantize_integer(). Both are floor((|x| + 1/4) / d + 1/2), which is never nearer to an integer
// than 1 / (4 d). That is more than the rounding of 1 / d and of the multiply-add takes away.
struct IntegerMagnitude {
  using Type = int32_t;
  using Item = uint32_t;

  static __device__ __forceinline__ Type of(int32_t x) { return abs(x); }
  // The least that has a quantized coefficient. A multiple of 1/2 less 1/4, rounded up, minds no
  // small errors.
  static __device__ __forceinline__ Type least(float mul) {
    return int32_t(ceilf(0.5f / mul - 0.25f));
  }

  static __device__ __forceinline__ Item pack(Type magnitude, int k) {
    return uint32_t(magnitude + (k << 16));
  }
  static __device__ __forceinline__ Item first_of_block(Item item) { return item | 0x80000000u; }
  static __device__ __forceinline__ bool is_first(Item item) { return int32_t(item) < 0; }
  static __device__ __forceinline__ int k(Item item) { return int(item >> 16 & 63); }
  static __device__ __forceinline__ float term(Item item) {
    return float(int32_t(item & 0xffff)) + 0.25f;
  }

  static __device__ __forceinline__ float qcoef(float term, float mul) {
    return __fmaf_rn(term, mul, 0.5f);
  }
  static __device__ __forceinline__ int32_t signed_qcoef(int32_t x, float mul) {
    const auto magnitude = int32_t(qcoef(float(abs(x)) + 0.25f, mul));
    return x < 0 ? -magnitude : magnitude;
  }
};

// Of the float method, whose quantized coefficients are rounded to the nearest integer, or the
// nearest even one.
struct FloatMagnitude {
  using Type = float;
  using Item = uint2;  // .y: k, and the highest bit in a block's first item

  static __device__ __forceinline__ Type of(float x) { return fabsf(x); }
  // Slightly less than the smallest that has a quantized coefficient.
  static __device__ __forceinline__ Type least(float mul) { return 0.4999f / mul; }

  static __device__ __forceinline__ Item pack(Type magnitude, int k) {
    return make_uint2(__float_as_uint(magnitude), uint32_t(k));
  }
  static __device__ __forceinline__ Item first_of_block(Item item) {
    return make_uint2(item.x, item.y | 0x80000000u);
  }
  static __device__ __forceinline__ bool is_first(Item item) { return int32_t(item.y) < 0; }
  static __device__ __forceinline__ int k(Item item) { return int(item.y & 63); }
  static __device__ __forceinline__ float term(Item item) { return __uint_as_float(item.x); }

  static __device__ __forceinline__ float qcoef(float term, float mul) {
    return FloatDevice::qcoef_of(FloatDevice::rounded(term, mul));
  }
  static __device__ __forceinline__ int32_t signed_qcoef(float x, float mul) {
    return integer_of_rounded(FloatDevice::rounded(x, mul));
  }
};

// ---- Multipliers ----

// As make_forward_table() has them: ifast's divisors are rounded, those of float are not.
struct RateScales {
  double of[64];
};
__device__ __forceinline__ double aan_scale(int i) {
  static constexpr RateScales kScales = [] {
    RateScales scales = {};
    for (int n = 0; n < 64; ++n) scales.of[n] = kAanScale[n / 8] * kAanScale[n % 8];
    return scales;
  }();
  return kScales.of[i];
}
__device__ __forceinline__ uint32_t ifast_divisor(uint32_t q, int i) {
  struct Fixed {
    uint32_t of[64];
  };
  static constexpr Fixed kFixed = [] {
    Fixed fixed = {};
    for (int n = 0; n < 64; ++n)
      fixed.of[n] = uint32_t(16384.0 * (kAanScale[n / 8] * kAanScale[n % 8]) + 0.5);
    return fixed;
  }();
  return uint32_t((uint64_t{q} * kFixed.of[i] + 1024) >> 11);
}

// ---- A method with a quantizer ----

// `Value` is a coefficient as the method has it. Decided quantized coefficients are those of
// eighths and of islow's divisors: see decision.h. DC is none of them, and where it is one of
// AA&N's its scale is 1.
template <typename M, Quantizer kQuantizer>
struct RateMethod {
  static constexpr bool kIsDecided = kQuantizer == Quantizer::kDeadZone;
  static constexpr bool kIsFloat = std::is_same_v<typename M::Value, float>;
  using Value = typename M::Value;
  using OfDc = std::conditional_t<kIsFloat, FloatMagnitude, IntegerMagnitude>;
  using Magnitude = std::conditional_t<kIsDecided, IntegerMagnitude, OfDc>;
  using Item = typename Magnitude::Item;

  // What one candidate does to coefficients of one frequency.
  struct Divisor {
    float mul;
    float least;  // a smaller magnitude is in the dead zone
  };
  static __device__ __forceinline__ Divisor divisor(uint32_t q, int i, int32_t thousandths) {
    const float eighths = 1.0f / float(8 * q);
    if constexpr (kIsDecided)
      return {eighths, float((uint32_t(thousandths) * 8 * q + 999) / 1000)};  // in_dead_zone()
    else if constexpr (std::is_same_v<M, DecidedIslow>)
      return {eighths, 0.0f};
    else if constexpr (kIsFloat)
      return {float(1.0 / (8.0 * aan_scale(i) * q)), 0.0f};
    else
      return {1.0f / float(ifast_divisor(q, i)), 0.0f};
  }

  static __device__ __forceinline__ auto magnitude(Value x, int i) {
    if constexpr (kIsDecided)
      return Magnitude::of(limit_eighths(M::eighths(x, i)));
    else
      return Magnitude::of(x);
  }
  // Smaller magnitudes have no quantized coefficient for this divisor, and so none for larger ones
  // either: a product with 1 / d is rounded to what is nearest, and the dead zone is a part of d.
  static __device__ __forceinline__ auto least(const Divisor& by) {
    const auto least = Magnitude::least(by.mul);
    if constexpr (kIsDecided)
      return max(least, int32_t(by.least));
    else
      return least;
  }
  // Of an item's term. Below 1: the quantized coefficient is zero. Else its magnitude is the
  // integer part.
  static __device__ __forceinline__ float qcoef(float term, const Divisor& by) {
    const float qcoef = Magnitude::qcoef(term, by.mul);
    return kIsDecided && term < by.least ? 0.0f : qcoef;  // an integer and 1/4, and an integer
  }
};

}  // namespace cudatransform::cuda
