// Motion compensation of samples of a byte, four of them in a word.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 15.8. A lane has four columns of two rows, a warp 128 columns
// of them, and gathers the predictions of the blocks over its samples: no two threads write the
// same sample, so nothing is added up in memory. Windows and the targets of vectors are in shared
// memory, worked out once for a tile. A prediction of four samples is two words of two lanes of 16
// bits each, those of even and odd columns: a sum of half positions in them is at most
// 16 x 255 + 8. For two references it is their mean. Windows are up to 8 a direction, and dp2a
// adds up their products with a prediction.
//
// The specification computes with samples around zero. Windows sum to 64, and the weights that this
// kernel is for to 1, so that all of it may be done with samples as they are.
#include "cuda/common/ptx.cuh"
#include "cuda/obmc/kernels.h"
#include "cuda/obmc/tile_vectors.cuh"

namespace cudatransform::cuda {
namespace {

constexpr uint32_t kEveryOther = 0x00ff00ffu;

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

// Four bytes; `bits_in_front` bits precede the first in a row's word. A word that has none of them
// is not read.
__device__ __forceinline__ uint32_t load_inner(const uint8_t* word, uint32_t bits_in_front) {
  const auto* words = reinterpret_cast<const uint32_t*>(word);
  const uint32_t low = __ldg(words);
  uint32_t high = 0;  // any value will do but `low`, for which the second load would wait
  if (bits_in_front != 0) high = __ldg(words + 1);
  return __funnelshift_r(low, high, bits_in_front);
}

// Four samples of a row, byte by byte; its last sample is repeated.
__device__ __forceinline__ uint32_t load_end(const uint8_t* row, int32_t column, int32_t width) {
  uint32_t word = 0;
#pragma unroll 1
  for (int32_t k = 3; k >= 0; --k) word = word << 8 | row[min(column + k, width - 1)];
  return word;
}

// How many columns are in whole words. Memory after a row's end has never been written.
__device__ __forceinline__ int32_t columns_in_words(int32_t width) { return width & ~3; }

// The sum of the half positions around a vector's end.
struct Mix {
  uint32_t weights[4];
  uint32_t rounding;
  int shift;

