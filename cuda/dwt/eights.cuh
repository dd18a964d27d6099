// The inverse levels of fast.cuh for a filter of eight taps a step: two values in a word, along the
// taps.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Values stand in pairs along the line that is lifted, n and n + 1 for even n, and one instruction
// multiplies a pair by two taps and adds both. Sums have 32 bits and results keep 16 of them for
// all values, so nothing is checked and nothing done twice. A walk takes two pairs of rows at a
// time, for the vertical steps; between the directions pairs are turned from down to across.
#pragma once

#include "cuda/dwt/fast.cuh"

namespace cudatransform::cuda {

// The first and the last value of a pair, twice.
__device__ __forceinline__ uint32_t both_first(uint32_t pair) {
  return __byte_perm(pair, 0, 0x1010);
}
__device__ __forceinline__ uint32_t both_last(uint32_t pair) {
  return __byte_perm(pair, 0, 0x3232);
}
// The first values of two pairs, and their last ones.
__device__ __forceinline__ uint32_t first_of(uint32_t a, uint32_t b) {
  return __byte_perm(a, b, 0x5410);
}
__device__ __forceinline__ uint32_t last_of(uint32_t a, uint32_t b) {
  return __byte_perm(a, b, 0x7632);
}

// A step as an addition: its taps, negated if it subtracts, as signed bytes. If a tap has more than
// 8 bits, 256 is taken out of it, and the value that it multiplies is added behind the shift.
struct EightTaps {
  int taps[8] = {};
  int rounding = 0;
  int whole = 0;  // 1 or -1: the sign of the two in the middle where 256 has been taken out of them
};
constexpr EightTaps eight_taps(const LiftingStep& step) {
  EightTaps made;
  for (int k = 0; k < 8; ++k) {
    made.taps[k] = step.subtract ? -step.taps[k] : step.taps[k];
    if (made.taps[k] >= -128 && made.taps[k] <= 127) continue;
    made.whole = made.taps[k] > 0 ? 1 : -1;
    made.taps[k] -= 256 * made.whole;
  }
  // Subtracting x >> 8 equals adding (255 - x) >> 8.
  made.rounding = step.subtract ? 255 - step.rounding : step.rounding;
  // Subtracting v equals adding its complement and 1.
  if (made.whole < 0) made.rounding += 256;
  return made;
}
constexpr bool has_eight_taps(Wavelet wavelet) {
  const Lifting& filter = lifting(wavelet);
  for (int s = 0; s < filter.count; ++s)
    if (filter.steps[s].count != 8 || filter.steps[s].shift != 8) return false;
  return filter.count == 2 && filter.shift_between_levels == 0 && !filter.rows_first;
}

// Two bytes of weights for each of two pairs.
constexpr uint32_t weights_of(int a, int b, int c, int d) {
  return (static_cast<uint32_t>(a) & 255) | (static_cast<uint32_t>(b) & 255) << 8 |
         (static_cast<uint32_t>(c) & 255) << 16 | (static_cast<uint32_t>(d) & 255) << 24;
}

// Updates a pair of the step's target. near[0] to near[4]: pairs of the other parity, from the
// second before to the second behind.
template <Wavelet kWavelet, Direction kDirection, int kStep>
__device__ __forceinline__ uint32_t lifted_pair(uint32_t pair, const uint32_t (&near)[5]) {
  constexpr LiftingStep step = kPipeline<kWavelet, kDirection>.steps[kStep];
  constexpr EightTaps of = eight_taps(step);
  static_assert(step.first == -3 || step.first == -4);
  constexpr int kAligned = step.first + 4;  // 1: taps of the pair's last value begin with a pair
  // Weights of the value whose taps begin and end within a pair.
  constexpr uint32_t kSplit[2] = {weights_of(0, of.taps[0], of.taps[1], of.taps[2]),
                                  weights_of(of.taps[3], of.taps[4], of.taps[5], of.taps[6])};
  constexpr uint32_t kSplitLast = weights_of(of.taps[7], 0, 0, 0);
  int split = dot2_s16_s8<false>(near[0], kSplit[0], of.rounding);
  split = dot2_s16_s8<true>(near[1], kSplit[0], split);
  split = dot2_s16_s8<false>(near[2], kSplit[1], split);
  split = dot2_s16_s8<true>(near[3], kSplit[1], split);
  split = dot2_s16_s8<false>(near[4], kSplitLast, split);
  constexpr uint32_t kWhole[2] = {weights_of(of.taps[0], of.taps[1], of.taps[2], of.taps[3]),
                                  weights_of(of.taps[4], of.taps[5], of.taps[6], of.taps[7])};
  int whole = dot2_s16_s8<false>(near[kAligned], kWhole[0], of.rounding);
  whole = dot2_s16_s8<true>(near[kAligned + 1], kWhole[0], whole);
  whole = dot2_s16_s8<false>(near[kAligned + 2], kWhole[1], whole);
  whole = dot2_s16_s8<true>(near[kAligned + 3], kWhole[1], whole);
  const int first = kAligned == 1 ? split : whole, last = kAligned == 1 ? whole : split;
  // Bits 8 to 23 of both.
  const uint32_t term =
      __byte_perm(static_cast<uint32_t>(first), static_cast<uint32_t>(last), 0x6521);
  uint32_t made = add_halves(pair, term);
  if constexpr (of.whole != 0) {
    static_assert(kAligned == 0);  // the two in the middle: the pair itself, and one before
    const uint32_t middle = add_halves(__byte_perm(near[1], near[2], 0x5432), near[2]);
    made = add_halves(made, of.whole > 0 ? middle : ~middle);
  }
  return made;
}

// The window of a walk down a column: values[a] is the pair a before the one just taken.
template <Wavelet kWavelet, Direction kDirection>
struct PairWalk {
  static_assert(has_eight_taps(kWavelet));
  static constexpr bool kOddFirst = kPipeline<kWavelet, kDirection>.steps[0].updates_odd;
  static constexpr int kLag = 4;  // pairs: each step needs two that come after its own

