// The types of coefficients, and their conversions: for the host and the device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <type_traits>

#include "transform/device/host_device_macros.h"

namespace cudatransform {

// A half in memory: its bits. A scalar, so that compilers make vectors of them.
enum class Half : uint16_t {};

template <typename To, typename From>
CT_HD To bits_as(From from) {
  return __builtin_bit_cast(To, from);
}

// `yes` or `no`, on a host without a branch, which would keep compilers from making vectors.
CT_HD uint32_t chosen(bool condition, uint32_t yes, uint32_t no) {
#if defined(__CUDA_ARCH__)
  return condition ? yes : no;
#else
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
#endif
}

// Exact, except for NaN.
CT_HD float float_of_number(Half half) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(static_cast<uint16_t>(half)));
  return result;
#else
  const uint32_t sign = (uint32_t(half) & 0x8000u) << 16;
  const uint32_t magnitude = uint32_t(half) & 0x7fffu;
  // Halves below 2^-14 have no leading one: they are multiples of 2^-24.
  const float small = float(magnitude) * 5.9604644775390625e-8F;
  const uint32_t normal = (magnitude << 13) + (uint32_t{127 - 15} << 23);
  const uint32_t large = chosen(magnitude < 0x7c00u, normal, 0x7f800000u);
  return bits_as<float>(sign | chosen(magnitude < 0x400u, bits_as<uint32_t>(small), large));
#endif
}

