// The quantization matrices of VC-2: how much finer each band is quantized than the picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dwt/quantizer.h"

#include <algorithm>

namespace cudatransform {
namespace {

constexpr int kMaxLevels = 4;    // in both directions
constexpr int kMaxHalvings = 5;  // of rows, where there are horizontal-only levels
constexpr int kMaxEntries = 1 + 4 + 1 + 3 * kMaxLevels;

// The matrix of one filter, or of two, and a count of horizontal-only levels, level by level. A
// transform takes as many levels as it has.
struct DefaultMatrix {
  Wavelet wavelet, wavelet_ho;
  int horizontal;
  bool without_both;  // for transforms with horizontal-only levels alone
  uint8_t entries[kMaxEntries];
};

constexpr Wavelet kDd97 = Wavelet::kDd97, kLegall53 = Wavelet::kLegall53;
constexpr Wavelet kDd137 = Wavelet::kDd137, kHaar = Wavelet::kHaar;
constexpr Wavelet kHaarShift = Wavelet::kHaarShift, kFidelity = Wavelet::kFidelity;
constexpr Wavelet kDaub97 = Wavelet::kDaub97;

constexpr DefaultMatrix kMatrices[] = {
    {kDd97, kDd97, 0, false, {5, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3}},
    {kDd97, kDd97, 1, false, {3, 0, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3}},
    {kDd97, kDd97, 2, false, {3, 0, 3, 5, 5, 3, 6, 6, 4, 7, 7, 5}},
    {kDd97, kDd97, 3, false, {3, 0, 3, 5, 8, 8, 5, 9, 9, 6}},
    {kDd97, kDd97, 4, false, {3, 0, 3, 5, 8, 10, 10, 8}},
    {kLegall53, kLegall53, 0, false, {4, 2, 2, 0, 4, 4, 2, 5, 5, 3, 7, 7, 5}},
    {kLegall53, kLegall53, 1, false, {2, 0, 3, 3, 1, 4, 4, 2, 6, 6, 4, 8, 8, 6}},
    {kLegall53, kLegall53, 2, false, {2, 0, 3, 6, 6, 4, 7, 7, 5, 9, 9, 7}},
    {kLegall53, kLegall53, 3, false, {2, 0, 3, 6, 8, 8, 6, 10, 10, 8}},
    {kLegall53, kLegall53, 4, false, {2, 0, 3, 6, 8, 11, 11, 9}},
    {kDd137, kDd137, 0, false, {5, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3}},
    {kDd137, kDd137, 1, false, {3, 0, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3}},
    {kDd137, kDd137, 2, false, {3, 0, 3, 5, 5, 2, 6, 6, 4, 7, 7, 5}},
    {kDd137, kDd137, 3, false, {3, 0, 3, 5, 8, 8, 5, 9, 9, 6}},
    {kDd137, kDd137, 4, false, {3, 0, 3, 5, 8, 10, 10, 8}},
    {kHaarShift, kHaarShift, 0, false, {8, 4, 4, 0, 4, 4, 0, 4, 4, 0, 4, 4, 0}},
    {kHaarShift, kHaarShift, 1, true, {4, 0}},
    {kHaarShift, kHaarShift, 1, false, {6, 2, 4, 4, 0, 4, 4, 0, 4, 4, 0, 4, 4, 0}},
    {kHaarShift, kHaarShift, 2, true, {4, 0, 2}},
    {kHaarShift, kHaarShift, 2, false, {4, 0, 2, 4, 4, 0, 4, 4, 0, 4, 4, 0}},
    {kHaarShift, kHaarShift, 3, true, {4, 0, 2, 4}},
    {kHaarShift, kHaarShift, 3, false, {4, 0, 2, 4, 6, 6, 2, 6, 6, 2}},
    {kHaarShift, kHaarShift, 4, true, {4, 0, 2, 4, 6}},
    {kHaarShift, kHaarShift, 4, false, {4, 0, 2, 4, 6, 8, 8, 4}},
    {kFidelity, kFidelity, 0, false, {0, 4, 4, 8, 8, 8, 12, 13, 13, 17, 17, 17, 21}},
    {kFidelity, kFidelity, 1, false, {0, 4, 6, 6, 10, 11, 11, 15, 15, 15, 19, 19, 19, 23}},
    {kFidelity, kFidelity, 2, false, {0, 4, 6, 8, 8, 12, 13, 13, 17, 17, 17, 21}},
    {kFidelity, kFidelity, 3, false, {0, 4, 6, 8, 11, 11, 15, 15, 15, 19}},
    {kFidelity, kFidelity, 4, false, {0, 4, 6, 8, 11, 13, 13, 17}},
    {kDaub97, kDaub97, 0, false, {3, 1, 1, 0, 4, 4, 2, 6, 6, 5, 9, 9, 7}},
    {kDaub97, kDaub97, 1, false, {1, 0, 3, 3, 2, 6, 6, 4, 8, 8, 7, 11, 11, 9}},
    {kDaub97, kDaub97, 2, false, {1, 0, 3, 6, 6, 5, 9, 9, 8, 11, 11, 10}},
    {kDaub97, kDaub97, 3, false, {1, 0, 3, 6, 10, 10, 8, 12, 12, 11}},
    {kDaub97, kDaub97, 4, false, {1, 0, 3, 6, 10, 13, 13, 12}},
    {kHaar, kLegall53, 0, false, {6, 4, 2, 0, 5, 3, 1, 6, 4, 2, 6, 5, 2}},
    {kHaar, kLegall53, 1, true, {2, 0}},
    {kHaar, kLegall53, 1, false, {3, 1, 4, 2, 0, 5, 3, 1, 6, 4, 2, 6, 5, 2}},
    {kHaar, kLegall53, 2, false, {2, 0, 3, 6, 4, 2, 6, 5, 2, 7, 5, 3}},
    {kHaar, kLegall53, 3, false, {2, 0, 3, 6, 8, 7, 4, 9, 7, 5}},
    {kHaar, kLegall53, 4, false, {2, 0, 3, 6, 8, 11, 9, 7}},
};

// Haar without a shift doubles the weight of a level with each above it.
void fill_haar(DwtLevels levels, uint8_t* matrix) {
  const int both = levels.both, horizontal = levels.horizontal;
  uint8_t* next = matrix + 1;
  for (int level = 1; level <= horizontal; level++)
    *next++ = static_cast<uint8_t>(4 * both + 2 * (horizontal - level) + (both > 0 ? 2 : 0));
  for (int level = 1; level <= both; level++) {
    const auto finest = static_cast<uint8_t>(4 * (both - level));
    *next++ = finest + 4;
    *next++ = finest + 4;
    *next++ = finest;
  }
  matrix[0] = static_cast<uint8_t>(horizontal > 0 ? matrix[1] + 4 : 4 + 4 * both);
}

}  // namespace

bool default_matrix(Wavelet wavelet, Wavelet wavelet_ho, DwtLevels levels,
                    uint8_t matrix[kMaxDwtBands]) {
  const int halvings = levels.both + levels.horizontal;
  if (levels.both > kMaxLevels || levels.horizontal > kMaxDwtLevelsHo ||
      (levels.horizontal > 0 && halvings > kMaxHalvings))
    return false;
  if (wavelet == kHaar && wavelet_ho == kHaar) {
    fill_haar(levels, matrix);
    if (halvings == 0) matrix[0] = 0;
    return true;
  }
  for (const DefaultMatrix& candidate : kMatrices) {
    if (candidate.wavelet != wavelet || candidate.wavelet_ho != wavelet_ho ||
        candidate.horizontal != levels.horizontal || (candidate.without_both && levels.both > 0))
      continue;
    std::copy_n(candidate.entries, dwt_band_count(levels), matrix);
    if (halvings == 0) matrix[0] = 0;
    return true;
  }
  return false;
}

}  // namespace cudatransform
