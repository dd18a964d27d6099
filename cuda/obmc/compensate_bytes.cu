// Motion compensation of samples of a byte, four of them in a word.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 15.8. A lane has four columns of four rows, a warp 128 columns
// of them, and gathers what the blocks over its samples predict: no two threads write the same
// sample, so there is nothing to be added up in memory. What has to be known of a block and its
// vectors is worked out once for the four rows. A prediction of four samples is two words of two
// lanes of 16 bits each, those of even and odd columns: a sum of half positions in them is at most
// 16 x 255 + 8. Of two references it is their mean. Windows are up to 8 a direction, and dp2a adds
// up what they and a prediction make.
//
// The specification computes with samples around zero. Windows sum to 64, and the weights that this
// kernel is for to 1, so that all of it may be done with samples as they are.
#include "cuda/common/ptx.cuh"
#include "cuda/obmc/kernels.h"
#include "cuda/obmc/place.cuh"

namespace cudatransform::cuda {
namespace {

constexpr uint32_t kEveryOther = 0x00ff00ffu;
constexpr int kObmcCtas = 5;  // that an SM should hold at once

// Samples of even columns in `even`, of odd ones in `odd`.
struct Four {
  uint32_t even, odd;
};
__device__ __forceinline__ Four apart(uint32_t word) {
  return {word & kEveryOther, __byte_perm(word, 0, 0x4341)};
}
// Rounded up.
__device__ __forceinline__ Four mean_of(const Four& a, const Four& b) {
  return {(a.even + b.even + in_halves(1)) >> 1 & kEveryOther,
          (a.odd + b.odd + in_halves(1)) >> 1 & kEveryOther};
}

// Four bytes from `column` on, which may be anything but negative, in a row of words. What is in
// front of the first or behind the last of them is not read.
__device__ __forceinline__ uint32_t load_inner(const uint8_t* row, int32_t column) {
  const auto* words = reinterpret_cast<const uint32_t*>(row + (column & ~3));
  const auto beyond = static_cast<uint32_t>(8 * (column & 3));
  const uint32_t low = __ldg(words);
  uint32_t high = low;
  if (beyond != 0) high = __ldg(words + 1);
  return __funnelshift_r(low, high, beyond);
}

// The same of any column: the last byte of a row again behind it, the first one of `whole` in
// front.
__device__ __forceinline__ uint32_t load_around(const uint8_t* whole, const uint8_t* chosen,
                                                int32_t x, int32_t width) {
  if (width < 4) {
    uint32_t word = 0;
#pragma unroll 1
    for (int32_t k = 3; k >= 0; --k)
      word = word << 8 | (x + k < 0 ? whole[0] : chosen[min(x + k, width - 1)]);
    return word;
  }
  const int32_t within = max(min(x, width - 4), 0);
  const uint32_t word = load_inner(chosen, within);
  const int32_t behind = min(x - within, 3), before = min(within - x, 4);
  if (behind > 0) return __byte_perm(word, 0, 0x3333210u >> (4 * behind));
  if (before > 0) return __byte_perm(word, whole[0], 0x32104444u >> (16 - 4 * before));
  return word;
}

// A row of half positions, where nothing is known of it.
__device__ __forceinline__ uint32_t load_position(const ObmcComponentParams& component,
                                                  int reference, int32_t row, int32_t column) {
  row = max(min(row, 2 * component.height - 2), 0);
  const ObmcPlaneParams* planes = component.references[reference] + 2 * (row & 1);
  const auto offset = static_cast<uint32_t>(row >> 1) * static_cast<uint32_t>(planes[0].pitch);
  return load_around(planes[0].data + offset, planes[column & 1].data + offset, column >> 1,
                     component.width);
}

// How the half positions around a vector's end are summed up.
struct Mix {
  uint32_t weights[4];
  uint32_t rounding;
  int shift;

  __device__ __forceinline__ explicit Mix(const Pointed& to)
      : rounding(in_halves(1 << to.shift >> 1)), shift(to.shift) {
#pragma unroll
    for (int k = 0; k < 4; ++k) weights[k] = static_cast<uint32_t>(to.weight(k & 1, k >> 1));
  }
  __device__ __forceinline__ Four operator()(const uint32_t (&words)[4]) const {
    Four sum = {rounding, rounding};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const Four four = apart(words[k]);
      sum.even += weights[k] * four.even;
      sum.odd += weights[k] * four.odd;
    }
    return {sum.even >> shift & kEveryOther, sum.odd >> shift & kEveryOther};
  }
};

// Where planes of references begin. Lanes choose one each, and parameters are read one by one.
struct PlaneStarts {
  const uint8_t* at[kMaxObmcReferences][4];

