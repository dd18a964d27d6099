// Motion compensation of samples of a byte, four of them in a word.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 15.8. A warp has 128 columns of a row. Each lane gathers what
// the blocks over its four samples predict: no two threads write the same sample, so there is
// nothing to be added up in memory. A prediction is four bytes: a sum of half positions in two
// words of two lanes of 16 bits each, at most 16 x 255 + 8; of two references it is their mean.
// Windows are bytes as well, up to 64, and dp4a adds up their product.
//
// The specification computes with samples around zero. Windows sum to 64, and the weights that this
// kernel is for to 1, so that all of it may be done with samples as they are.
#include "cuda/common/ptx.cuh"
#include "cuda/obmc/kernels.h"
#include "cuda/obmc/place.cuh"

namespace cudatransform::cuda {
namespace {

// Four bytes of a row from column `x` on, the row's first or last one where there are none.
__device__ __forceinline__ uint32_t load_four(const uint8_t* whole, const uint8_t* chosen,
                                              int32_t x, int32_t width) {
  if (x >= 0 && x + 4 <= width) {
    const auto* words = reinterpret_cast<const uint32_t*>(chosen + (x & ~3));
    const int32_t beyond = x & 3;
    if (beyond == 0) return __ldg(words);
    return __funnelshift_r(__ldg(words), __ldg(words + 1), static_cast<uint32_t>(8 * beyond));
  }
  uint32_t word = 0;
#pragma unroll 1
  for (int32_t k = 3; k >= 0; --k)
    word = word << 8 | (x + k < 0 ? whole[0] : chosen[min(x + k, width - 1)]);
  return word;
}

struct Bytes {
  const ObmcComponentParams& component;

  __device__ __forceinline__ uint32_t at(int reference, int32_t row, int32_t column) const {
    row = max(min(row, 2 * component.height - 2), 0);
    const ObmcPlaneParams* planes = component.references[reference] + 2 * (row & 1);
    const auto offset = static_cast<uint32_t>(row >> 1) * static_cast<uint32_t>(planes[0].pitch);
    const ObmcPlaneParams& chosen = (column & 1) != 0 ? planes[1] : planes[0];
    return load_four(
        planes[0].data + offset,
        chosen.data + static_cast<uint32_t>(row >> 1) * static_cast<uint32_t>(chosen.pitch),
        column >> 1, component.width);
  }
  // Of a picture's inner part.
  __device__ __forceinline__ uint32_t inner_at(int reference, int32_t row, int32_t column) const {
    const ObmcPlaneParams& plane = component.references[reference][2 * (row & 1) + (column & 1)];
    const int32_t x = column >> 1;
    const auto offset = static_cast<uint32_t>(row >> 1) * static_cast<uint32_t>(plane.pitch);
    const auto* words =
        reinterpret_cast<const uint32_t*>(plane.data + offset + static_cast<uint32_t>(x & ~3));
    return __funnelshift_r(__ldg(words), __ldg(words + 1), static_cast<uint32_t>(8 * (x & 3)));
  }
  // Whether the four half positions from there on need nothing of what lies around the picture, and
  // words behind them are within its rows.
  __device__ __forceinline__ bool is_inner(const Pointed& to) const {
    return (to.row | to.column) >= 0 && to.row + 1 <= 2 * component.height - 2 &&
           (to.column >> 1) + 6 <= component.width;
  }

  __device__ __forceinline__ uint32_t fetch(int reference, const Pointed& to) const {
    const bool is_single = (to.rest_x | to.rest_y) == 0;
    if (!is_inner(to))
      return is_single ? at(reference, to.row, to.column) : fetch_around(reference, to);
    if (is_single) return inner_at(reference, to.row, to.column);
    // All of them, those as well that weigh nothing: no load waits for another.
    const uint32_t words[4] = {
        inner_at(reference, to.row, to.column), inner_at(reference, to.row, to.column + 1),
        inner_at(reference, to.row + 1, to.column), inner_at(reference, to.row + 1, to.column + 1)};
    uint32_t even = in_halves(1 << to.shift >> 1), odd = even;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const auto weight = static_cast<uint32_t>(((k & 1) != 0 ? to.rest_x : to.one - to.rest_x) *
                                                ((k & 2) != 0 ? to.rest_y : to.one - to.rest_y));
      even += weight * (words[k] & 0x00ff00ffu);
      odd += weight * (words[k] >> 8 & 0x00ff00ffu);
    }
    even = even >> to.shift & 0x00ff00ffu;
    odd = odd >> to.shift & 0x00ff00ffu;
    return even | odd << 8;
  }
  __device__ __forceinline__ uint32_t fetch_around(int reference, const Pointed& to) const {
    uint32_t even = 0, odd = 0;
#pragma unroll 1
    for (int dy = 0; dy <= (to.rest_y != 0); ++dy) {
#pragma unroll 1
      for (int dx = 0; dx <= (to.rest_x != 0); ++dx) {
        const auto weight = static_cast<uint32_t>((dx != 0 ? to.rest_x : to.one - to.rest_x) *
                                                  (dy != 0 ? to.rest_y : to.one - to.rest_y));
        const uint32_t word = at(reference, to.row + dy, to.column + dx);
        even += weight * (word & 0x00ff00ffu);
        odd += weight * (word >> 8 & 0x00ff00ffu);
      }
    }
    const uint32_t rounding = in_halves(1 << to.shift >> 1);
    even = (even + rounding) >> to.shift & 0x00ff00ffu;
    odd = (odd + rounding) >> to.shift & 0x00ff00ffu;
    return even | odd << 8;
  }
};

// The mean of four bytes each, rounded up.
__device__ __forceinline__ uint32_t mean_of(uint32_t a, uint32_t b) {
  return (a | b) - ((a ^ b) >> 1 & 0x7f7f7f7fu);
}

struct Compensator {
  const ObmcParams& params;
  const ObmcComponentParams& component;
  const int number;
  const TileWindows& windows;

