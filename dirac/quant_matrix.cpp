// The default quantisation matrices of slice pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/quant_matrix.h"

#include <algorithm>

namespace cudatransform {

namespace {

// Of one filter and number of horizontal-only levels: level 0, a band for each of those, and three
// bands (HL, LH, HH) for each level in both directions, as many as have a default.
struct Matrix {
  int levels;  // in both directions, at most
  uint8_t entries[1 + 3 * 4 + 1];
};
constexpr int kTables = 5;  // by horizontal-only levels

constexpr Matrix kDd97[kTables] = {
    {4, {5, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3}},
    {4, {3, 0, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3}},
    {3, {3, 0, 3, 5, 5, 3, 6, 6, 4, 7, 7, 5}},
    {2, {3, 0, 3, 5, 8, 8, 5, 9, 9, 6}},
    {1, {3, 0, 3, 5, 8, 10, 10, 8}},
};
constexpr Matrix kLegall53[kTables] = {
    {4, {4, 2, 2, 0, 4, 4, 2, 5, 5, 3, 7, 7, 5}},
    {4, {2, 0, 3, 3, 1, 4, 4, 2, 6, 6, 4, 8, 8, 6}},
    {3, {2, 0, 3, 6, 6, 4, 7, 7, 5, 9, 9, 7}},
    {2, {2, 0, 3, 6, 8, 8, 6, 10, 10, 8}},
    {1, {2, 0, 3, 6, 8, 11, 11, 9}},
};
constexpr Matrix kDd137[kTables] = {
    {4, {5, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3}},
    {4, {3, 0, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3}},
    {3, {3, 0, 3, 5, 5, 2, 6, 6, 4, 7, 7, 5}},
    {2, {3, 0, 3, 5, 8, 8, 5, 9, 9, 6}},
    {1, {3, 0, 3, 5, 8, 10, 10, 8}},
};
constexpr Matrix kHaarShift[kTables] = {
    {4, {8, 4, 4, 0, 4, 4, 0, 4, 4, 0, 4, 4, 0}},
    {4, {6, 2, 4, 4, 0, 4, 4, 0, 4, 4, 0, 4, 4, 0}},
    {3, {4, 0, 2, 4, 4, 0, 4, 4, 0, 4, 4, 0}},
    {2, {4, 0, 2, 4, 6, 6, 2, 6, 6, 2}},
    {1, {4, 0, 2, 4, 6, 8, 8, 4}},
};
constexpr Matrix kFidelity[kTables] = {
    {4, {0, 4, 4, 8, 8, 8, 12, 13, 13, 17, 17, 17, 21}},
    {4, {0, 4, 6, 6, 10, 11, 11, 15, 15, 15, 19, 19, 19, 23}},
    {3, {0, 4, 6, 8, 8, 12, 13, 13, 17, 17, 17, 21}},
    {2, {0, 4, 6, 8, 11, 11, 15, 15, 15, 19}},
    {1, {0, 4, 6, 8, 11, 13, 13, 17}},
};
constexpr Matrix kDaub97[kTables] = {
    {4, {3, 1, 1, 0, 4, 4, 2, 6, 6, 5, 9, 9, 7}},
    {4, {1, 0, 3, 3, 2, 6, 6, 4, 8, 8, 7, 11, 11, 9}},
    {3, {1, 0, 3, 6, 6, 5, 9, 9, 8, 11, 11, 10}},
    {2, {1, 0, 3, 6, 10, 10, 8, 12, 12, 11}},
    {1, {1, 0, 3, 6, 10, 13, 13, 12}},
};
// Haar without a shift in columns, LeGall in rows.
constexpr Matrix kHaarLegall53[kTables] = {
    {4, {6, 4, 2, 0, 5, 3, 1, 6, 4, 2, 6, 5, 2}},
    {4, {3, 1, 4, 2, 0, 5, 3, 1, 6, 4, 2, 6, 5, 2}},
    {3, {2, 0, 3, 6, 4, 2, 6, 5, 2, 7, 5, 3}},
    {2, {2, 0, 3, 6, 8, 7, 4, 9, 7, 5}},
    {1, {2, 0, 3, 6, 8, 11, 9, 7}},
};
// With one horizontal-only level and nothing above it, these have entries of their own.
constexpr uint8_t kHaarLegall53OneLevel[] = {2, 0};
constexpr uint8_t kHaarShiftOneLevel[] = {4, 0};

const Matrix* table_of(Wavelet wavelet, Wavelet wavelet_ho) {
  if (wavelet == Wavelet::kHaar && wavelet_ho == Wavelet::kLegall53) return kHaarLegall53;
  if (wavelet != wavelet_ho) return nullptr;
  switch (wavelet) {
    case Wavelet::kDd97:
      return kDd97;
    case Wavelet::kLegall53:
      return kLegall53;
    case Wavelet::kDd137:
      return kDd137;
    case Wavelet::kHaarShift:
      return kHaarShift;
    case Wavelet::kFidelity:
      return kFidelity;
    case Wavelet::kDaub97:
      return kDaub97;
    default:
      return nullptr;
  }
}

// Haar without a shift follows a rule: every level is weighted by 4 more than the one above it, and
// horizontal-only ones by 2.
void fill_haar(DwtLevels levels, uint8_t* matrix) {
  const int both = levels.both, horizontal = levels.horizontal;
  int band = 1;
  for (int level = 1; level <= horizontal; ++level) {
    matrix[band++] = static_cast<uint8_t>(4 * both + 2 * (horizontal - level) + (both > 0 ? 2 : 0));
  }
  for (int level = 1; level <= both; ++level) {
    const auto weight = static_cast<uint8_t>(4 + 4 * (both - level));
    matrix[band++] = weight;
    matrix[band++] = weight;
    matrix[band++] = static_cast<uint8_t>(weight - 4);
  }
  matrix[0] = static_cast<uint8_t>(horizontal > 0 ? matrix[1] + 4 : 4 + 4 * both);
}

}  // namespace

bool dirac_default_matrix(Wavelet wavelet, Wavelet wavelet_ho, DwtLevels levels,
                          uint8_t matrix[kMaxDwtBands]) {
  const bool is_haar = wavelet == Wavelet::kHaar && wavelet_ho == Wavelet::kHaar;
  const Matrix* tables = table_of(wavelet, wavelet_ho);
  if ((tables == nullptr && !is_haar) || levels.horizontal >= kTables) return false;
  if (levels.both > std::min(4, 5 - levels.horizontal)) return false;
  if (levels.both + levels.horizontal == 0) {
    matrix[0] = 0;
  } else if (is_haar) {
    fill_haar(levels, matrix);
  } else if (levels.both == 0 && levels.horizontal == 1 && tables == kHaarShift) {
    std::copy_n(kHaarShiftOneLevel, 2, matrix);
  } else if (levels.both == 0 && levels.horizontal == 1 && tables == kHaarLegall53) {
    std::copy_n(kHaarLegall53OneLevel, 2, matrix);
  } else {
    std::copy_n(tables[levels.horizontal].entries, dwt_band_count(levels), matrix);
  }
  return true;
}

}  // namespace cudatransform
