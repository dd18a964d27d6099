// The islow method on the device: libjpeg's integers by the instructions that a GPU has most of.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Between its roundings islow is linear over the integers, so any exact way of computing the same
// sums gives the same bits. Loeffler's flow graph (transform/dct8x8/1d-inl.h) is followed, arranged
// for multiply-adds and for additions of three numbers. A thread that needs half of the outputs
// uses the 4x4 matrix that is equivalent to the graph's odd half. On the CPU: islow_forward_short()
// and islow_inverse_short() (simd_short-inl.h) and IslowVector (simd_methods-inl.h), or the
// portable IslowMethod (block.h), all in transform/dct8x8/.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/dct8x8/float.cuh"
#include "cuda/dct8x8/params.h"
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

// Two neighboring quantized coefficients by two quantization table entries below 256, a
// multiplication, an unpacking and a sign extension each in one instruction. `q` as in
// FastInverseTable.
__device__ __forceinline__ int dequantize_low(uint32_t qcoefs, uint32_t q) {
  return dot2_s16_u8<false>(qcoefs, q);
}
__device__ __forceinline__ int dequantize_high(uint32_t qcoefs, uint32_t q) {
  return dot2_s16_u8<true>(qcoefs, q);
}

// Four values, clamped to 0..255.
__device__ __forceinline__ uint32_t four_clamped_bytes(const int* v) {
  return pack_four_clamped(v[0], v[1], v[2], v[3]);
}

// Sums and differences of a row's mirrored bytes. dp4a adds four of them, each by a weight: nothing
// is unpacked.
struct IslowRow {
  uint32_t a, b;

  template <int kSign>
  __device__ __forceinline__ int dc_or_4() const {
    return dot4(a, 4, 4 * kSign, 4 * kSign, 4, dot4(b, 4, 4 * kSign, 4 * kSign, 4, 0));
  }
  __device__ __forceinline__ int e2() const {
    return dot4(a, 0, 1, -1, 0, dot4(b, 0, -1, 1, 0, 0));
  }
  __device__ __forceinline__ int e3() const {
    return dot4(a, 1, 0, 0, -1, dot4(b, -1, 0, 0, 1, 0));
  }
  __device__ __forceinline__ void differences(int* d) const {
    d[0] = dot4(a, 1, 0, 0, 0, dot4(b, 0, 0, 0, -1, 0));
    d[1] = dot4(a, 0, 1, 0, 0, dot4(b, 0, 0, -1, 0, 0));
    d[2] = dot4(a, 0, 0, 1, 0, dot4(b, 0, -1, 0, 0, 0));
    d[3] = dot4(a, 0, 0, 0, 1, dot4(b, -1, 0, 0, 0, 0));
  }
};

// Frequencies 2 and 6.
template <int kDescale>
__device__ __forceinline__ int islow_forward_2(int e2, int e3) {
  return (e3 * kEven10703 + (e2 * kEven4433 + (1 << (kDescale - 1)))) >> kDescale;
}
template <int kDescale>
__device__ __forceinline__ int islow_forward_6(int e2, int e3) {
  return (e3 * kEven4433 + (e2 * -kEven10704 + (1 << (kDescale - 1)))) >> kDescale;
}

// Frequencies 1, 3, 5 and 7 from the differences of mirrored samples: islow_odd_half(), where the
// product that all outputs share is part of two others.
template <int kDescale, int kStride>
__device__ __forceinline__ void islow_forward_odd(const int* d, int* v) {
  constexpr int kHalf = 1 << (kDescale - 1);
  const int ad = (d[3] + d[0]) * -7373, bc = (d[2] + d[1]) * -20995;
  const int sum_ac = d[3] + d[1], sum_bd = d[2] + d[0];
  const int ac = sum_ac * (9633 - 16069) + (sum_bd * 9633 + kHalf);
  const int bd = sum_bd * (9633 - 3196) + (sum_ac * 9633 + kHalf);
  v[7 * kStride] = (d[3] * 2446 + ad + ac) >> kDescale;
  v[5 * kStride] = (d[2] * 16819 + bc + bd) >> kDescale;
  v[3 * kStride] = (d[1] * 25172 + bc + ac) >> kDescale;
  v[1 * kStride] = (d[0] * 12299 + ad + bd) >> kDescale;
}

