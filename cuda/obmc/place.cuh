// The places of threads in the motion compensation kernels, and the blocks there.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/obmc/params.h"

namespace cudatransform::cuda {

// The component of a CTA.
template <typename Params>
__device__ __forceinline__ const auto& component_of_cta(const Params& params, uint32_t cta,
                                                        int* number) {
  *number = cta >= params.components[2].first_cta   ? 2
            : cta >= params.components[1].first_cta ? 1
                                                    : 0;
  return params.components[*number];
}

// As ObmcAxis has them, without its divisions.
__device__ __forceinline__ int32_t first_block_over(const ObmcAxisParams& params, int32_t at) {
  const int32_t beyond = at - params.axis.overlap();
  const int32_t index =
      beyond < 0
          ? 0
          : static_cast<int32_t>(divide(static_cast<uint32_t>(beyond), params.by_separation));
  return min(index, params.axis.blocks - 1);
}
__device__ __forceinline__ int32_t last_block_over(const ObmcAxisParams& params, int32_t at) {
  const auto index = static_cast<int32_t>(
      divide(static_cast<uint32_t>(at + params.axis.overlap()), params.by_separation));
  return min(index, params.axis.blocks - 1);
}

// Position `at` in block `index`, in eighths; 0 outside of the block.
__device__ __forceinline__ int window_at(const ObmcAxisParams& params, int32_t index, int32_t at) {
  const int32_t t = at - params.axis.begin(index);
  if (t < 0 || t >= params.axis.length) return 0;
  return obmc_window(params.axis, index, t, [&](int32_t n) {
    return static_cast<int>(divide(static_cast<uint32_t>(n), params.by_ramp));
  });
}

// The windows of a CTA's rows and columns, which all of its threads share.
struct TileWindows {
  static constexpr int kBlocks = 4;  // over four columns or rows: they begin every two at least
  uint32_t columns[kBlocks][32];     // by lane: four windows, a byte each
  int32_t first_column_block[32], last_column_block[32];
  uint32_t rows[kBlocks][kObmcTileGroups];  // by groups of rows: one a row, 0 below the picture
  int32_t first_row_block[kObmcTileGroups], last_row_block[kObmcTileGroups];
};

// The windows of block `index` at the first `count` of `kMax` positions, a byte each.
template <int32_t kMax>
__device__ __forceinline__ uint32_t windows_of(const ObmcAxisParams& params, int32_t index,
                                               int32_t at, int32_t count) {
  static_assert(kMax <= 4);
  uint32_t word = 0;
#pragma unroll
  for (int32_t k = 0; k < kMax; ++k)
    if (k < count) word |= static_cast<uint32_t>(window_at(params, index, at + k)) << (8 * k);
  return word;
}

// Filled by all threads of the CTA, which have to synchronize afterwards.
__device__ __forceinline__ void fill_windows(const ObmcComponentParams& component, int32_t tile_x,
                                             int32_t tile_y, TileWindows* windows) {
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const auto warp = static_cast<int32_t>(threadIdx.x / 32);
  const int32_t x = tile_x + lane * kObmcColumns;
  // Lanes beyond the picture do as its last column does.
  const int32_t first = first_block_over(component.across, min(x, component.width - 1));
  const int32_t last =
      last_block_over(component.across, min(x + kObmcColumns - 1, component.width - 1));
  if (first + warp <= last)
    windows->columns[warp][lane] =
        windows_of<kObmcColumns>(component.across, first + warp, x, kObmcColumns);
  if (warp == 0) {
    windows->first_column_block[lane] = first;
    windows->last_column_block[lane] = last;
  }
  // The first warp that has no columns' blocks calls it.
  static_assert(kObmcTileGroups * TileWindows::kBlocks <= 32);
  static_assert(kObmcTileGroups > TileWindows::kBlocks);
  if (warp != TileWindows::kBlocks || lane >= kObmcTileGroups * TileWindows::kBlocks) return;
  const int32_t group = lane % kObmcTileGroups, number = lane / kObmcTileGroups;
  const int32_t y = tile_y + group * kObmcRows;
  const int32_t top = first_block_over(component.down, min(y, component.height - 1));
  windows->rows[number][group] =
      windows_of<kObmcRows>(component.down, top + number, y, component.height - y);
  if (number != 0) return;
  windows->first_row_block[group] = top;
  windows->last_row_block[group] =
      last_block_over(component.down, min(y + kObmcRows - 1, component.height - 1));
}

// Bits of a vector below half positions.
__device__ __forceinline__ int rest_bits(int precision) { return max(precision - 1, 0); }

// Half positions that a vector points at from (x, y): the first, and the weight of the second of
// each axis. Vectors in whole samples point at the first of both and, around the picture, at its
// very edge.
struct Pointed {
  int32_t column, row;  // in half samples
  int32_t rest_x, rest_y, one;
  int shift;

  // The weight of the position `right` and `down` of the first, 0 or 1. All four are 1 << shift.
  __device__ __forceinline__ int32_t weight(int right, int down) const {
    return (right != 0 ? rest_x : one - rest_x) * (down != 0 ? rest_y : one - rest_y);
  }
};
__device__ __forceinline__ Pointed pointed_at(const ObmcComponentParams& component, int precision,
                                              const ObmcBlock& block, int reference, int32_t x,
                                              int32_t y) {
  const int32_t vector_x = block.vector[reference][0] >> component.shift_x;
  const int32_t vector_y = block.vector[reference][1] >> component.shift_y;
  if (precision == 0) return {2 * (x + vector_x), 2 * (y + vector_y), 0, 0, 1, 0};
  const int bits = rest_bits(precision), one = 1 << bits;
  return {2 * x + (vector_x >> bits),
          2 * y + (vector_y >> bits),
          vector_x & (one - 1),
          vector_y & (one - 1),
          one,
          2 * bits};
}

}  // namespace cudatransform::cuda
