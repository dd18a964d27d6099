// The float method on the device: AA&N in fp32 with multiply-adds, conversions without conversion
// instructions.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rounding is done by adding 1.5 x 2^23: an fp32 of that size has no fraction bits, so the addition
// itself rounds (half to even) and the low mantissa bits are the integer, in two's complement.
// Samples come out of the inverse divided by the peak, so that the last addition's free saturation
// clamps to [0, peak].
//
// The CPU's `float` is within 1 of this, not the same: FloatShort
// (simd_short_rows-inl.h) and FloatVector (simd_methods-inl.h), or the portable FloatMethod
// (block.h), take the original flow graph, aan_forward_1d() and aan_inverse_1d(), all in
// transform/dct8x8/.
#pragma once

#include <cstdint>

#include "transform/dct8x8/1d.h"

namespace cudatransform::cuda {

inline constexpr float kRound = 12582912.0f;       // 1.5 x 2^23
inline constexpr int32_t kRoundBits = 0x4B400000;  // its bits

// The integer in the low 16 bits (of S16 and U16) or in all of them.
__device__ __forceinline__ int32_t bits_of_rounded(float x) { return __float_as_int(x); }
__device__ __forceinline__ int32_t integer_of_rounded(float x) {
  return __float_as_int(x) - kRoundBits;
}

// An integer below 2^22 as a float. The addition of bits becomes one with the shift that made the
// integer; a conversion would be a separate instruction, at a quarter of the rate.
__device__ __forceinline__ float float_of_small(int32_t n) {
  return __int_as_float(n + kRoundBits) - kRound;
}

// The low 16 bits of two words as one.
__device__ __forceinline__ uint32_t pair_of(int32_t low, int32_t high) {
  return __byte_perm(uint32_t(low), uint32_t(high), 0x5410);
}

struct FloatDevice {
  using Value = float;

  // Samples (of any depth, with any common offset) to transform values; `dc` is 64 times the
  // level shift plus the offset. All sums for the DC value are integers below 2^24
  // up to a depth of 12 bits, so that it is as if the shift had come first.
  static __device__ __forceinline__ void forward(float* v, float dc) {
#pragma unroll
    for (int y = 0; y < 8; ++y) float_forward_1d<1>(v + 8 * y);
#pragma unroll
    for (int x = 0; x < 8; ++x) float_forward_1d<8>(v + x);
    v[0] -= dc;
  }

  // One row of coefficients by their multipliers and through the row pass. Multiplying is part of
  // the first additions.
  static __device__ __forceinline__ void inverse_row(float* v, const float* mul, float dc) {
    const float x0 = __fmaf_rn(v[0], mul[0], dc), x1 = v[1] * mul[1];
    const float x2 = v[2] * mul[2], x3 = v[3] * mul[3];
    float_inverse_1d_from<1>(
        __fmaf_rn(v[4], mul[4], x0), __fmaf_rn(-v[4], mul[4], x0), __fmaf_rn(v[6], mul[6], x2),
        __fmaf_rn(-v[6], mul[6], x2), __fmaf_rn(v[5], mul[5], x3), __fmaf_rn(v[5], mul[5], -x3),
        __fmaf_rn(v[7], mul[7], x1), __fmaf_rn(-v[7], mul[7], x1), v, [](float x) { return x; });
  }
  // Columns, `kStride` values from one row to the next. The results are normalized, and saturated
  // to [0, 1] where kClamp.
  template <int kStride, bool kClamp>
  static __device__ __forceinline__ void inverse_column(float* v) {
    float_inverse_1d<kStride>(v, [](float x) { return kClamp ? __saturatef(x) : x; });
  }
  template <bool kClamp>
  static __device__ __forceinline__ void inverse(float* v, const float* mul, float dc) {
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      float row[8];
#pragma unroll
      for (int x = 0; x < 8; x += 2) {
        const float2 pair = *reinterpret_cast<const float2*>(mul + 8 * y + x);
        row[x] = pair.x;
        row[x + 1] = pair.y;
      }
      inverse_row(v + 8 * y, row, y == 0 ? dc : 0.0f);
    }
#pragma unroll
    for (int x = 0; x < 8; ++x) inverse_column<8, kClamp>(v + x);
  }

  // A normalized, saturated value as a sample in the low 16 bits.
  static __device__ __forceinline__ int32_t sample_bits(float x, float peak) {
    return __float_as_int(__fmaf_rn(x, peak, 8388608.0f));  // 2^23
  }
  static __device__ __forceinline__ uint32_t four_bytes(const float* v) {
    const uint32_t low = __byte_perm(uint32_t(sample_bits(v[0], 255.0f)),
                                     uint32_t(sample_bits(v[1], 255.0f)), 0x0040);
    const uint32_t high = __byte_perm(uint32_t(sample_bits(v[2], 255.0f)),
                                      uint32_t(sample_bits(v[3], 255.0f)), 0x0040);
    return __byte_perm(low, high, 0x5410);
  }

  // A byte p as 32768 + p: placed in the second byte of the mantissa of 2^15.
  static constexpr float kByteOffset = 32768.0f;
  static __device__ __forceinline__ void from_bytes(uint2 row, float* v) {
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      v[x] = __uint_as_float(
          __byte_perm(x < 4 ? row.x : row.y, 0x47000000u, 0x7404u | uint32_t(x % 4) << 4));
    }
  }

  // ---- Coefficients ----

  static __device__ __forceinline__ float rounded(float x, float mul) {
    return __fmaf_rn(x, mul, kRound);
  }
  static __device__ __forceinline__ float qcoef_of(float rounded) { return rounded - kRound; }
  static __device__ __forceinline__ void from_qcoefs(uint4 words, float* v) {
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      v[2 * i] = float(int16_t(word[i] & 0xffff));
      v[2 * i + 1] = float(int32_t(word[i]) >> 16);
    }
  }
};

}  // namespace cudatransform::cuda