// The nearest half, the even one of two, of a number below 65520.
CT_HD uint32_t nearest_half(float value) {
#if defined(__CUDA_ARCH__)
  uint16_t result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
#else
  const auto bits = bits_as<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // 0.5 is 2^23 times the smallest half: the sum rounds to a multiple of that.
  const uint32_t small = bits_as<uint32_t>(bits_as<float>(magnitude) + 0.5F) - 0x3f000000u;
  const uint32_t normal =
      (magnitude - (uint32_t{127 - 15} << 23) + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  return (bits >> 16 & 0x8000u) | chosen(magnitude < 0x38800000u, small, normal);
#endif
}

// NaN becomes the canonical one, here and below.
CT_HD float float_of(Half half) {
  const bool is_number = (uint32_t(half) & 0x7fffu) <= 0x7c00u;
  const auto bits = bits_as<uint32_t>(float_of_number(half));
  return bits_as<float>(chosen(is_number, bits, 0x7fc00000u));
}

// The nearest half. Values that are too large become the largest finite one and increment
// *saturated.
CT_HD Half half_of(float value, uint32_t* saturated) {
  const auto bits = bits_as<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // From 65520 on, half a step above the largest half; after infinity is not-a-number.
  const bool is_large = magnitude >= 0x477ff000u, is_none = magnitude > 0x7f800000u;
  *saturated += uint32_t{is_large} - uint32_t{is_none};
  const uint32_t special = chosen(is_none, 0x7e00u, (bits >> 16 & 0x8000u) | 0x7bffu);
  return static_cast<Half>(chosen(is_large, special, nearest_half(value)));
}

CT_HD Half half_of(int32_t value, uint32_t* saturated) {
#if defined(__CUDA_ARCH__)
  constexpr int32_t kLargest = 65504, kTooLarge = 65520;
  *saturated += value >= kTooLarge || value <= -kTooLarge ? 1u : 0u;
  uint16_t result;
  asm("cvt.rn.f16.s32 %0, %1;" : "=h"(result) : "r"(max(-kLargest, min(value, kLargest))));
  return static_cast<Half>(result);
#else
  // Integers that a float does not hold are too large for a half.
  return half_of(static_cast<float>(value), saturated);
#endif
}

// The nearest integer, the even one of two; the nearest that there is, if it is too large. 0 of
// not-a-number.
CT_HD int32_t int_of(float value, uint32_t* saturated) {
  // The last bit of sums from here on is one: they round.
  constexpr double kRounds = 6755399441055744.0;  // 1.5 * 2^52
  const double exact = value == value ? double(value) : 0.0;
  *saturated += uint32_t{exact > INT32_MAX} + uint32_t{exact < INT32_MIN};
  const double below = exact < INT32_MAX ? exact : double(INT32_MAX);
  const double within = below > INT32_MIN ? below : double(INT32_MIN);
  return static_cast<int32_t>((within + kRounds) - kRounds);
}

// Integers that are too large become the nearest that there is.
CT_HD int32_t int_of(int32_t value, uint32_t*) { return value; }
CT_HD int32_t int_of(int64_t value, uint32_t* saturated) {
  const int64_t within = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
  *saturated += within != value;
  return static_cast<int32_t>(within);
}

// The kinds of numbers: those of conversions. A kind is the type in memory, and whether it is a
// quantized coefficient, next to its divisor.
struct Qcoef16 {
  using Stored = int16_t;
  static constexpr bool kIsQcoef = true;
  using Wide = int32_t;  // holds one more
  static constexpr int32_t kLargest = INT16_MAX;
};
struct Qcoef32 {
  using Stored = int32_t;
  static constexpr bool kIsQcoef = true;
  using Wide = int64_t;
  static constexpr int32_t kLargest = INT32_MAX;
};
struct Value32 {
  using Stored = int32_t;
  static constexpr bool kIsQcoef = false;
};
struct ValueF32 {
  using Stored = float;
  static constexpr bool kIsQcoef = false;
};
struct ValueF16 {
  using Stored = Half;
  static constexpr bool kIsQcoef = false;
};

// The value of a quantized coefficient.
CT_HD int32_t value_of(int16_t qcoef, uint16_t divisor) { return int32_t{qcoef} * divisor; }
CT_HD int64_t value_of(int32_t qcoef, uint16_t divisor) { return int64_t{qcoef} * divisor; }

// The nearest quantized coefficient, that away from zero of two, of an integer of 32 bits or a
// float: quotients of 53 bits are halfway between two quantized coefficients only if exact ones
// are. 0 of not-a-number.
template <typename Qcoef>
CT_HD typename Qcoef::Stored qcoef_of(double value, uint16_t divisor, uint32_t* saturated) {
  const double largest = double(Qcoef::kLargest) + (value < 0 ? 1 : 0);
  const double magnitude = (value < 0 ? -value : value) / divisor + 0.5;
  *saturated += magnitude >= largest + 1 ? 1u : 0u;
  const double within = magnitude < largest ? magnitude : largest;
  const auto qcoef = static_cast<typename Qcoef::Wide>(value == value ? within : 0);
  return static_cast<typename Qcoef::Stored>(value < 0 ? -qcoef : qcoef);
}

// An exact value as one of kind `To`.
template <typename To, typename Value>
CT_HD typename To::Stored stored_as(Value value, uint16_t divisor, uint32_t* saturated) {
  if constexpr (To::kIsQcoef) {
    return qcoef_of<To>(value, divisor, saturated);
  } else if constexpr (std::is_same_v<To, Value32>) {
    return int_of(value, saturated);
  } else if constexpr (std::is_same_v<To, ValueF32>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_same_v<Value, int32_t>) {
    return half_of(value, saturated);
  } else {
    return half_of(static_cast<float>(value), saturated);  // as above
  }
}

// From one kind to another. Quantized coefficients become values, and values quantized
// coefficients, by `divisor`.
template <typename From, typename To>
CT_HD typename To::Stored converted(typename From::Stored from, uint16_t divisor,
                                    uint32_t* saturated) {
  if constexpr (std::is_same_v<From, To>) {
    return from;
  } else if constexpr (From::kIsQcoef) {
    return stored_as<To>(value_of(from, divisor), divisor, saturated);
  } else if constexpr (std::is_same_v<From, ValueF16>) {
    return stored_as<To>(float_of(from), divisor, saturated);
  } else {
    return stored_as<To>(from, divisor, saturated);
  }
}

}  // namespace cudatransform