  // Filled by threads of the CTA, who have to be synchronised behind it.
  __device__ __forceinline__ void fill(const ObmcComponentParams& component) {
    const uint32_t reference = threadIdx.x / 4, plane = threadIdx.x % 4;
    if (reference < kMaxObmcReferences)
      at[reference][plane] = component.references[reference][plane].data;
  }
};

// What one reference predicts for the rows of a lane.
struct Fetch {
  const ObmcComponentParams& component;
  const PlaneStarts& starts;
  const int reference;
  const Pointed to;
  const int32_t rows;  // of the lane's that are in the picture

  // Whether half positions up to `beyond` behind the first need nothing of what lies around the
  // picture.
  __device__ __forceinline__ bool is_inner(int32_t beyond) const {
    const int32_t in_pairs = (rows + 1) & ~1;
    return (to.row | to.column) >= 0 &&
           to.row + 2 * (in_pairs - 1) + beyond <= 2 * component.height - 2 &&
           ((to.column + beyond) >> 1) + 4 <= component.width;
  }
  // All planes have one pitch.
  __device__ __forceinline__ const uint8_t* row_at(int down, int right, uint32_t pitch) const {
    const int32_t row = to.row + down;
    const int index = 2 * (row & 1) + ((to.column + right) & 1);
    return starts.at[reference][index] + static_cast<uint32_t>(row >> 1) * pitch;
  }

  // `needed` has a byte for each row, and two that are zero need nothing.
  __device__ __forceinline__ void rows_of(uint32_t needed, Four (&rows_made)[kObmcRows]) const {
    const bool single = (to.rest_x | to.rest_y) == 0;
    if (!is_inner(single ? 0 : 1)) return around(needed, rows_made);
    const auto pitch = static_cast<uint32_t>(component.references[reference][0].pitch);
    const int32_t left = to.column >> 1, right = (to.column + 1) >> 1;
    if (single) {
      const uint8_t* from = row_at(0, 0, pitch);
#pragma unroll
      for (int r = 0; r < kObmcRows; ++r, from += pitch)
        if (has_pair(needed, r)) rows_made[r] = apart(load_inner(from, left));
      return;
    }
    // All of them, those as well that weigh nothing: no load waits for another.
    const uint8_t* from[4] = {row_at(0, 0, pitch), row_at(0, 1, pitch), row_at(1, 0, pitch),
                              row_at(1, 1, pitch)};
    const Mix mix(to);
#pragma unroll
    for (int r = 0; r < kObmcRows; r += 2) {
      if (has_pair(needed, r)) {
        uint32_t words[2][4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int32_t column = (k & 1) != 0 ? right : left;
          words[0][k] = load_inner(from[k], column);
          words[1][k] = load_inner(from[k] + pitch, column);
        }
        rows_made[r] = mix(words[0]);
        rows_made[r + 1] = mix(words[1]);
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) from[k] += 2 * pitch;
    }
  }

 private:
  static __device__ __forceinline__ bool has_pair(uint32_t needed, int row) {
    return (needed >> (16 * (row / 2)) & 0xffffu) != 0;
  }
  __device__ __forceinline__ void around(uint32_t needed, Four (&rows_made)[kObmcRows]) const {
#pragma unroll
    for (int r = 0; r < kObmcRows; ++r)
      if (has_pair(needed, r)) rows_made[r] = row_around(to.row + 2 * r);
  }
  __device__ __forceinline__ Four row_around(int32_t row) const {
    const uint32_t rounding = in_halves(1 << to.shift >> 1);
    Four sum = {rounding, rounding};
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      const int right = k & 1, down = k >> 1;
      const auto weight = static_cast<uint32_t>(to.weight(right, down));
      if (weight == 0) continue;
      const Four four = apart(load_position(component, reference, row + down, to.column + right));
      sum.even += weight * four.even;
      sum.odd += weight * four.odd;
    }
    return {sum.even >> to.shift & kEveryOther, sum.odd >> to.shift & kEveryOther};
  }
};

struct Compensator {
  const ObmcParams& params;
  const ObmcComponentParams& component;
  const int number;
  const TileWindows& windows;
  const PlaneStarts& starts;
  const int32_t x, y, rows;  // the first sample, and how many rows are in the picture

