// The transforms of APV by matrices, in 64 bits: what the tests of engines and of the encoder
// compare with.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "transform/apv/forward.h"

namespace cudatransform::test {

inline constexpr int64_t kApvMatrix[8][8] = {
    {64, 64, 64, 64, 64, 64, 64, 64},     {89, 75, 50, 18, -18, -50, -75, -89},
    {84, 35, -35, -84, -84, -35, 35, 84}, {75, -18, -89, -50, 50, 89, 18, -75},
    {64, -64, -64, 64, 64, -64, -64, 64}, {50, -89, 18, 75, -75, -18, 89, -50},
    {35, -84, 84, -35, -35, 84, -84, 35}, {18, -50, 75, -89, 89, -75, 50, -18}};
inline constexpr int kApvScanOrder[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

inline int64_t apv_shifted(int64_t value, int bits) {
  return (value + (int64_t{1} << (bits - 1))) >> bits;
}

// Samples row by row to coefficients in coding order, unless `by` is null quantized.
inline std::array<int16_t, 64> define_apv_forward(const int* samples, int depth,
                                                  const ApvQuantization* by) {
  constexpr int64_t kStep[6] = {26214, 23302, 20560, 18396, 16384, 14769};
  int64_t rows[8][8], coefs[8][8];
  for (int y = 0; y < 8; ++y) {
    for (int u = 0; u < 8; ++u) {
      int64_t sum = 0;
      for (int x = 0; x < 8; ++x)
        sum += kApvMatrix[u][x] * (samples[8 * y + x] - (int64_t{1} << (depth - 1)));
      rows[y][u] = apv_shifted(sum, depth - 6);
    }
  }
  for (int v = 0; v < 8; ++v) {
    for (int u = 0; u < 8; ++u) {
      int64_t sum = 0;
      for (int y = 0; y < 8; ++y) sum += kApvMatrix[v][y] * rows[y][u];
      coefs[v][u] = apv_shifted(sum, 9);
    }
  }
  std::array<int16_t, 64> block;
  for (size_t i = 0; i < 64; ++i) {
    const int place = kApvScanOrder[i];
    int64_t coef = coefs[place / 8][place % 8];
    if (by != nullptr) {
      const int64_t factor = kStep[by->qp % 6] * 16 / by->matrix[place];
      const int shift = 26 - depth + by->qp / 6;
      const int64_t level =
          (std::abs(coef) * factor + (static_cast<int64_t>(by->rounding) << (shift - 9))) >> shift;
      coef = std::clamp<int64_t>(coef < 0 ? -level : level, -32768, 32767);
    }
    block[i] = static_cast<int16_t>(coef);
  }
  return block;
}

}  // namespace cudatransform::test
