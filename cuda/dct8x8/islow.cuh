// The islow method on the device: libjpeg's integers by the instructions that a GPU has most of.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Between its roundings islow is linear over the integers, so any exact way of computing the same
// sums gives the same bits. Loeffler's flow graph (transform/dct8x8/1d-inl.h) spares
// multiplications; here they cost no more than additions, and the odd half is a plain product with
// the 4x4 matrix that the graph stands for. On the CPU: islow_forward_short() and
// islow_inverse_short() (simd_short-inl.h) and IslowVector (simd_methods-inl.h), or the portable
// IslowMethod (block.h), all in transform/dct8x8/.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/dct8x8/fast_params.h"
#include "cuda/dct8x8/float.cuh"
#include "transform/dct8x8/1d.h"

namespace cudatransform::cuda {

// The even half's rotation and the odd half's matrix in units of 2^-13: sums of the constants of
// islow_forward_1d() and islow_odd_half(), named after their values. kEven and kOdd of
// transform/dct8x8/simd_short-inl.h are the same.
inline constexpr int kEven10703 = 4433 + 6270, kEven4433 = 4433, kEven10704 = 15137 - 4433;
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
  return dot4_u8_s8(bytes, weights, sum);
}

// Two neighbouring levels by two quantisation table entries below 256, a multiplication, an
// unpacking and a sign extension each in one instruction. `q` as in FastInverseTable.
__device__ __forceinline__ int dequantize_low(uint32_t levels, uint32_t q) {
  return dot2_s16_u8<false>(levels, q);
}
__device__ __forceinline__ int dequantize_high(uint32_t levels, uint32_t q) {
  return dot2_s16_u8<true>(levels, q);
}

// Four values, clamped to 0..255.
__device__ __forceinline__ uint32_t four_clamped_bytes(const int* v) {
  return pack_clamped(v[1], v[0], pack_clamped(v[3], v[2], 0));
}

// Pass 1 of one row, from its bytes. dp4a adds four of them, each by a weight, so the sums and
// differences of the even half, and the differences of the odd one, come without unpacking.
__device__ __forceinline__ void islow_forward_row(uint2 row, int* out) {
  const uint32_t a = row.x, b = row.y;
  out[0] = dot4(a, 4, 4, 4, 4, dot4(b, 4, 4, 4, 4, 0));
  out[4] = dot4(a, 4, -4, -4, 4, dot4(b, 4, -4, -4, 4, 0));
  const int e3 = dot4(a, 1, 0, 0, -1, dot4(b, -1, 0, 0, 1, 0));
  const int e2 = dot4(a, 0, 1, -1, 0, dot4(b, 0, -1, 1, 0, 0));
  int d0 = dot4(a, 1, 0, 0, 0, dot4(b, 0, 0, 0, -1, 0));
  int d1 = dot4(a, 0, 1, 0, 0, dot4(b, 0, 0, -1, 0, 0));
  int d2 = dot4(a, 0, 0, 1, 0, dot4(b, 0, -1, 0, 0, 0));
  int d3 = dot4(a, 0, 0, 0, 1, dot4(b, -1, 0, 0, 0, 0));
  constexpr int kHalf = 1 << 10;
  out[2] = (e3 * kEven10703 + (e2 * kEven4433 + kHalf)) >> 11;
  out[6] = (e3 * kEven4433 + (e2 * -kEven10704 + kHalf)) >> 11;
  islow_odd_half(d3, d2, d1, d0);  // dp4a shares its pipe with multiplications: few of them here
  out[1] = (d0 + kHalf) >> 11;
  out[3] = (d1 + kHalf) >> 11;
  out[5] = (d2 + kHalf) >> 11;
  out[7] = (d3 + kHalf) >> 11;
}

// Pass 2 of one column. `level_shift`: of the first column only.
template <int kStride>
__device__ __forceinline__ void islow_forward_column(int* v, int level_shift) {
  int s[4], d[4];
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    s[n] = v[n * kStride] + v[(7 - n) * kStride];
    d[n] = v[n * kStride] - v[(7 - n) * kStride];
  }
  const int e0 = s[0] + s[3], e1 = s[1] + s[2], e2 = s[1] - s[2], e3 = s[0] - s[3];
  v[0 * kStride] = (e0 + e1 + (2 - 4 * 64 * level_shift)) >> 2;
  v[4 * kStride] = (e0 - e1 + 2) >> 2;
  constexpr int kHalf = 1 << 14;
  v[2 * kStride] = (e3 * kEven10703 + (e2 * kEven4433 + kHalf)) >> 15;
  v[6 * kStride] = (e3 * kEven4433 + (e2 * -kEven10704 + kHalf)) >> 15;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int sum = kHalf;
#pragma unroll
    for (int k = 3; k >= 0; --k) sum = d[k] * islow_odd(i, k) + sum;
    v[(2 * i + 1) * kStride] = sum >> 15;
  }
}

// Both passes of the inverse: what islow_inverse_1d() (transform/dct8x8/1d-inl.h) computes.
template <int kStride, int kPass>
__device__ __forceinline__ void islow_inverse_direct(int* v, int offset) {
  constexpr int kDescale = kPass == 1 ? 13 - 2 : 13 + 2 + 3;
  const int dc = v[0 * kStride] * 8192 + ((1 << (kDescale - 1)) + (offset << kDescale));
  const int sum = v[4 * kStride] * 8192 + dc, difference = v[4 * kStride] * -8192 + dc;
  const int low = v[2 * kStride] * kEven10703 + v[6 * kStride] * kEven4433;
  const int high = v[2 * kStride] * kEven4433 + v[6 * kStride] * -kEven10704;
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

// The same of whole blocks, each lane's in its registers, row by row: every word has limits of its
// own. A sum that leaves 16 bits has the wrong sign in one of the two and the right one in the
// other.
__device__ __forceinline__ bool block_exceeds_limits(const uint4* rows,
                                                     const FastInverseTable& table,
                                                     const uint32_t* minus_limit) {
  uint32_t above[4] = {}, below[4] = {};
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    const uint32_t words[4] = {rows[y].x, rows[y].y, rows[y].z, rows[y].w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      above[i] = __viaddmax_s16x2(words[i], minus_limit[4 * y + i], above[i]);
      below[i] = __viaddmin_s16x2(words[i], table.limit[4 * y + i], below[i]);
    }
  }
  uint32_t beyond = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) beyond |= above[i] | below[i];
  return __any_sync(0xffffffffu, beyond != 0);
}

}  // namespace cudatransform::cuda
