// Eight coefficients of a thread from one kind of number to another.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <type_traits>

#include "transform/coeffilter/numbers.h"

namespace cudatransform::cuda {

// Eight numbers in words in memory order: compilers keep 16-bit numbers in a register each, and
// would unpack them where branches join.
template <typename Number>
struct Packed {
  static constexpr int kWords = 2 * sizeof(Number);

  alignas(16) uint32_t words[kWords];

  // Of one way, `i` known to the compiler.
  __device__ __forceinline__ Number at(int i) const {
    if constexpr (sizeof(Number) == 4)
      return bits_as<Number>(words[i]);
    else
      return bits_as<Number>(static_cast<uint16_t>(words[i / 2] >> (i % 2 * 16)));
  }
  // Where there is zero.
  __device__ __forceinline__ void put(int i, Number number) {
    if constexpr (sizeof(Number) == 4)
      words[i] = bits_as<uint32_t>(number);
    else
      words[i / 2] |= uint32_t{bits_as<uint16_t>(number)} << (i % 2 * 16);
  }

  __device__ __forceinline__ void load(const void* from) {
#pragma unroll
    for (int i = 0; i < kWords / 4; ++i) {
      const uint4 four = static_cast<const uint4*>(from)[i];
      words[4 * i] = four.x;
      words[4 * i + 1] = four.y;
      words[4 * i + 2] = four.z;
      words[4 * i + 3] = four.w;
    }
  }
  __device__ __forceinline__ void store(void* to) const {
#pragma unroll
    for (int i = 0; i < kWords / 4; ++i)
      static_cast<uint4*>(to)[i] = {words[4 * i], words[4 * i + 1], words[4 * i + 2],
                                    words[4 * i + 3]};
  }
};

// The words of eight pairs from two eights, a pair each: number i of the one and of the other.
template <typename Number>
struct alignas(2 * sizeof(Number)) Pair {
  uint32_t words[sizeof(Number) / 2];

  __device__ __forceinline__ static Pair of(const Packed<Number>& a, const Packed<Number>& b,
                                            int i) {
    if constexpr (sizeof(Number) == 4)
      return {a.words[i], b.words[i]};
    else
      return {__byte_perm(a.words[i / 2], b.words[i / 2], i % 2 == 0 ? 0x5410 : 0x7632)};
  }
  // Pairs of numbers 2 w and 2 w + 1 become words of both eights.
  __device__ __forceinline__ static void split(const Pair& even, const Pair& odd, int w,
                                               Packed<Number>* a, Packed<Number>* b) {
    if constexpr (sizeof(Number) == 4) {
      a->words[2 * w] = even.words[0];
      b->words[2 * w] = even.words[1];
      a->words[2 * w + 1] = odd.words[0];
      b->words[2 * w + 1] = odd.words[1];
    } else {
      a->words[w] = __byte_perm(even.words[0], odd.words[0], 0x5410);
      b->words[w] = __byte_perm(even.words[0], odd.words[0], 0x7632);
    }
  }
};

// Levels of 16 bits become halves as floats: kLevelBias plus a level of either sign is a float
// whose bits one instruction computes. The product and the sum of bias and quantized coefficient by
// a divisor round once, and are exact below 2^24. Larger values are too large for a half.
inline constexpr float kLevelBias = 8388608 + 32768;

// A divisor whose product with the bias a float holds: that has 24 bits, of which the bias takes 9,
// so 16 bits are too many from 65281 on. There the half is the same if the divisor is one, or
// 65536 for those that are too large: only quantized coefficients of -1, 0 and 1 have halves.
__device__ __forceinline__ float half_factor(uint16_t divisor) {
  if (divisor <= 65280) return divisor;
  if (divisor >= 65520) return 65536;
  return float_of_number(static_cast<Half>(nearest_half(divisor)));
}

// The factor of a quantized coefficient. Tables are filled with it.
template <typename From, typename To>
using Factor = std::conditional_t<std::is_same_v<From, Qcoef16> && std::is_same_v<To, ValueF16>,
                                  float, uint16_t>;

template <typename From, typename To>
__device__ __forceinline__ Factor<From, To> factor_of(uint16_t divisor) {
  if constexpr (std::is_same_v<Factor<From, To>, float>)
    return half_factor(divisor);
  else
    return divisor;
}

// Whether a number becomes a half by way of a float that is exact, or too large.
template <typename From, typename To>
inline constexpr bool kByFloat = std::is_same_v<To, ValueF16> && !std::is_same_v<From, ValueF16> &&
                                 !std::is_same_v<From, Qcoef32>;

// Numbers 2 w and 2 w + 1 of eight, as floats, into `floats`.
template <typename From, typename Factors>
__device__ __forceinline__ void two_floats(const Packed<typename From::Stored>& from,
                                           const Factors& factors, int w, float floats[2]) {
  if constexpr (std::is_same_v<From, Qcoef16>) {
    // Zero is in the middle of 16 bits without a sign.
    const uint32_t word = from.words[w] ^ 0x80008000u;
    floats[0] = __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7610));
    floats[1] = __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7632));
    for (int i = 0; i < 2; ++i)
      floats[i] = __fmaf_rn(floats[i], factors.at[2 * w + i],
                            __fmul_rn(factors.at[2 * w + i], -kLevelBias));
  } else {
    for (int i = 0; i < 2; ++i) floats[i] = static_cast<float>(from.at(2 * w + i));
  }
}

// The nearest halves of two numbers below 65520, one after the other.
__device__ __forceinline__ uint32_t nearest_halves(float first, float second) {
#if __CUDA_ARCH__ >= 800
  uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
  return result;
#else
  return nearest_half(second) << 16 | nearest_half(first);
#endif
}

// Returns false if one of eight is too large for a half, or may be: then `to` is not to be used.
template <typename From, typename Factors>
__device__ __forceinline__ bool halves_of(const Packed<typename From::Stored>& from,
                                          const Factors& factors, Packed<Half>* to) {
  float sum = 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    float floats[2];
    two_floats<From>(from, factors, w, floats);
    sum += fabsf(floats[0]) + fabsf(floats[1]);
    to->words[w] = nearest_halves(floats[0], floats[1]);
  }
  return sum < 65520;  // not if it is none
}

// Counts those that are saturated.
template <typename From, typename To, typename Factors>
__device__ __forceinline__ Packed<typename To::Stored> converted_eight(
    const Packed<typename From::Stored>& from, const Factors& factors, uint32_t* saturated) {
  Packed<typename To::Stored> to = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if constexpr (std::is_same_v<Factor<From, To>, float>)
      to.put(i, half_of(from.at(i) * factors.at[i], saturated));
    else
      to.put(i, converted<From, To>(from.at(i), factors.at[i], saturated));
  }
  return to;
}

}  // namespace cudatransform::cuda