  uint32_t source[5], target[7];  // of the first step

  // Takes pair `t` of both parities, of a column of `values` values of each. Before the column and
  // behind it there are its first value and its last one.
  __device__ __forceinline__ void take(uint32_t even, uint32_t odd, int32_t t, int32_t values) {
#pragma unroll
    for (int a = 4; a > 0; --a) source[a] = source[a - 1];
#pragma unroll
    for (int a = 6; a > 0; --a) target[a] = target[a - 1];
    source[0] = kOddFirst ? even : odd;
    target[0] = kOddFirst ? odd : even;
    const uint32_t sources[5] = {source[4], source[3], source[2], source[1], source[0]};
    target[2] = lifted_pair<kWavelet, kDirection, 0>(target[2], sources);
    const int32_t at = 2 * (t - 2);
    if (at == 0) {
#pragma unroll
      for (int a = 3; a < 7; ++a) target[a] = both_first(target[2]);
    }
    if (at + 1 >= values) target[2] = at >= values ? both_last(target[3]) : both_first(target[2]);
    const uint32_t targets[5] = {target[6], target[5], target[4], target[3], target[2]};
    source[4] = lifted_pair<kWavelet, kDirection, 1>(source[4], targets);
  }
  // The pair kLag before the one just taken.
  __device__ __forceinline__ uint32_t even() const { return kOddFirst ? source[4] : target[4]; }
  __device__ __forceinline__ uint32_t odd() const { return kOddFirst ? target[4] : source[4]; }
};

// Two pairs before a lane's first one and two behind its last.
template <int kWords>
__device__ __forceinline__ void gather_near(const uint32_t (&words)[kWords], int32_t lane,
                                            const LaneEdges& edges, uint32_t (&near)[kWords + 4]) {
  constexpr int kLast = kWords - 1;
  constexpr int kFar = kWords == 1 ? 2 : 1;  // lanes to the second pair
  const uint32_t begin = both_first(words[0]), end = both_last(words[kLast]);
  near[0] = __shfl_up_sync(0xffffffffu, words[0], kFar);
  near[1] = __shfl_up_sync(0xffffffffu, words[kLast], 1);
  near[kWords + 2] = __shfl_down_sync(0xffffffffu, words[0], 1);
  near[kWords + 3] = __shfl_down_sync(0xffffffffu, words[kLast], kFar);
#pragma unroll
  for (int w = 0; w < kWords; ++w) near[2 + w] = words[w];
  if constexpr (kWords == 1) {
    if (lane - 1 == edges.first_lane) near[0] = both_first(near[1]);
    if (lane + 1 == edges.last_lane) near[kWords + 3] = both_last(near[kWords + 2]);
  }
  if (edges.is_first) near[0] = near[1] = begin;
  if (edges.is_last) near[kWords + 2] = near[kWords + 3] = end;
}

// Lifts a row in place.
template <Wavelet kWavelet, Direction kDirection, int kWords>
__device__ __forceinline__ void lift_row_pairs(uint32_t (&even)[kWords], uint32_t (&odd)[kWords],
                                               int32_t lane, const LaneEdges& edges) {
  for_each_step<2>([&](auto number) {
    constexpr int kStep = decltype(number)::value;
    constexpr bool kOdd = kPipeline<kWavelet, kDirection>.steps[kStep].updates_odd;
    uint32_t near[kWords + 4];
    gather_near<kWords>(kOdd ? even : odd, lane, edges, near);
    auto& target = kOdd ? odd : even;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint32_t five[5] = {near[w], near[w + 1], near[w + 2], near[w + 3], near[w + 4]};
      target[w] = lifted_pair<kWavelet, kDirection, kStep>(target[w], five);
    }
  });
}

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct EightTapInverse {
  static constexpr Direction kDirection = Direction::kInverse;
  static constexpr int kWords = kPairs / 2;
  using Place = Strip<kWavelet, kDirection, kPairs>;
  using Window = PairWalk<kWavelet, kDirection>;
  struct Raw {
    RawValues<kPairs> bands[2][4];
  };

  const TileParams& tile;
  const Place& place;
  Window low[kPairs], high[kPairs];  // columns

  __device__ __forceinline__ EightTapInverse(const FusedParams& params, const Place& own)
      : tile(params.tiles[own.component]), place(own) {}

  // Row 0 or 1 of pair `t` of rows: rows beyond the level are its first and last one.
  __device__ __forceinline__ int32_t row_of(int32_t t, int row) const {
    return min(max(2 * t + row, 0), tile.pairs_y - 1);
  }
  __device__ __forceinline__ void lift(uint32_t (&even)[kWords], uint32_t (&odd)[kWords]) const {
    lift_row_pairs<kWavelet, kDirection, kWords>(even, odd, place.lane, place.edges);
  }
  // columns: LL, HL, LH, HH.
  __device__ __forceinline__ void step_columns(const uint32_t (&columns)[4][kPairs], int32_t t) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      low[i].take(columns[0][i], columns[2][i], t, tile.pairs_y);
      high[i].take(columns[1][i], columns[3][i], t, tile.pairs_y);
    }
  }
  // Row `row` of the finished pair, of low or high columns.
  template <bool kOdd>
  __device__ __forceinline__ void row_of_columns(const Window (&columns)[kPairs], int row,
                                                 uint32_t (&words)[kWords]) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint32_t a = kOdd ? columns[2 * w].odd() : columns[2 * w].even();
      const uint32_t b = kOdd ? columns[2 * w + 1].odd() : columns[2 * w + 1].even();
      words[w] = row == 0 ? first_of(a, b) : last_of(a, b);
    }
  }
  __device__ __forceinline__ void load_band(int b, int32_t t, Raw* raw) const {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const uint32_t at =
          static_cast<uint32_t>(row_of(t, row)) * static_cast<uint32_t>(tile.bands[b].pitch) +
          static_cast<uint32_t>(place.x) * 2;
      raw->bands[row][b] = *reinterpret_cast<const RawValues<kPairs>*>(tile.bands[b].data + at);
    }
  }
  __device__ __forceinline__ void load_early(int32_t t, Raw* raw) const {
#pragma unroll
    for (int b = 1; b < 4; ++b) load_band(b, t, raw);
  }
  __device__ __forceinline__ void load_late(int32_t t, Raw* raw) const { load_band(0, t, raw); }

  __device__ __forceinline__ uint32_t dequantised_pair(uint32_t a, uint32_t b, int half,
                                                       const ValuesParams& band) const {
    return last_of(dequantised_above(value_of(a, half), band.scaled_factor, band.scaled_offset, 0),
                   dequantised_above(value_of(b, half), band.scaled_factor, band.scaled_offset, 0));
  }
  __device__ __forceinline__ void read(const Raw& raw, int b, uint32_t (&columns)[kPairs]) const {
    const ValuesParams& band = tile.bands[b];
    const bool quantised = quantises(band);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint32_t first = raw.bands[0][b].at[w], second = raw.bands[1][b].at[w];
      columns[2 * w] =
          quantised ? dequantised_pair(first, second, 0, band) : first_of(first, second);
      columns[2 * w + 1] =
          quantised ? dequantised_pair(first, second, 1, band) : last_of(first, second);
    }
  }

  // Values as samples of a byte, in the lower half of each lane.
  static __device__ __forceinline__ uint32_t sample_pair(uint32_t pair) {
    return __viaddmax_s16x2_relu(__vmins2(pair, in_halves(127)), in_halves(128), 0);
  }
  __device__ __forceinline__ void store(const uint32_t (&even)[kWords],
                                        const uint32_t (&odd)[kWords], int32_t y) const {
    if (!place.own) return;
    if constexpr (kAtSamples) {
      ValueVector<uint32_t, kWords> bytes;
#pragma unroll
      for (int w = 0; w < kWords; ++w)
        bytes.at[w] = __byte_perm(sample_pair(even[w]), sample_pair(odd[w]), 0x6240);
      store_bytes<kPairs>(tile.samples, place.x, y, bytes);
    } else {
      RawValues<2 * kPairs> row;
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        row.at[2 * w] = first_of(even[w], odd[w]);
        row.at[2 * w + 1] = last_of(even[w], odd[w]);
      }
      const uint32_t at = static_cast<uint32_t>(y) * static_cast<uint32_t>(tile.full.pitch) +
                          static_cast<uint32_t>(place.x) * 4;
      *reinterpret_cast<RawValues<2 * kPairs>*>(tile.full.data + at) = row;
    }
  }
  template <bool kOdd>
  __device__ __forceinline__ void finish(int32_t n, int row) const {
    uint32_t even[kWords], odd[kWords];
    row_of_columns<kOdd>(low, row, even);
    row_of_columns<kOdd>(high, row, odd);
    lift(even, odd);
    store(even, odd, 2 * n + (kOdd ? 1 : 0));
  }

  __device__ __forceinline__ void take(int32_t t, const Raw& raw) {
    uint32_t columns[4][kPairs];
#pragma unroll
    for (int b = 0; b < 4; ++b) read(raw, b, columns[b]);
    step_columns(columns, t);
    const int32_t done = 2 * (t - Window::kLag);
    if (done < place.first) return;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      if (done + row >= place.end) return;
      finish<false>(done + row, row);
      finish<true>(done + row, row);
    }
  }
};

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
__device__ __forceinline__ void transform_eight_taps(const FusedParams& params) {
  using Level = EightTapInverse<kWavelet, kPairs, kAtSamples>;
  const typename Level::Place place(params, blockIdx.x);
  begin_level(params);
  if (!place.exists) return;
  Level level(params, place);
  constexpr int32_t kLag = Level::Window::kLag;
  int32_t t = place.first / 2 - kLag;  // runs begin at even rows
  const int32_t end = (place.end + 1) / 2 + kLag;
  typename Level::Raw next;
  level.load_early(t, &next);
  wait_for_predecessor();
  level.load_late(t, &next);
#pragma unroll 1
  for (; t < end; ++t) {
    const typename Level::Raw raw = next;
    level.load_early(t + 1, &next);
    level.load_late(t + 1, &next);
    level.take(t, raw);
  }
}

}  // namespace cudatransform::cuda