// Pass 1 of one row, from its bytes.
__device__ __forceinline__ void islow_forward_row(uint2 bytes, int* out) {
  const IslowRow row{bytes.x, bytes.y};
  out[0] = row.dc_or_4<1>();
  out[4] = row.dc_or_4<-1>();
  const int e2 = row.e2(), e3 = row.e3();
  out[2] = islow_forward_2<11>(e2, e3);
  out[6] = islow_forward_6<11>(e2, e3);
  int d[4];
  row.differences(d);
  islow_forward_odd<11, 1>(d, out);
}
// Four of its results: frequencies 4 kHalf to 4 kHalf + 3.
template <int kHalf>
__device__ __forceinline__ void islow_forward_half_row(uint2 bytes, int* out) {
  const IslowRow row{bytes.x, bytes.y};
  const int e2 = row.e2(), e3 = row.e3();
  out[0] = row.dc_or_4 < kHalf == 0 ? 1 : -1 > ();
  out[2] = kHalf == 0 ? islow_forward_2<11>(e2, e3) : islow_forward_6<11>(e2, e3);
  int d[4];
  row.differences(d);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    int sum = 1 << 10;
#pragma unroll
    for (int k = 3; k >= 0; --k) sum = d[k] * islow_odd(2 * kHalf + i, k) + sum;
    out[2 * i + 1] = sum >> 11;
  }
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
  v[0 * kStride] = (e0 + (e1 + (2 - 4 * 64 * level_shift))) >> 2;
  v[4 * kStride] = (e0 + (2 - e1)) >> 2;
  v[2 * kStride] = islow_forward_2<15>(e2, e3);
  v[6 * kStride] = islow_forward_6<15>(e2, e3);
  islow_forward_odd<15, kStride>(d, v);
}

// The same number, which the compiler takes for another one. So it does not compute a sum with it
// once for two uses: an addition of three numbers takes no longer than one of two.
__device__ __forceinline__ uint32_t apart(uint32_t n) {
  asm("" : "+r"(n));
  return n;
}

// Both passes of the inverse: the values of islow_inverse_1d() (transform/dct8x8/1d-inl.h). Modulo
// 2^32, as intermediate sums may leave the range of the results.
template <int kStride, int kPass>
__device__ __forceinline__ void islow_inverse_direct(int* v, int offset) {
  constexpr int kDescale = kPass == 1 ? 13 - 2 : 13 + 2 + 3;
  const auto in = [&](int i) { return uint32_t(v[i * kStride]); };
  const uint32_t dc = in(0) * 8192 + ((1u << (kDescale - 1)) + (uint32_t(offset) << kDescale));
  const uint32_t sum = in(4) * 8192 + dc, difference = dc - in(4) * 8192;
  const uint32_t e0 = in(6) * kEven4433 + (in(2) * kEven10703 + sum);
  const uint32_t e1 = in(2) * kEven4433 + difference - in(6) * kEven10704;
  const uint32_t e3 = 2 * sum - e0, e2 = 2 * difference - e1;

  const uint32_t sum_ac = in(7) + in(3), sum_bd = in(5) + in(1);
  const uint32_t ad = (in(7) + in(1)) * uint32_t(-7373);
  const uint32_t bc = (in(5) + in(3)) * uint32_t(-20995);
  const uint32_t ac = sum_ac * uint32_t(9633 - 16069) + sum_bd * 9633;
  const uint32_t bd = sum_bd * (9633 - 3196) + sum_ac * 9633;
  const uint32_t o0 = in(1) * 12299 + ad, o1 = in(3) * 25172 + bc;
  const uint32_t o2 = in(5) * 16819 + bc, o3 = in(7) * 2446 + ad;
  const uint32_t n0 = apart(o0), n1 = apart(o1), n2 = apart(o2), n3 = apart(o3);

  const auto out = [&](int i, uint32_t x) { v[i * kStride] = int32_t(x) >> kDescale; };
  out(0, e0 + o0 + bd);
  out(7, e0 - n0 - bd);
  out(1, e1 + o1 + ac);
  out(6, e1 - n1 - ac);
  out(2, e2 + o2 + bd);
  out(5, e2 - n2 - bd);
  out(3, e3 + o3 + ac);
  out(4, e3 - n3 - ac);
}

// Whether the quantized coefficients of a warp, eight groups of eight to a lane, could make islow
// saturate: a dequantized value beyond 16 bits, or a result of pass 1. `limit` holds, for each
// place in a group, the largest quantized coefficient that certainly does not. With |DC x q| <=
// 2048 and |AC x q| <= 949 no output of pass 1 exceeds 4 x (2048 + 949 x 6.4725) = 32763: 6.4725 is
// the sum of a column's seven AC gains. Blocks of 8-bit samples have |AC| <= 928 before they are
// quantized, so real pictures rarely exceed it; a warp that does takes the path with saturation.
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
  return __any_sync(kAllLanes, beyond != 0);
}

// The same of whole blocks, each lane's in its registers, row by row: every word has its own
// limits. A sum that leaves 16 bits has the wrong sign in one of the two and the right one in the
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
  return __any_sync(kAllLanes, beyond != 0);
}

}  // namespace cudatransform::cuda
