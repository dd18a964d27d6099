// The checks of coefficients in memory that validate() of every verb makes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/picture_check.h"
#include "transform/verbs/coefs.h"

namespace cudatransform {

// Kernels number the blocks of a frame with 32-bit integers.
inline constexpr int64_t kMostVerbBlocks = int64_t{1} << 30;

// The rows of memory of one component.
struct CoefRows {
  int64_t bytes, count;
};
constexpr CoefRows coef_rows(const CoefArray& array, CoefNumber number, CoefArrangement lie) {
  const int64_t size = bytes_of(number);
  const int64_t w = array.blocks_w, h = array.blocks_h;
  if (lie == CoefArrangement::kPlane) return {w * 8 * size, h * 8};
  if (lie == CoefArrangement::kBand) return {w * size, h * 64};
  return {w * 64 * size, h};
}

inline Status check_coefs(const Where& where, const CoefArray& array, CoefNumber number,
                          CoefArrangement lie) {
  if (array.blocks_w < 1 || array.blocks_h < 1 ||
      int64_t{array.blocks_w} * array.blocks_h > kMostVerbBlocks)
    return where.error(text(array.blocks_w) + " x " + text(array.blocks_h) + " blocks");
  const CoefRows rows = coef_rows(array, number, lie);
  return check_pitch(where, array.data, array.pitch, rows.bytes, rows.count, bytes_of(number));
}

inline Status check_components(int components) {
  if (components >= 1 && components <= kMostCoefArrays) return {};
  return job_error(text(components) + " components, expected 1 to " + text(kMostCoefArrays));
}

}  // namespace cudatransform
