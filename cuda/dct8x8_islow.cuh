// The islow method on the device: libjpeg's integers by the instructions that a GPU has most of.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Between its roundings islow is linear over the integers, so any exact way of computing the same
// sums gives the same bits. Loeffler's flow graph (transform/dct8x8_1d-inl.h) spares
// multiplications; here they cost no more than additions, and the odd half is a plain product with
// the 4x4 matrix that the graph stands for.
#pragma once

#include "cuda/dct8x8_float.cuh"
#include "transform/dct8x8_1d.h"

namespace cudatransform::cuda {

// The even half's rotation and the odd half's matrix in units of 2^-13: sums of the constants of
// islow_forward_1d() and islow_odd_half().
inline constexpr int kEven6270 = 4433 + 6270, kEven4433 = 4433, kEven15137 = 15137 - 4433;
__device__ __forceinline__ constexpr int islow_odd(int i, int k) {
  constexpr int kMatrix[4][4] = {
      // x0 - x7   x1 - x6   x2 - x5   x3 - x4
      {11363, 9633, 6437, 2260},     // frequency 1
      {9633, -2259, -11362, -6436},  // 3
      {6437, -11362, 2261, 9633},    // 5
      {2260, -6436, 9633, -11363},   // 7
  };
  return kMatrix[i][k];
}

__device__ __forceinline__ int dot4(uint32_t bytes, int8_t w0, int8_t w1, int8_t w2, int8_t w3,
                                    int sum) {
  const int weights = int(uint32_t(uint8_t(w0)) | uint32_t(uint8_t(w1)) << 8 |
                          uint32_t(uint8_t(w2)) << 16 | uint32_t(uint8_t(w3)) << 24);
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(weights), "r"(sum));
  return result;
}

// Two neighbouring levels by two quantisation table entries below 256, a multiplication, an
// unpacking and a sign extension each in one instruction. `q` as in FastInverseTable.
__device__ __forceinline__ int dequantize_low(uint32_t levels, uint32_t q) {
  int result;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(levels), "r"(q), "r"(0));
  return result;
}
__device__ __forceinline__ int dequantize_high(uint32_t levels, uint32_t q) {
  int result;
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(levels), "r"(q), "r"(0));
  return result;
}

// Four values, clamped to 0..255.
__device__ __forceinline__ uint32_t four_clamped_bytes(const int* v) {
  uint32_t high, all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(high) : "r"(v[3]), "r"(v[2]), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(v[1]), "r"(v[0]), "r"(high));
  return all;
}

// What is left of `sum` (an integer below 2^24) / 2^11 rounded down, as the bits of 1.5 x 2^23 plus
// that.
__device__ __forceinline__ int descaled_bits(float sum) {
  return __float_as_int(__fmaf_rd(sum, 1.0f / 2048.0f, kRound));
}

// Pass 1 of one row in fp32. Pixels have 8 bits, constants 14, and no sum of products reaches 2^23:
// every fp32 operation below is exact, and rounding towards minus infinity is the arithmetic shift.
// fp32 multiply-adds issue twice as fast as integer ones. All outputs have kRoundBits added.
__device__ __forceinline__ void islow_forward_row(uint2 row, int* out) {
  float v[8];
  FloatDevice::from_bytes(row, v);
  const float s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
  const float d[4] = {v[0] - v[7], v[1] - v[6], v[2] - v[5], v[3] - v[4]};
  const float e2 = s1 - s2, e3 = s0 - s3;
  // The sums of all samples, and of the even pairs less the odd ones, by four.
  out[0] = dot4(row.x, 4, 4, 4, 4, dot4(row.y, 4, 4, 4, 4, kRoundBits));
  out[4] = dot4(row.x, 4, -4, -4, 4, dot4(row.y, 4, -4, -4, 4, kRoundBits));
  constexpr float kHalf = 1024.0f;
  out[2] = descaled_bits(__fmaf_rn(e3, float(kEven6270), __fmaf_rn(e2, float(kEven4433), kHalf)));
  out[6] = descaled_bits(__fmaf_rn(e3, float(kEven4433), __fmaf_rn(e2, float(-kEven15137), kHalf)));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float sum = kHalf;
#pragma unroll
    for (int k = 3; k >= 0; --k) sum = __fmaf_rn(d[k], float(islow_odd(i, k)), sum);
    out[2 * i + 1] = descaled_bits(sum);
  }
}

