// Prepares the multipliers of ForwardTable and InverseTable.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/quantizer.h"

#include <algorithm>
#include <cmath>

#include "transform/dct8x8/block.h"
#include "transform/dct8x8/constants.h"

namespace cudatransform {

namespace {

double aan_scale_2d(int i) { return kAanScale[i / 8] * kAanScale[i % 8]; }

// libjpeg's tables for ifast: AA&N's factors in units of 2^-14, then scaled down with rounding.
int64_t ifast_scaled(int q, int i, int bits) {
  const int64_t aan = std::lround(16384.0 * aan_scale_2d(i));
  return (q * aan + (int64_t{1} << (bits - 1))) >> bits;
}

// The factor of coefficient i that ScaledFloat expects in addition to its divisor: the definition's
// factor and, in the 4-point inverse, those that float_half_1d omits. Higher frequencies than the
// scaled inverse uses get 0.
double scaled_factor(int i, int scale) {
  constexpr double kLeftOut[4] = {1.0, kCosine[2], kCosine[4], kCosine[2]};
  const int size = 8 / scale, u = i % 8, v = i / 8;
  if (u >= size || v >= size) return 0.0;
  const double factor = ReferenceMethod::norm(u, v);
  if (size == 4) return factor * kLeftOut[u] * kLeftOut[v];
  // The one cosine of the 2-point inverse is cos(pi / 4).
  return factor * (u == 1 ? kCosine[4] : 1.0) * (v == 1 ? kCosine[4] : 1.0);
}

}  // namespace

ForwardTable make_forward_table(Method method, const QuantTable* table) {
  ForwardTable result = {};
  for (int i = 0; i < 64; ++i) {
    const int q = table != nullptr ? table->q[i] : 1;
    switch (method) {
      case Method::kIslow:
        result.mul[i] = float(1.0 / (8.0 * q));
        result.half[i] = float(4 * q) + 0.5f;
        break;
      case Method::kIfast:
        if (table != nullptr) {
          // Eight times AA&N's factors times q: the scale of the forward transform. At least 1,
          // because the smallest factor, 1247, still rounds up.
          const int64_t divisor = ifast_scaled(q, i, 11);
          result.mul[i] = float(1.0 / double(divisor));
          result.half[i] = float(divisor / 2) + 0.5f;
        } else {
          result.mul[i] = float(1.0 / (8.0 * aan_scale_2d(i)));
          result.half[i] = float(4.0 * aan_scale_2d(i));
        }
        break;
      case Method::kFloat:
        result.mul[i] = float(1.0 / (8.0 * aan_scale_2d(i) * q));
        break;
      case Method::kReference:
        result.mul[i] = float(q);
        break;
      default:
        result.mul[i] = float(1.0 / q);
        break;
    }
  }
  return result;
}

InverseTable make_inverse_table(Method method, const QuantTable* table, int scale) {
  InverseTable result = {};
  for (int i = 0; i < 64; ++i) {
    const int q = table != nullptr ? table->q[i] : 1;
    result.mul[i] = float(q);
    if (method == Method::kFloat && scale == 1) result.mul[i] = float(q * aan_scale_2d(i) / 8.0);
    if (method == Method::kFloat && scale != 1) result.mul[i] = float(q * scaled_factor(i, scale));
    if (method == Method::kIslow) result.imul[i] = q;
    if (method == Method::kIfast) {
      // With two fraction bits. Unquantized, imul keeps all 14 bits and the product is shifted.
      // Larger multipliers than 65535 would saturate every coefficient but zero anyway.
      result.imul[i] = table != nullptr ? int32_t(std::min<int64_t>(ifast_scaled(q, i, 12), 65535))
                                        : int32_t(std::lround(16384.0 * aan_scale_2d(i)));
    }
  }
  if (method == Method::kIfast && table == nullptr) {
    result.round = 1 << 11;
    result.shift = 12;
  }
  return result;
}

}  // namespace cudatransform
