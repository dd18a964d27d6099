// The view of coefficients in filters: the type of a number, and where a block's 64 are.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatransform {

// CMYK and YCCK have four components.
inline constexpr int kMaxCoefArrays = 4;

enum class CoefNumber { kS16, kS32, kF32, kF16 };
constexpr int bytes_of(CoefNumber number) {
  return number == CoefNumber::kS16 || number == CoefNumber::kF16 ? 2 : 4;
}
constexpr bool is_floating(CoefNumber number) {
  return number == CoefNumber::kF32 || number == CoefNumber::kF16;
}

enum class CoefArrangement {
  kBlock,        // 64 consecutive coefficients a block, in natural order; rows of blocks pitched
  kZigzagBlock,  // likewise, in zigzag order
  kPlane,        // coefficient (u, v) of block (bx, by) at row 8 by + v, column 8 bx + u
  kBand,         // the k-th coefficient in zigzag order at row k blocks_h + by, column bx
};

// The rows of a component, and their bytes without padding.
constexpr int64_t rows_of_blocks(CoefArrangement arrangement) {
  return arrangement == CoefArrangement::kPlane  ? 8
         : arrangement == CoefArrangement::kBand ? 64
                                                 : 1;
}

// One component's coefficients. Addresses are the engine's.
struct CoefArray {
  void* data = nullptr;
  ptrdiff_t pitch = 0;  // bytes from one row to the next: see CoefArrangement
  int32_t blocks_w = 0;
  int32_t blocks_h = 0;
  int32_t table = 0;  // index of the quantization table
};

}  // namespace cudatransform
