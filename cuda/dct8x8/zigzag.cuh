// The zigzag order (ITU-T T.81, figure 5) for kernels: constants when the index is one, else a
// table.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: kNaturalOfZigzag of transform/dct8x8/quant_table.h.
#pragma once

#include <cstdint>

namespace cudatransform::cuda {

struct ZigzagTables {
  uint8_t natural_of_zigzag[64];
  uint8_t zigzag_of_natural[64];
};

// Walks the diagonals: up to the right on even ones, down to the left on odd ones.
constexpr ZigzagTables make_zigzag() {
  ZigzagTables tables{};
  int k = 0;
  for (int diagonal = 0; diagonal < 15; ++diagonal) {
    for (int step = 0; step <= diagonal; ++step) {
      const int u = diagonal % 2 == 0 ? step : diagonal - step;
      const int v = diagonal - u;
      if (u > 7 || v > 7) continue;
      tables.natural_of_zigzag[k] = static_cast<uint8_t>(8 * v + u);
      tables.zigzag_of_natural[8 * v + u] = static_cast<uint8_t>(k);
      ++k;
    }
  }
  return tables;
}

__device__ __forceinline__ int natural_of_zigzag(int k) {
  static constexpr ZigzagTables kTables = make_zigzag();
  return kTables.natural_of_zigzag[k];
}
__device__ __forceinline__ int zigzag_of_natural(int i) {
  static constexpr ZigzagTables kTables = make_zigzag();
  return kTables.zigzag_of_natural[i];
}

}  // namespace cudatransform::cuda