  __device__ __forceinline__ uint32_t predict(const ObmcBlock& block, int32_t x, int32_t y) const {
    const uint32_t used = block.references;
    if (used == 0) return static_cast<uint32_t>(block.dc[number] + 128) * 0x01010101u;
    const Bytes bytes = {component};
    const int first = used == 2 ? 1 : 0;
    const uint32_t word =
        bytes.fetch(first, pointed_at(component, params.precision, block, first, x, y));
    if (used != 3) return word;
    return mean_of(word, bytes.fetch(1, pointed_at(component, params.precision, block, 1, x, y)));
  }

  // 64 times what is predicted.
  __device__ __forceinline__ void sum_up(int32_t lane, int32_t row, int32_t x, int32_t y,
                                         uint32_t (&sums)[4]) const {
    const int32_t left = windows.first_column_block[lane], right = windows.last_column_block[lane];
    const int32_t top = windows.first_row_block[row], bottom = windows.last_row_block[row];
#pragma unroll 1
    for (int32_t j = top; j <= bottom; ++j) {
      const uint32_t weight = windows.rows[row][j - top];
      const ObmcBlock* blocks =
          params.blocks + static_cast<int64_t>(j) * component.across.axis.blocks;
#pragma unroll 1
      for (int32_t i = left; i <= right; ++i) {
        const uint32_t window = weight * windows.columns[i - left][lane];
        const uint32_t word = predict(blocks[i], x, y);
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[k] = __dp4a(word, window & 0xffu << (8 * k), sums[k]);
      }
    }
  }

  __device__ __forceinline__ void store(int32_t x, int32_t y, const uint32_t (&sums)[4]) const {
    const int32_t count = min(4, component.width - x);
    int32_t values[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) values[k] = static_cast<int32_t>(sums[k] >> kObmcWindowShift);
    if (component.residual.data != nullptr) {
      const auto* from =
          reinterpret_cast<const int16_t*>(component.residual.data + y * component.residual.pitch) +
          x;
      if (count == 4) {
        const int2 words = *reinterpret_cast<const int2*>(from);
        values[0] += static_cast<int16_t>(words.x);
        values[1] += words.x >> 16;
        values[2] += static_cast<int16_t>(words.y);
        values[3] += words.y >> 16;
      } else {
#pragma unroll
        for (int k = 0; k < 3; ++k)
          if (k < count) values[k] += from[k];
      }
    }
    uint32_t word = pack_four_clamped(values[0], values[1], values[2], values[3]);
    uint8_t* to = component.samples.data + y * component.samples.pitch + x;
    if (count == 4) {
      *reinterpret_cast<uint32_t*>(to) = word;
      return;
    }
#pragma unroll 1
    for (int32_t k = 0; k < count; ++k, word >>= 8) to[k] = static_cast<uint8_t>(word);
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kObmcThreads, 8)
    obmc_compensate_bytes(const __grid_constant__ ObmcParams params) {
  __shared__ TileWindows windows;
  int number;
  const ObmcComponentParams& component = component_of_cta(params, &number);
  const uint32_t tile = blockIdx.x - component.first_cta;
  const auto tile_y = static_cast<int32_t>(tile / component.tiles_across) * kObmcTileRows;
  const auto tile_x = static_cast<int32_t>(tile % component.tiles_across) * kObmcTileColumns;
  if (params.blocks != nullptr) {
    fill_windows(component, tile_x, tile_y, &windows);
    __syncthreads();
  }
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const int32_t x = tile_x + lane * kObmcColumns;
  if (x >= component.width) return;
  const Compensator compensator = {params, component, number, windows};
#pragma unroll 1
  for (auto row = static_cast<int32_t>(threadIdx.x / 32); row < kObmcTileRows; row += 4) {
    const int32_t y = tile_y + row;
    if (y >= component.height) return;
    constexpr uint32_t kRounding = 1 << (kObmcWindowShift - 1);
    constexpr uint32_t kGrey = 128 << kObmcWindowShift;
    const uint32_t begin = params.blocks != nullptr ? kRounding : kGrey;
    uint32_t sums[4] = {begin, begin, begin, begin};
    if (params.blocks != nullptr) compensator.sum_up(lane, row, x, y, sums);
    compensator.store(x, y, sums);
  }
}

}  // namespace cudatransform::cuda
