// The arithmetic of APV's forward transform and quantizer, for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// s = sample - 2^(depth - 1); rows a = (T s + round) >> (depth - 6); columns c = (T a + 256) >> 9.
// Both are at most 2^14 in size, which the constant blocks of the lowest sample reach. Quantized:
// (|c| factor + round) >> shift with the sign of c, limited to 16 bits.
#pragma once

#include <cstdint>

#include "transform/apv/arithmetic.h"
#include "transform/apv/forward.h"
#include "transform/device/host_device_macros.h"

namespace cudatransform {

inline constexpr int kApvForwardColumnShift = 9;
CT_HD constexpr int apv_forward_row_shift(int depth) { return depth - 6; }
inline constexpr uint32_t kMaxApvCoef = 1 << 14;

// 2^20 over the inverse's scale of a step, rounded.
CT_HD uint32_t apv_quantizer_scale(int qp) {
  const int remainder = qp % 6;
  return remainder < 3 ? (remainder == 0   ? 26214u
                          : remainder == 1 ? 23302u
                                           : 20560u)
                       : (remainder == 3   ? 18396u
                          : remainder == 4 ? 16384u
                                           : 14769u);
}
CT_HD uint32_t apv_quantizer_factor(uint32_t weight, int qp) {
  return apv_quantizer_scale(qp) * 16 / weight;
}
CT_HD int apv_quantizer_shift(int qp, int depth) { return 26 - depth + qp / 6; }
// `rounding` in 1/512 of a step.
CT_HD uint64_t apv_quantizer_round(int rounding, int shift) {
  return static_cast<uint64_t>(rounding) << shift >> 9;
}
CT_HD bool needs_wide_apv_product(uint32_t factor, uint64_t round) {
  return uint64_t{kMaxApvCoef} * factor + round > UINT32_MAX;
}

// `T`: uint32_t or, for wide products, uint64_t.
template <typename T>
CT_HD int32_t apv_quantized(int32_t coef, T factor, T round, int shift) {
  const T size = static_cast<T>(coef < 0 ? -coef : coef);
  const T level = (size * factor + round) >> shift;
  if (coef < 0) return level < 32768 ? -static_cast<int32_t>(level) : -32768;
  return level < 32767 ? static_cast<int32_t>(level) : 32767;
}

// Eight sums of a row or column: v[i * kStride] is position i before and frequency i after.
template <int kStride>
CT_HD void apv_forward_8(int32_t* v) {
  int32_t even[4], odd[4];
  CT_UNROLL
  for (int i = 0; i < 4; ++i) {
    even[i] = v[i * kStride] + v[(7 - i) * kStride];
    odd[i] = v[i * kStride] - v[(7 - i) * kStride];
  }
  const int32_t outer = even[0] + even[3], inner = even[1] + even[2];
  const int32_t outer_slope = even[0] - even[3], inner_slope = even[1] - even[2];
  v[0] = 64 * (outer + inner);
  v[4 * kStride] = 64 * (outer - inner);
  v[2 * kStride] = 84 * outer_slope + 35 * inner_slope;
  v[6 * kStride] = 35 * outer_slope - 84 * inner_slope;
  CT_UNROLL
  for (int j = 1; j < 8; j += 2) {
    v[j * kStride] = apv_basis(j, 0) * odd[0] + apv_basis(j, 1) * odd[1] +
                     apv_basis(j, 2) * odd[2] + apv_basis(j, 3) * odd[3];
  }
}

// Samples less half of their range, row by row, to coefficients.
CT_HD void apv_forward_block(int32_t* v, int depth) {
  const int shift = apv_forward_row_shift(depth), round = 1 << (shift - 1);
  CT_UNROLL
  for (int y = 0; y < 8; ++y) {
    apv_forward_8<1>(v + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x) v[8 * y + x] = (v[8 * y + x] + round) >> shift;
  }
  CT_UNROLL
  for (int x = 0; x < 8; ++x) {
    apv_forward_8<8>(v + x);
    CT_UNROLL
    for (int y = 0; y < 8; ++y) {
      v[8 * y + x] = (v[8 * y + x] + (1 << (kApvForwardColumnShift - 1))) >> kApvForwardColumnShift;
    }
  }
}

}  // namespace cudatransform