  __device__ __forceinline__ void predict(const ObmcBlock& block, uint32_t needed,
                                          Four (&made)[kObmcRows]) const {
    const uint32_t used = block.references;
    if (used == 0) {
      const uint32_t lanes = static_cast<uint32_t>(block.dc[number] + 128) * 0x10001u;
#pragma unroll
      for (Four& four : made) four = {lanes, lanes};
      return;
    }
#pragma unroll 1
    for (int r = 0; r < kMaxObmcReferences; ++r) {
      if ((used >> r & 1) == 0) continue;
      Four fetched[kObmcRows] = {};
      const Fetch fetch = {component, starts, r,
                           pointed_at(component, params.precision, block, r, x, y), rows};
      fetch.rows_of(needed, fetched);
      const bool is_second = r == 1 && used == 3;
#pragma unroll
      for (int k = 0; k < kObmcRows; ++k)
        made[k] = is_second ? mean_of(made[k], fetched[k]) : fetched[k];
    }
  }

  // Adds 64 times what is predicted.
  __device__ __forceinline__ void sum_up(int32_t lane, int32_t group,
                                         int (&sums)[kObmcRows][4]) const {
    const int32_t left = windows.first_column_block[lane], right = windows.last_column_block[lane];
    const int32_t top = windows.first_row_block[group], bottom = windows.last_row_block[group];
#pragma unroll 1
    for (int32_t j = top; j <= bottom; ++j) {
      const uint32_t weights = windows.rows[j - top][group];
      const ObmcBlock* blocks =
          params.blocks + static_cast<int64_t>(j) * component.across.axis.blocks;
#pragma unroll 1
      for (int32_t i = left; i <= right; ++i) {
        const uint32_t window = windows.columns[i - left][lane];
        const uint32_t even = __byte_perm(window, 0, 0x2440), odd = __byte_perm(window, 0, 0x3441);
        Four made[kObmcRows] = {};
        predict(blocks[i], weights, made);
#pragma unroll
        for (int r = 0; r < kObmcRows; ++r) {
          const uint32_t weight = weights >> (8 * r) & 0xffu;
          const uint32_t evens = weight * made[r].even, odds = weight * made[r].odd;
          sums[r][0] = dot2_s16_s8<false>(evens, even, sums[r][0]);
          sums[r][1] = dot2_s16_s8<false>(odds, odd, sums[r][1]);
          sums[r][2] = dot2_s16_s8<true>(evens, even, sums[r][2]);
          sums[r][3] = dot2_s16_s8<true>(odds, odd, sums[r][3]);
        }
      }
    }
  }

  __device__ __forceinline__ void store(int32_t row, const int (&sums)[4]) const {
    const int32_t count = min(4, component.width - x);
    int32_t values[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) values[k] = sums[k] >> kObmcWindowShift;
    if (component.residual.data != nullptr) {
      const auto* from = reinterpret_cast<const int16_t*>(component.residual.data +
                                                          row * component.residual.pitch) +
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
    uint8_t* to = component.samples.data + row * component.samples.pitch + x;
    if (count == 4) {
      *reinterpret_cast<uint32_t*>(to) = word;
      return;
    }
#pragma unroll 1
    for (int32_t k = 0; k < count; ++k, word >>= 8) to[k] = static_cast<uint8_t>(word);
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kObmcThreads, kObmcCtas)
    obmc_compensate_bytes(const __grid_constant__ ObmcParams params) {
  __shared__ TileWindows windows;
  __shared__ PlaneStarts starts;
  int number;
  const ObmcComponentParams& component = component_of_cta(params, &number);
  const uint32_t tile = blockIdx.x - component.first_cta;
  const auto tile_y = static_cast<int32_t>(tile / component.tiles_across) * kObmcTileRows;
  const auto tile_x = static_cast<int32_t>(tile % component.tiles_across) * kObmcTileColumns;
  if (params.blocks != nullptr) {
    starts.fill(component);
    fill_windows(component, tile_x, tile_y, &windows);
    __syncthreads();
  }
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const auto group = static_cast<int32_t>(threadIdx.x / 32);
  const int32_t x = tile_x + lane * kObmcColumns, y = tile_y + group * kObmcRows;
  if (x >= component.width || y >= component.height) return;
  const Compensator compensator = {params, component, number, windows,
                                   starts, x,         y,      min(kObmcRows, component.height - y)};
  constexpr int kRounding = 1 << (kObmcWindowShift - 1), kGrey = 128 << kObmcWindowShift;
  const int begin = params.blocks != nullptr ? kRounding : kGrey;
  int sums[kObmcRows][4];
#pragma unroll
  for (auto& row : sums)
#pragma unroll
    for (int& sum : row) sum = begin;
  if (params.blocks != nullptr) compensator.sum_up(lane, group, sums);
#pragma unroll
  for (int r = 0; r < kObmcRows; ++r)
    if (r < compensator.rows) compensator.store(y + r, sums[r]);
}

}  // namespace cudatransform::cuda
