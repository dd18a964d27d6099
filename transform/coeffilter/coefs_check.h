// The checks of coefficients in memory that validate() of each coefficient filter makes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <iterator>

#include "transform/coeffilter/coefs.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/picture_check.h"

namespace cudatransform {

// Kernels number the blocks of a frame with 31 bits, and rows of bands with 32.
inline constexpr int64_t kMaxCoefBlocks = int64_t{1} << 30;
inline constexpr int32_t kMaxCoefBlocksHigh = 1 << 25;

// The rows of memory of one component.
struct CoefRows {
  int64_t bytes, count;
};
constexpr CoefRows coef_rows(const CoefArray& array, CoefNumber number, CoefArrangement lie) {
  const int64_t rows = rows_of_blocks(lie);
  return {array.blocks_w * (64 / rows) * bytes_of(number), array.blocks_h * rows};
}

inline Status check_coefs(const Where& where, const CoefArray& array, CoefNumber number,
                          CoefArrangement lie) {
  if (array.blocks_w < 1 || array.blocks_h < 1 || array.blocks_h > kMaxCoefBlocksHigh ||
      int64_t{array.blocks_w} * array.blocks_h > kMaxCoefBlocks)
    return where.error(text(array.blocks_w) + " x " + text(array.blocks_h) +
                       " blocks, expected at most " + text(kMaxCoefBlocks) + " in up to " +
                       text(kMaxCoefBlocksHigh) + " rows");
  const CoefRows rows = coef_rows(array, number, lie);
  return check_pitch(where, array.data, array.pitch, rows.bytes, rows.count, bytes_of(number));
}

inline Status check_components(int components) {
  if (components >= 1 && components <= kMaxCoefArrays) return {};
  return job_error(text(components) + " components, expected 1 to " + text(kMaxCoefArrays));
}

// A table of `tables`, by its index. `divides`: coefficients are to be divided by it, not
// multiplied.
inline Status check_table(const Where& where, const QuantTable (&tables)[kMaxCoefArrays], int index,
                          bool divides) {
  if (index < 0 || index >= kMaxCoefArrays)
    return where.error("index " + text(index) + " is not in 0 to " + text(kMaxCoefArrays - 1));
  if (!divides || !tables[index].has_zero()) return {};
  const auto& q = tables[index].q;
  const auto* zero = std::find(std::begin(q), std::end(q), 0);
  return where.error("entry " + text(zero - q) + " of table " + text(index) + " is zero");
}

}  // namespace cudatransform
