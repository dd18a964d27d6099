// The arithmetic of APV's inverse transform, and the order of coefficients, for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// d = clip16((coef * weight * scale(qp) + round) >> (depth - 2)), an exact product; columns
// t = clip16((T' d + 64) >> 7); rows r = (T' t + round) >> (20 - depth);
// sample = clip(r + 2^(depth - 1)). Only streams that no encoder makes reach the clips to 16 bits.
#pragma once

#include <cstdint>

#include "transform/apv/apv.h"
#include "transform/device/host_device_macros.h"
#include "transform/samples.h"

namespace cudatransform {

// Position i of the basis function of frequency j, times 64 * sqrt(8).
CT_HD constexpr int16_t apv_basis(int j, int i) {
  constexpr int16_t kBasis[8][8] = {
      {64, 64, 64, 64, 64, 64, 64, 64},     {89, 75, 50, 18, -18, -50, -75, -89},
      {84, 35, -35, -84, -84, -35, 35, 84}, {75, -18, -89, -50, 50, 89, 18, -75},
      {64, -64, -64, 64, 64, -64, -64, 64}, {50, -89, 18, 75, -75, -18, 89, -50},
      {35, -84, 84, -35, -35, 84, -84, 35}, {18, -50, 75, -89, 89, -75, 50, -18}};
  return kBasis[j][i];
}

inline constexpr int kApvColumnShift = 7;
CT_HD constexpr int apv_row_shift(int depth) { return 20 - depth; }
CT_HD constexpr int apv_dequantizer_shift(int depth) { return depth - 2; }

// What a coefficient is multiplied by. A product of more than 31 bits has a result that is clipped;
// limiting the coefficient first gives the same one: at the limit the product is at least
// 2^31 - 2^30 and more than 2^(13 + depth), because no factor is larger than 255 * 71 * 2^16.
struct ApvFactor {
  int32_t factor;
  int32_t low, high;  // limits of the coefficient, inside of 16 bits
};

CT_HD int32_t apv_scale(int qp) {
  const int remainder = qp % 6;
  const int32_t scale = remainder < 3 ? (remainder == 0   ? 40
                                         : remainder == 1 ? 45
                                                          : 51)
                                      : (remainder == 3   ? 57
                                         : remainder == 4 ? 64
                                                          : 71);
  return scale << (qp / 6);
}

CT_HD ApvFactor apv_factor(int weight, int qp, int depth) {
  const int32_t factor = weight * apv_scale(qp);
  const int32_t round = 1 << (apv_dequantizer_shift(depth) - 1);
  const int32_t limit = (INT32_MAX - round) / factor;
  return {factor, limit < 32768 ? -limit : -32768, limit < 32767 ? limit : 32767};
}

CT_HD int32_t apv_dequantized(int32_t coef, const ApvFactor& by, int depth) {
  const int shift = apv_dequantizer_shift(depth);
  const int32_t product = clamp_int(coef, by.low, by.high) * by.factor;
  return clamp_int((product + (1 << (shift - 1))) >> shift, -32768, 32767);
}

// Eight sums of a column or row: v[j * kStride] is frequency j before and position j after.
template <int kStride>
CT_HD void apv_inverse_8(int32_t* v) {
  const int32_t e0 = 64 * (v[0] + v[4 * kStride]), e1 = 64 * (v[0] - v[4 * kStride]);
  const int32_t e2 = 84 * v[2 * kStride] + 35 * v[6 * kStride];
  const int32_t e3 = 35 * v[2 * kStride] - 84 * v[6 * kStride];
  const int32_t even[4] = {e0 + e2, e1 + e3, e1 - e3, e0 - e2};
  int32_t odd[4];
  CT_UNROLL
  for (int i = 0; i < 4; ++i) {
    odd[i] = apv_basis(1, i) * v[kStride] + apv_basis(3, i) * v[3 * kStride] +
             apv_basis(5, i) * v[5 * kStride] + apv_basis(7, i) * v[7 * kStride];
  }
  CT_UNROLL
  for (int i = 0; i < 4; ++i) {
    v[i * kStride] = even[i] + odd[i];
    v[(7 - i) * kStride] = even[i] - odd[i];
  }
}

// Dequantized coefficients, row by row, to samples.
CT_HD void apv_inverse_block(int32_t* v, int depth) {
  CT_UNROLL
  for (int x = 0; x < 8; ++x) {
    apv_inverse_8<8>(v + x);
    CT_UNROLL
    for (int y = 0; y < 8; ++y) {
      const int32_t rounded = (v[8 * y + x] + (1 << (kApvColumnShift - 1))) >> kApvColumnShift;
      v[8 * y + x] = clamp_int(rounded, -32768, 32767);
    }
  }
  const int shift = apv_row_shift(depth);
  const int32_t round = 1 << (shift - 1), middle = 1 << (depth - 1), peak = (1 << depth) - 1;
  CT_UNROLL
  for (int y = 0; y < 8; ++y) {
    apv_inverse_8<1>(v + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x)
      v[8 * y + x] = clamp_int(((v[8 * y + x] + round) >> shift) + middle, 0, peak);
  }
}

// The place in a block, row by row, of coefficient `i` in coding order.
struct ApvScan {
  uint8_t place[64];

  constexpr ApvScan() : place() {
    for (int i = 0, x = 0, y = 0; i < 64; ++i) {
      place[i] = static_cast<uint8_t>(8 * y + x);
      // Diagonals, up and down.
      if ((x + y) % 2 == 0) {
        if (x == 7)
          ++y;
        else if (y == 0)
          ++x;
        else
          ++x, --y;
      } else {
        if (y == 7)
          ++x;
        else if (x == 0)
          ++y;
        else
          --x, ++y;
      }
    }
  }
};

}  // namespace cudatransform
