// The inverse at 1/2, 1/4 and 1/8 of the size: coefficients of a block to 4x4, 2x2 or 1 samples, in
// local arrays, for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Two methods of downscaling from coefficients:
//   islow             libjpeg's scaled integer inverses: every sample is the mean of the 4, 16
//                     or 64 samples that the full inverse has in its place, before they are
//                     clamped
//   float, reference  the lowest 4x4, 2x2 or 1 frequencies through an orthonormal inverse of as
//                     many points: a low-pass filter at the new picture's own limit. The
//                     definition is
//                       f(x, y) = N/8 sum_(u, v < N) a(u) a(v) F(u, v) cos((2x+1) u pi / 2N)
//                                                                     cos((2y+1) v pi / 2N),
//                     N = 8 / scale, a(0) = sqrt(1/N), else sqrt(2/N)
// At 1/8 both are F(0, 0) / 8. The second reads less memory: the upper left corner of a block.
//
// A method is a type as in block.h, with a few differences: uses(k) returns which rows and
// columns of frequencies the result depends on: v[8 * v + u] with uses(u) and uses(v). inverse()
// writes sample (x, y) to v[8 * y + x]. Passes run over columns first, then rows.
#pragma once

#include <cstdint>

#include "transform/dct8x8/1d.h"
#include "transform/dct8x8/block.h"
#include "transform/dct8x8/constants.h"
#include "transform/device/host_device_macros.h"

namespace cudatransform {

CT_HD int32_t limit14(int32_t x) { return clamp_int(x, -16384, 16384); }

#include "transform/dct8x8/scaled_1d-inl.h"

// One pass of libjpeg's over a column or row, to 4 or 2 values.
template <int kSize, int kStride, int kPass, int kBits, bool kLimit, typename T>
CT_HD void scaled_islow_1d(T* v, int offset) {
  if constexpr (kSize == 4)
    islow_half_1d<kStride, kPass, kBits, kLimit>(v, offset);
  else
    islow_quarter_1d<kStride, kPass, kBits, kLimit>(v, offset);
}

template <int kSize>
struct ScaledIslow : IntegerValues {
  static CT_HD constexpr bool uses(int k) {
    return kSize == 4 ? k != 4 : kSize == 2 ? k == 0 || k % 2 == 1 : k == 0;
  }
  // Dequantized values up to these meet limit14() nowhere: the most that pass 1 makes of them is
  // 4 x 1152 + 15.021 x 784 = 16384, at half size, where 15.021 is the sum of a column's AC gains.
  // 8-bit samples have |DC| <= 1024, and rounding to a table entry of 255 adds 128 at most.
  static constexpr int kLargestDc = 1152, kLargestAc = 784;
  template <typename Coef>
  static CT_HD int32_t load(Coef c, const InverseTable& table, int i) {
    return limit14(IntegerValues::load(c, table, i));
  }
  static CT_HD void inverse(int32_t* v, int level_shift) {
    if constexpr (kSize == 1) {
      v[0] = ((v[0] + 4) >> 3) + level_shift;
    } else {
      columns<true>(v);
      rows(v, level_shift);
    }
  }
  template <bool kLimit>
  static CT_HD void columns(int32_t* v) {
    // All columns, so that compilers make vectors of them, or drop those that are not read.
    CT_UNROLL
    for (int x = 0; x < 8; ++x) column<8, kLimit>(v + x);
  }
  template <int kStride, bool kLimit>
  static CT_HD void column(int32_t* v) {
    scaled_islow_1d<kSize, kStride, 1, 2, kLimit>(v, 0);
  }
  static CT_HD void rows(int32_t* v, int level_shift) {
    CT_UNROLL
    for (int y = 0; y < kSize; ++y) scaled_islow_1d<kSize, 1, 2, 2, false>(v + 8 * y, level_shift);
  }
};

// islow of 12 bits. Value is as in ScaledIslow, so that the general kernels handle both.
template <int kSize>
struct ScaledIslow12 : IntegerValues {
  static CT_HD constexpr bool uses(int k) { return ScaledIslow<kSize>::uses(k); }
  static CT_HD void inverse(int32_t* v, int level_shift) {
    Wrapping w[64];
    CT_UNROLL
    for (int i = 0; i < 64; ++i) w[i] = {uint32_t(v[i])};
    CT_UNROLL
    for (int x = 0; x < 8; ++x) scaled_islow_1d<kSize, 8, 1, 1, false>(w + x, 0);
    CT_UNROLL
    for (int y = 0; y < kSize; ++y) scaled_islow_1d<kSize, 1, 2, 1, false>(w + 8 * y, level_shift);
    CT_UNROLL
    for (int i = 0; i < 8 * kSize; ++i) v[i] = int32_t(w[i].bits);
  }
};
// What limit14() clips is black or white anyway, if samples are unsigned.
template <>
struct ScaledIslow12<1> : ScaledIslow<1> {};

template <int kSize>
struct ScaledFloat : FloatValues {
  static CT_HD constexpr bool uses(int k) { return k < kSize; }
  static CT_HD void inverse(float* v, int level_shift) {
    v[0] += float(level_shift);
    CT_UNROLL
    for (int x = 0; x < kSize; ++x) {
      if constexpr (kSize == 4) float_half_1d<8>(v + x);
      if constexpr (kSize == 2) float_quarter_1d<8>(v + x);
    }
    CT_UNROLL
    for (int y = 0; y < kSize; ++y) {
      if constexpr (kSize == 4) float_half_1d<1>(v + 8 * y);
      if constexpr (kSize == 2) float_quarter_1d<1>(v + 8 * y);
    }
  }
};

// cos((2n + 1) k pi / 2N): frequency k at sample n.
template <int kSize>
CT_HD constexpr Matrix8x8<double> make_scaled_cosines() {
  Matrix8x8<double> matrix{};
  for (int k = 0; k < kSize; ++k) {
    for (int n = 0; n < kSize; ++n)
      matrix.m[k][n] = cosine_sixteenth((2 * n + 1) * k * (8 / kSize));
  }
  return matrix;
}
template <int kSize>
CT_HD double scaled_cosine(int k, int n) {
  static constexpr Matrix8x8<double> kTable = make_scaled_cosines<kSize>();
  return kTable.m[k][n];
}

// The definition, in double precision. N/8 a(u) a(v) does not depend on N and is ReferenceMethod's
// norm(): 1/8 for DC, 1/4 for u, v > 0.
template <int kSize>
struct ScaledReference : ReferenceMethod {
  static CT_HD constexpr bool uses(int k) { return k < kSize; }
  static CT_HD void inverse(double* f, int level_shift) {
    double columns[kSize * kSize];
    CT_UNROLL
    for (int u = 0; u < kSize; ++u) {
      CT_UNROLL
      for (int y = 0; y < kSize; ++y) {
        double sum = 0.0;
        CT_UNROLL
        for (int v = 0; v < kSize; ++v)
          sum += norm(u, v) * f[8 * v + u] * scaled_cosine<kSize>(v, y);
        columns[kSize * y + u] = sum;
      }
    }
    CT_UNROLL
    for (int y = 0; y < kSize; ++y) {
      CT_UNROLL
      for (int x = 0; x < kSize; ++x) {
        double sum = 0.0;
        CT_UNROLL
        for (int u = 0; u < kSize; ++u) sum += columns[kSize * y + u] * scaled_cosine<kSize>(u, x);
        f[8 * y + x] = sum + level_shift;
      }
    }
  }
};

}  // namespace cudatransform
