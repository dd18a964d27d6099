// Whole 8x8 blocks by each method: 64 samples to stored coefficients and back, in local arrays, for
// host and device. The teaching methods are in teaching.h.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A method is a type with
//   Value                            a block's values between the steps
//   forward(v, level_shift)          64 samples (not level shifted) to transform values, in place
//   store<Coef>(x, table, i)         a transform value to the coefficient of natural index i
//   load(c, table, i)                the coefficient back to a transform value
//   inverse(v, level_shift)          transform values to samples, in place, not rounded or clamped
//   sample(x, low, high)             the rounded, clamped sample
// The level shift 2^(depth-1) enters as an offset of the DC value wherever that gives the same
// bits. The GPU has islow in cuda/dct8x8/islow.cuh for the fast kernels and from here for the
// general ones, float in cuda/dct8x8/float.cuh, and the rest from here. Floating methods run rows,
// then columns, in both directions; the integer ones as libjpeg does.
#pragma once

#include <cstdint>

#include "transform/dct8x8/1d.h"
#include "transform/dct8x8/constants.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quantizer.h"
#include "transform/device/host_device_macros.h"

namespace cudatransform {

// Shared by the methods with the same kind of value.
struct IntegerValues {
  using Value = int32_t;
  template <typename Coef>
  static CT_HD Coef store(int32_t x, const ForwardTable& table, int i) {
    return store_integer<Coef>(x, table.mul[i], table.half[i]);
  }
  template <typename Coef>
  static CT_HD int32_t load(Coef c, const InverseTable& table, int i) {
    return dequantize_integer(integer_of(c), table.imul[i], table.round, table.shift);
  }
  static CT_HD int32_t sample(int32_t x, int32_t low, int32_t high) {
    return clamp_int(x, low, high);
  }
};

struct FloatValues {
  using Value = float;
  template <typename Coef>
  static CT_HD Coef store(float x, const ForwardTable& table, int i) {
    return store_float<Coef>(x, table.mul[i]);
  }
  template <typename Coef>
  static CT_HD float load(Coef c, const InverseTable& table, int i) {
    return float(c) * table.mul[i];
  }
  static CT_HD int32_t sample(float x, int32_t low, int32_t high) {
    return round_clamped(x, float(low), float(high));
  }
};

struct IslowMethod : IntegerValues {
  static CT_HD void forward(int32_t* v, int level_shift) {
    CT_UNROLL
    for (int y = 0; y < 8; ++y) islow_forward_1d<1, 1>(v + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x) islow_forward_1d<8, 2>(v + x);
    v[0] -= 64 * level_shift;
  }
  static CT_HD void inverse(int32_t* v, int level_shift) {
    CT_UNROLL
    for (int x = 0; x < 8; ++x) islow_inverse_1d<8, 1>(v + x, 0);
    CT_UNROLL
    for (int y = 0; y < 8; ++y) islow_inverse_1d<1, 2>(v + 8 * y, level_shift);
  }
};

// islow of 12 bits. Value is as in IslowMethod, so that the general kernels handle both.
struct Islow12Method : IntegerValues {
  static CT_HD void forward(int32_t* v, int level_shift) {
    Wrapping w[64];
    CT_UNROLL
    for (int i = 0; i < 64; ++i) w[i] = {uint32_t(v[i])};
    CT_UNROLL
    for (int y = 0; y < 8; ++y) islow_forward_1d<1, 1, 1>(w + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x) islow_forward_1d<8, 2, 1>(w + x);
    CT_UNROLL
    for (int i = 0; i < 64; ++i) v[i] = int32_t(w[i].bits);
    v[0] -= 64 * level_shift;
  }
  static CT_HD void inverse(int32_t* v, int level_shift) {
    Wrapping w[64];
    CT_UNROLL
    for (int i = 0; i < 64; ++i) w[i] = {uint32_t(v[i])};
    CT_UNROLL
    for (int x = 0; x < 8; ++x) islow_inverse_1d<8, 1, 1>(w + x, 0);
    CT_UNROLL
    for (int y = 0; y < 8; ++y) islow_inverse_1d<1, 2, 1>(w + 8 * y, level_shift);
    CT_UNROLL
    for (int i = 0; i < 64; ++i) v[i] = int32_t(w[i].bits);
  }
};

struct IfastMethod : IntegerValues {
  static CT_HD void forward(int32_t* v, int level_shift) {
    CT_UNROLL
    for (int y = 0; y < 8; ++y) aan_forward_1d<1>(v + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x) aan_forward_1d<8>(v + x);
    v[0] -= 64 * level_shift;
    CT_UNROLL
    for (int i = 0; i < 64; ++i) v[i] = wrap16(v[i]);
  }
  // Coefficients have two fraction bits and sqrt(8) from each pass on input: five bits in all.
  static CT_HD void inverse(int32_t* v, int level_shift) {
    CT_UNROLL
    for (int x = 0; x < 8; ++x) aan_inverse_1d<8>(v + x);
    CT_UNROLL
    for (int y = 0; y < 8; ++y) aan_inverse_1d<1>(v + 8 * y);
    CT_UNROLL
    for (int i = 0; i < 64; ++i) v[i] = (wrap16(v[i]) >> 5) + level_shift;
  }
};

struct FloatMethod : FloatValues {
  static CT_HD void forward(float* v, int level_shift) {
    CT_UNROLL
    for (int y = 0; y < 8; ++y) aan_forward_1d<1>(v + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x) aan_forward_1d<8>(v + x);
    // All sums for the DC value are integers below 2^22: as if the shift had come first.
    v[0] -= 64.0f * float(level_shift);
  }
  static CT_HD void inverse(float* v, int level_shift) {
    v[0] += float(level_shift);  // AA&N's DC factor is 1
    CT_UNROLL
    for (int y = 0; y < 8; ++y) aan_inverse_1d<1>(v + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x) aan_inverse_1d<8>(v + x);
  }
};

// The definition, in double precision:
//   F(u, v) = 1/4 C(u) C(v) sum_x sum_y f(x, y) cos((2x+1) u pi/16) cos((2y+1) v pi/16),
//   C(0) = sqrt(1/2), else 1. The double sum is taken over rows first. C(u) C(v) / 4 comes last, so
//   that DC, where it is exactly 1/8, has no rounding error at all.
struct ReferenceMethod {
  using Value = double;
  static CT_HD double norm(int u, int v) {
    return u == 0 && v == 0 ? 0.125 : u == 0 || v == 0 ? 0.25 * cosine_matrix<double>(4, 0) : 0.25;
  }
  static CT_HD void forward(double* f, int level_shift) {
    double rows[64];
    for (int y = 0; y < 8; ++y) {
      for (int u = 0; u < 8; ++u) {
        double sum = 0.0;
        for (int x = 0; x < 8; ++x) {
          sum += (f[8 * y + x] - level_shift) * cosine_matrix<double>(u, x);
        }
        rows[8 * y + u] = sum;
      }
    }
    for (int v = 0; v < 8; ++v) {
      for (int u = 0; u < 8; ++u) {
        double sum = 0.0;
        for (int y = 0; y < 8; ++y) sum += rows[8 * y + u] * cosine_matrix<double>(v, y);
        f[8 * v + u] = norm(u, v) * sum;
      }
    }
  }
  static CT_HD void inverse(double* f, int level_shift) {
    double rows[64];
    for (int v = 0; v < 8; ++v) {
      for (int x = 0; x < 8; ++x) {
        double sum = 0.0;
        for (int u = 0; u < 8; ++u) {
          sum += norm(u, v) * f[8 * v + u] * cosine_matrix<double>(u, x);
        }
        rows[8 * v + x] = sum;
      }
    }
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
        double sum = 0.0;
        for (int v = 0; v < 8; ++v) sum += rows[8 * v + x] * cosine_matrix<double>(v, y);
        f[8 * y + x] = sum + level_shift;
      }
    }
  }
  template <typename Coef>
  static CT_HD Coef store(double x, const ForwardTable& table, int i) {
    return store_double<Coef>(x, double(table.mul[i]));
  }
  template <typename Coef>
  static CT_HD double load(Coef c, const InverseTable& table, int i) {
    return double(c) * double(table.mul[i]);
  }
  static CT_HD int32_t sample(double x, int32_t low, int32_t high) {
    return round_away_clamped(x, low, high);
  }
};

// 64 samples to 64 stored coefficients in natural order. `v` holds the samples and is used up.
template <typename M, typename Coef>
CT_HD void forward_block(typename M::Value* v, const ForwardTable& table, int level_shift,
                         Coef* coefs) {
  M::forward(v, level_shift);
  CT_UNROLL
  for (int i = 0; i < 64; ++i) coefs[i] = M::template store<Coef>(v[i], table, i);
}

// 64 stored coefficients in natural order to samples that M::sample() still has to round and clamp.
template <typename M, typename Coef>
CT_HD void inverse_block(const Coef* coefs, const InverseTable& table, int level_shift,
                         typename M::Value* v) {
  CT_UNROLL
  for (int i = 0; i < 64; ++i) v[i] = M::load(coefs[i], table, i);
  M::inverse(v, level_shift);
}

}  // namespace cudatransform