// Pass 2 of one column of what islow_forward_row() has left; `level_shift` of the first column
// only. The offset kRoundBits cancels in every difference and leaves eight times itself in output
// 0.
template <int kStride>
__device__ __forceinline__ void islow_forward_column(int* v, int level_shift) {
  uint32_t s[4], d_bits[4];  // unsigned, because the offsets overflow
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    s[n] = uint32_t(v[n * kStride]) + uint32_t(v[(7 - n) * kStride]);
    d_bits[n] = uint32_t(v[n * kStride]) - uint32_t(v[(7 - n) * kStride]);
  }
  const uint32_t e0 = s[0] + s[3], e1 = s[1] + s[2];
  const int e2 = int(s[1] - s[2]), e3 = int(s[0] - s[3]);
  constexpr uint32_t kOffset = 8u * uint32_t(kRoundBits);
  v[0 * kStride] = int(e0 + e1 + (2u - kOffset - uint32_t(4 * 64 * level_shift))) >> 2;
  v[4 * kStride] = int(e0 - e1 + 2u) >> 2;
  constexpr int kHalf = 1 << 14;
  v[2 * kStride] = (e3 * kEven6270 + (e2 * kEven4433 + kHalf)) >> 15;
  v[6 * kStride] = (e3 * kEven4433 + (e2 * -kEven15137 + kHalf)) >> 15;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int sum = kHalf;
#pragma unroll
    for (int k = 3; k >= 0; --k) sum = int(d_bits[k]) * islow_odd(i, k) + sum;
    v[(2 * i + 1) * kStride] = sum >> 15;
  }
}

// Both passes of the inverse: see islow_inverse_1d().
template <int kStride, int kPass>
__device__ __forceinline__ void islow_inverse_direct(int* v, int offset) {
  constexpr int kDescale = kPass == 1 ? 13 - 2 : 13 + 2 + 3;
  const int dc = v[0 * kStride] * 8192 + ((1 << (kDescale - 1)) + (offset << kDescale));
  const int sum = v[4 * kStride] * 8192 + dc, difference = v[4 * kStride] * -8192 + dc;
  const int low = v[2 * kStride] * kEven6270 + v[6 * kStride] * kEven4433;
  const int high = v[2 * kStride] * kEven4433 + v[6 * kStride] * -kEven15137;
  const int even[4] = {sum + low, difference + high, difference - high, sum - low};
  const int odd[4] = {v[1 * kStride], v[3 * kStride], v[5 * kStride], v[7 * kStride]};
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    int rotated = odd[0] * islow_odd(0, n);
#pragma unroll
    for (int i = 1; i < 4; ++i) rotated += odd[i] * islow_odd(i, n);
    v[n * kStride] = (even[n] + rotated) >> kDescale;
    v[(7 - n) * kStride] = (even[n] - rotated) >> kDescale;
  }
}

// Whether the levels of a warp, eight groups of eight to a lane, could make islow saturate: a
// dequantised value beyond 16 bits, or a result of pass 1. `limit` holds, for each place in a
// group, the largest level that certainly does not. With |DC x q| <= 2048 and |AC x q| <= 949 no
// output of pass 1 exceeds 4 x (2048 + 949 x 6.4725) = 32763: 6.4725 is the sum of a column's seven
// AC gains. Blocks of 8-bit samples have |AC| <= 928 before they are quantised, so real pictures
// hardly ever get there; a warp that does takes the way with saturation.
template <int kGroups>
__device__ __forceinline__ bool exceeds_limits(const uint4* groups, uint4 limit) {
  const uint32_t limits[4] = {limit.x, limit.y, limit.z, limit.w};
  uint32_t beyond = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const auto word = [&](int g) {
      const uint4& w = groups[g < kGroups ? g : kGroups - 1];
      return i == 0 ? w.x : i == 1 ? w.y : i == 2 ? w.z : w.w;
    };
    uint32_t high = word(0), low = high;
#pragma unroll
    for (int g = 1; g < kGroups; g += 2) {
      high = __vimax3_s16x2(high, word(g), word(g + 1));
      low = __vimin3_s16x2(low, word(g), word(g + 1));
    }
    beyond |= __vmins2(high, limits[i]) ^ high;
    beyond |= __vmaxs2(low, __vneg2(limits[i])) ^ low;
  }
  return __any_sync(0xffffffffu, beyond != 0);
}

}  // namespace cudatransform::cuda