  __device__ __forceinline__ Mix(const VectorEnd& end, int precision)
      : rounding(in_halves(1 << 2 * rest_bits(precision) >> 1)), shift(2 * rest_bits(precision)) {
#pragma unroll
    for (int k = 0; k < 4; ++k) weights[k] = end.weight(k);
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

// The beginnings of references' planes, for positions around the picture. Each lane chooses one,
// and parameters are read one by one.
struct PlaneStarts {
  const uint8_t* at[kMaxObmcReferences][4];

  // Filled by threads of the CTA, which have to synchronize afterwards.
  __device__ __forceinline__ void fill(const ObmcComponentParams& component) {
    const uint32_t reference = threadIdx.x / 4, plane = threadIdx.x % 4;
    if (reference < kMaxObmcReferences)
      at[reference][plane] = component.references[reference][plane].data;
  }
};

// Four half positions next to each other from `column` on, some of which may be around the picture.
struct Columns {
  int32_t plane;      // 0: whole positions, 1: those between them
  int32_t within;     // the first that is read: where they begin, moved into the picture
  uint32_t selector;  // of the four requested; 4: the picture's first

  __device__ __forceinline__ Columns(int32_t column, int32_t width) : plane(column & 1) {
    const int32_t first = column >> 1;
    within = max(min(first, width - 4), 0);
    const int32_t behind = min(first - within, 3), before = min(within - first, 4);
    selector = before > 0 ? 0x32104444u >> (16 - 4 * before) : 0x3333210u >> (4 * behind);
  }
  __device__ __forceinline__ uint32_t load(const uint8_t* row, int32_t width) const {
    if (within + 4 > columns_in_words(width)) return load_end(row, within, width);
    return load_inner(row + (within & ~3), static_cast<uint32_t>(8 * (within & 3)));
  }
};

// Values that are the same for all blocks over a lane.
struct LanePlace {
  int32_t x, y;     // its first sample
  uint32_t pitch;   // of all planes
  uint32_t offset;  // of its first sample in each
  // All that a lane reads is in whole words of the picture if its first half position, as an
  // unsigned number, is less than these.
  uint32_t inner_columns, inner_rows;

  // `beyond`: how many half positions are read after the first, 0 or 1.
  __device__ __forceinline__ LanePlace(const ObmcComponentParams& component, int32_t x, int32_t y,
                                       int beyond)
      : x(x),
        y(y),
        pitch(static_cast<uint32_t>(component.references[0][0].pitch)),
        offset(static_cast<uint32_t>(y) * pitch + static_cast<uint32_t>(x)),
        inner_columns(
            static_cast<uint32_t>(max(2 * columns_in_words(component.width) - 6 - beyond, 0))),
        inner_rows(static_cast<uint32_t>(max(2 * component.height - 3 - beyond, 0))) {}
};

// One reference's prediction for a lane.
struct Fetch {
  const ObmcComponentParams& component;
  const PlaneStarts& starts;
  const LanePlace& lane;
  const int precision, reference;
  const VectorEnd& end;

  __device__ __forceinline__ bool is_inner() const {
    return static_cast<uint32_t>(end.column + 2 * lane.x) < lane.inner_columns &&
           static_cast<uint32_t>(end.row + 2 * lane.y) < lane.inner_rows;
  }

  __device__ __forceinline__ void operator()(Four (&made)[kObmcRows]) const {
    if (!is_inner()) return around(made);
    if (rest_bits(precision) == 0) {  // half positions themselves, for every block
      const uint8_t* row = first(0);
#pragma unroll
      for (Four& four : made) {
        four = apart(load_inner(row, end.in_front(0)));
        row += lane.pitch;
      }
      return;
    }
    // All positions, even those of weight 0: no load waits for another, and no lane for one whose
    // vector needs more.
    uint32_t words[kObmcRows][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint8_t* row = first(k);
#pragma unroll
      for (auto& four : words) {
        four[k] = load_inner(row, end.in_front(k));
        row += lane.pitch;
      }
    }
    const Mix mix(end, precision);
#pragma unroll
    for (int r = 0; r < kObmcRows; ++r) made[r] = mix(words[r]);
  }

 private:
  __device__ __forceinline__ const uint8_t* first(int position) const {
    return reinterpret_cast<const uint8_t*>(end.at[position] + lane.offset);
  }
  __device__ __forceinline__ void around(Four (&made)[kObmcRows]) const {
    const Mix mix(end, precision);
    const Columns left(end.column + 2 * lane.x, component.width);
    const Columns right(end.column + 2 * lane.x + 1, component.width);
#pragma unroll
    for (int r = 0; r < kObmcRows; ++r) {
      const int32_t row = end.row + 2 * (lane.y + r);
      uint32_t words[4] = {};
      load_row_around(row, left, right, precision > 0, &words[0], &words[1]);
      if (rest_bits(precision) > 0)
        load_row_around(row + 1, left, right, true, &words[2], &words[3]);
      made[r] = mix(words);
    }
  }
  // Four half positions next to each other, and those right of them.
  __device__ __forceinline__ void load_row_around(int32_t row, const Columns& left,
                                                  const Columns& right, bool has_right,
                                                  uint32_t* left_word, uint32_t* right_word) const {
    row = max(min(row, 2 * component.height - 2), 0);
    const uint32_t offset = static_cast<uint32_t>(row >> 1) * lane.pitch;
    const uint8_t* const* planes = starts.at[reference] + 2 * (row & 1);
    const uint32_t word = left.load(planes[left.plane] + offset, component.width);
    uint32_t other = word;
    if (has_right) other = right.load(planes[right.plane] + offset, component.width);
    // In front of the first column, the first whole position is repeated.
    const uint32_t before = left.plane == 0 ? word : other;
    *left_word = __byte_perm(word, before, left.selector);
    if (has_right) *right_word = __byte_perm(other, before, right.selector);
  }
};

struct Compensator {
  const ObmcParams& params;
  const ObmcComponentParams& component;
  const TileWindows& windows;
  const TileBlocks& blocks;
  const PlaneStarts& starts;
  const LanePlace lane;

  __device__ __forceinline__ void predict(int32_t index, Four (&made)[kObmcRows]) const {
    const uint32_t head = blocks.heads[index], used = head >> TileBlocks::kReferencesBit;
    if (used == 0) {
#pragma unroll
      for (Four& four : made) four = {head * 0x10001u, head * 0x10001u};
      return;
    }
    // Lanes with one reference do the same together, whichever reference it is.
    int reference = used == 2 ? 1 : 0;
#pragma unroll 1
    for (bool again = false;; again = true, reference = 1) {
      Four fetched[kObmcRows];
      Fetch{component, starts, lane, params.precision, reference, blocks.ends[reference][index]}(
          fetched);
#pragma unroll
      for (int k = 0; k < kObmcRows; ++k)
        made[k] = again ? mean_of(made[k], fetched[k]) : fetched[k];
      if (again || used != 3) break;
    }
  }

  // Adds 64 times the predictions of the blocks in rows `top` to `bottom` of `span`.
  __device__ __forceinline__ void sum_up(const TileSpan& span, int32_t top, int32_t bottom,
                                         int (&sums)[kObmcRows][4]) const {
    const uint32_t column = threadIdx.x % 32, group = threadIdx.x / 32;
    const int32_t left = windows.first_column_block[column];
    const int32_t right = windows.last_column_block[column];
    const int32_t first = windows.first_row_block[group];
    const int32_t last = min(windows.last_row_block[group], bottom);
#pragma unroll 1
    for (int32_t j = max(first, top); j <= last; ++j) {
      const uint32_t weights = windows.rows[j - first][group];
      const int32_t begin = (j - top) * span.across() - span.left;
#pragma unroll 1
      for (int32_t i = left; i <= right; ++i) {
        const uint32_t window = windows.columns[i - left][column];
        const uint32_t even = __byte_perm(window, 0, 0x2440), odd = __byte_perm(window, 0, 0x3441);
        Four made[kObmcRows] = {};
        predict(begin + i, made);
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

  // 64 times the value before blocks are added. It is read first, so that no thread waits for it.
  __device__ __forceinline__ void begin(int32_t row, int (&sums)[4]) const {
    constexpr int kRounding = 1 << (kObmcWindowShift - 1), kGray = 128 << kObmcWindowShift;
#pragma unroll
    for (int& sum : sums) sum = params.blocks != nullptr ? kRounding : kGray;
    if (component.residual.data == nullptr) return;
    const auto* from =
        reinterpret_cast<const int16_t*>(component.residual.data + row * component.residual.pitch) +
        lane.x;
    if (component.width - lane.x >= 4) {
      const int2 words = *reinterpret_cast<const int2*>(from);
      sums[0] += static_cast<int16_t>(words.x) * (1 << kObmcWindowShift);
      sums[1] += (words.x >> 16) * (1 << kObmcWindowShift);
      sums[2] += static_cast<int16_t>(words.y) * (1 << kObmcWindowShift);
      sums[3] += (words.y >> 16) * (1 << kObmcWindowShift);
      return;
    }
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (k < component.width - lane.x) sums[k] += from[k] * (1 << kObmcWindowShift);
  }

  __device__ __forceinline__ void store(int32_t row, const int (&sums)[4]) const {
    const int32_t count = min(4, component.width - lane.x);
    uint32_t word = pack_four_clamped(sums[0] >> kObmcWindowShift, sums[1] >> kObmcWindowShift,
                                      sums[2] >> kObmcWindowShift, sums[3] >> kObmcWindowShift);
    uint8_t* to = component.samples.data + row * component.samples.pitch + lane.x;
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
  __shared__ TileBlocks blocks;
  __shared__ PlaneStarts starts;
  int number;
  // The last tiles come first: chroma has smaller blocks, so they take longest.
  const uint32_t cta = gridDim.x - 1 - blockIdx.x;
  const ObmcComponentParams& component = component_of_cta(params, cta, &number);
  const uint32_t tile = cta - component.first_cta;
  const auto tile_y = static_cast<int32_t>(tile / component.tiles_across) * kObmcTileRows;
  const auto tile_x = static_cast<int32_t>(tile % component.tiles_across) * kObmcTileColumns;
  const int32_t x = tile_x + static_cast<int32_t>(threadIdx.x % 32) * kObmcColumns;
  const int32_t y = tile_y + static_cast<int32_t>(threadIdx.x / 32) * kObmcRows;
  const bool is_inside = x < component.width && y < component.height;
  const Compensator compensator = {
      params, component, windows,
      blocks, starts,    LanePlace(component, x, y, rest_bits(params.precision) > 0 ? 1 : 0)};
  int sums[kObmcRows][4] = {};
#pragma unroll
  for (int r = 0; r < kObmcRows; ++r)
    if (is_inside && y + r < component.height) compensator.begin(y + r, sums[r]);
  if (params.blocks != nullptr) {
    starts.fill(component);
    fill_windows(component, tile_x, tile_y, &windows);
    const TileSpan span(component, tile_x, tile_y);
    const int32_t rows = span.rows_at_once();
#pragma unroll 1
    for (int32_t top = span.top; top <= span.bottom; top += rows) {
      const int32_t bottom = min(top + rows - 1, span.bottom);
      if (top != span.top) __syncthreads();
      fill_blocks(params, component, number, span, top, bottom, &blocks);
      __syncthreads();
      if (is_inside) compensator.sum_up(span, top, bottom, sums);
    }
  }
  if (!is_inside) return;
#pragma unroll
  for (int r = 0; r < kObmcRows; ++r)
    if (y + r < component.height) compensator.store(y + r, sums[r]);
}

}  // namespace cudatransform::cuda
