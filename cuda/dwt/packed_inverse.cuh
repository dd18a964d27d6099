// Inverse levels with two values in each word: see packed.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Levels are dequantized two at a time as well. The value of a level l is
// (2 l qf + sign(l) (2 qo + 1) + 3) >> 3. A product of 32 bits multiplies both lanes. Where both
// values are within the limit, both sums fit their lanes, and what the lanes borrow in between does
// not matter. Another value wraps modulo 2^16, and is seen, if its level is within a power of two
// that goes with the tile's quantizers: see levels_bias(). So levels are checked, too.
#pragma once

#include "cuda/dwt/fast.cuh"
#include "cuda/dwt/lanes.cuh"
#include "cuda/dwt/ring.cuh"

namespace cudatransform::cuda {

// A value outside of the limit wraps modulo 2^13 once its sum has been shifted, and stays outside.
static_assert(kLaneLimit + 1 + kMaxOfLevels < 1 << 13);
static_assert(kLaneLimit - kMaxOfLevels - 1 + (1 << 13) >= 2 * kLaneLimit);

// The signs of two levels, and 1 more, of lanes with a bias that makes the levels positive.
__host__ __device__ constexpr uint32_t signs_of_biased(uint32_t biased, uint32_t bias) {
  const uint32_t not_negative = biased + (in_lanes(32768) - bias);
  const uint32_t positive = not_negative - in_lanes(1);
  return (not_negative >> 15 & in_lanes(1)) + (positive >> 15 & in_lanes(1));
}
constexpr bool signs_hold() {
  for (int level = -kLaneLimit; level < kLaneLimit; ++level)
    for (int other = -1; other <= 1; ++other) {
      const auto low = static_cast<uint32_t>(level + kLaneLimit);
      const auto high = static_cast<uint32_t>(other + kLaneLimit);
      const uint32_t sign = level < 0 ? 0 : level == 0 ? 1 : 2;
      const uint32_t signs = signs_of_biased(high << 16 | low, in_lanes(kLaneLimit));
      if (signs != (static_cast<uint32_t>(other + 1) << 16 | sign)) return false;
    }
  return true;
}
static_assert(signs_hold());

// kOfTwo: as a part of two_levels.cuh.
template <Wavelet kWavelet, int kPairs, bool kAtSamples, bool kOfTwo = false>
struct PackedInverse {
  static constexpr int kWords = kPairs / 2;
  static constexpr bool kCopies = !kOfTwo && has_four_taps(lifting(kWavelet).steps[1]);
  using Ring = RowRing<4, 4 * kWords>;
  using Place = Strip<kWavelet, Direction::kInverse, kPairs,
                      kOfTwo ? strip_shape_of_two(kWavelet, kPairs)
                             : strip_shape(kWavelet, Direction::kInverse, kPairs)>;
  using Columns = LaneColumns<kWavelet, Direction::kInverse, kWords>;
  using Line = typename Columns::Line;
  using Window = typename Columns::Window;
  static constexpr bool kRowsFirst = Columns::kRowsFirst;
  static constexpr int kRowsAhead = kCopies ? Ring::kRowsAhead : 1;
  static constexpr int kUnroll = kPairs > 2 && kWavelet != Wavelet::kHaar ? 2 : 1;
  static constexpr bool kKnowsPhase = false;
  static constexpr Beyond kBeyond = kCopies ? Beyond::kEndsFastLoop : Beyond::kLoadsLastAgain;
  struct Raw {
    RawValues<kPairs> bands[4];
  };

  const FusedParams& params;
  const TileParams& tile;
  const Place& place;
  const bool low_quantized;
  // For each band: the lane's place, and the quantizer.
  const uint8_t* from[4];
  uint32_t pitch[2];  // of LL and of the others
  uint32_t factor[4], offset[4];
  uint32_t rest[4];  // rounding and bias, less what the biases of level and sign bring
  const uint32_t levels_bias, two;
  uint32_t seen_levels = 0;      // of all biased levels that were read
  int32_t whole_rows, cut_rows;  // of samples, that the lane writes: all of its own, or the first
  uint32_t most;                 // of samples, before the shift
  uint32_t seen = 0;             // of all lanes that were read
  Columns columns;
  std::conditional_t<kCopies, Ring, NoRing> ring;

  __device__ __forceinline__ PackedInverse(const FusedParams& all, const Place& own)
      : PackedInverse(all, own, all.tiles[own.component]) {}
  __device__ __forceinline__ PackedInverse(const FusedParams& all, const Place& own,
                                           const TileParams& level)
      : params(all),
        tile(level),
        place(own),
        low_quantized(quantizes(tile.bands[0])),
        levels_bias(tile.levels_bias),
        two(params.two) {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const ValuesParams& band = tile.bands[b];
      from[b] = band.data + place.x * 2;
      factor[b] = band.lane_quantizer & 0xffffu;
      offset[b] = band.lane_quantizer >> 16;
      rest[b] = in_lanes(3 + 8 * bias_of(b)) - in_lanes(offset[b]) - levels_bias * factor[b];
      keep_in_register(from[b]);
      if (b > 0) keep_in_register(rest[b]);
    }
    pitch[0] = static_cast<uint32_t>(tile.bands[0].pitch);
    pitch[1] = static_cast<uint32_t>(tile.bands[1].pitch);
    keep_in_register(pitch[0]);
    keep_in_register(pitch[1]);
    const int32_t rows = place.own ? tile.samples.rows : 0;
    const bool whole = 2 * (place.x + kPairs) <= tile.samples.width;
    whole_rows = whole ? rows : 0;
    cut_rows = whole ? 0 : rows;
    most = params.max_doubled;
    keep_in_register(whole_rows);
    keep_in_register(cut_rows);
    if (kAtSamples) keep_in_register(most);
  }

  // Odd values of the first direction have the odd bias.
  static constexpr int32_t bias_of(int b) {
    return (kRowsFirst ? b % 2 != 0 : b >= 2) ? Line::kRead.odd : Line::kRead.even;
  }
  __device__ __forceinline__ bool is_outside() const {
    return outside_limit(seen, kLaneLimit) ||
           (seen_levels & ~(2 * levels_bias - in_halves(1))) != 0;
  }
  template <int kBand>
  __device__ __forceinline__ const uint8_t* row_of(int32_t n) const {
    return from[kBand] + static_cast<uint32_t>(n) * pitch[kBand == 0 ? 0 : 1];
  }
  template <int kBand>
  __device__ __forceinline__ void load(int32_t n, Raw* raw) const {
    if constexpr (kCopies)
      begin_copy<4 * kWords>(ring.place(n) + kBand * Ring::kPieceBytes, row_of<kBand>(n));
    else
      raw->bands[kBand] = load_words<kWords>(row_of<kBand>(n));
  }
  __device__ __forceinline__ void load_early(int32_t n, Raw* raw) const {
    load<1>(n, raw);
    load<2>(n, raw);
    load<3>(n, raw);
  }
  __device__ __forceinline__ void load_late(int32_t n, Raw* raw) const { load<0>(n, raw); }
  // What is beyond the last row does not count.
  template <bool kEdges>
  __device__ __forceinline__ void finish_load(int32_t n, Raw* raw) const {
    if constexpr (kCopies) {
      *raw = {};
      if (kEdges && n >= tile.pairs_y) return;
      ring.load(n, raw->bands);
    }
  }
  // The signs of two levels, and 1 more.
  __device__ __forceinline__ uint32_t signs_and_one(uint32_t levels,
                                                    [[maybe_unused]] uint32_t biased) const {
#if defined(CT_EMULATED) || __CUDA_ARCH__ >= 900
    return __viaddmin_s16x2_relu(levels, in_halves(1), two);
#else
    return signs_of_biased(biased, levels_bias);
#endif
  }
  // Levels as values, biased: two words of a lane.
  __device__ __forceinline__ void read(const RawValues<kPairs>& levels, int b, bool quantized,
                                       uint32_t (&lanes)[kWords]) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      if (quantized) {
        const uint32_t biased = add_halves(levels.at[w], levels_bias);
        const uint32_t signs = signs_and_one(levels.at[w], biased);
        seen_levels |= biased;
        lanes[w] = shifted_lanes<3>(biased * factor[b] + (signs * offset[b] + rest[b]));
      } else {
        lanes[w] = with_bias(levels.at[w], bias_of(b));
      }
    }
  }
  // Lanes as values modulo 2^16, after the shift of the level.
  template <int32_t kBias>
  __device__ __forceinline__ uint32_t stored(uint32_t lanes) const {
    if (!shifts_levels<kWavelet>(params)) return with_bias(lanes, -kBias);
    constexpr int32_t kRounds = kBias % 2 == 0 ? 1 : 0;
    return with_bias(shifted_lanes<1>(lanes + in_lanes(kRounds)), -((kBias + kRounds) / 2));
  }
  // Bytes of samples, in the upper half of each lane if the level ends with a shift.
  template <int32_t kBias>
  __device__ __forceinline__ uint32_t sample_lanes(uint32_t lanes) const {
    if (!shifts_levels<kWavelet>(params))
      return __viaddmin_s16x2_relu(lanes, in_halves(128 - kBias), in_halves(255));
    return __viaddmin_s16x2_relu(lanes, in_halves(257 - kBias), most) << 7;
  }
  // Samples of a row: bytes of a lane.
  template <bool kOdd>
  __device__ __forceinline__ ValueVector<uint32_t, kWords> samples_of(
      const uint32_t (&even)[kWords], const uint32_t (&odd)[kWords]) const {
    constexpr LaneBias kBias = kRowBias<kOdd>;
    ValueVector<uint32_t, kWords> bytes;
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      bytes.at[w] = __byte_perm(sample_lanes<kBias.even>(even[w]), sample_lanes<kBias.odd>(odd[w]),
                                shifts_levels<kWavelet>(params) ? 0x7351 : 0x6240);
    return bytes;
  }
  template <bool kOdd>
  __device__ __forceinline__ void store(const uint32_t (&even)[kWords],
                                        const uint32_t (&odd)[kWords], int32_t y) const {
    if constexpr (kAtSamples) {
      const ValueVector<uint32_t, kWords> bytes = samples_of<kOdd>(even, odd);
      uint8_t* const to = tile.samples.data +
                          (static_cast<uint32_t>(y) * static_cast<uint32_t>(tile.samples.pitch) +
                           static_cast<uint32_t>(2 * place.x));
      if (y < whole_rows) *reinterpret_cast<ValueVector<uint32_t, kWords>*>(to) = bytes;
      if (y < cut_rows) store_first_bytes<kPairs>(to, tile.samples.width - 2 * place.x, bytes);
    } else {
      if (!place.own) return;
      constexpr LaneBias kBias = kRowBias<kOdd>;
      RawValues<2 * kPairs> row;
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const uint32_t low = stored<kBias.even>(even[w]), high = stored<kBias.odd>(odd[w]);
        row.at[2 * w] = __byte_perm(low, high, 0x5410);
        row.at[2 * w + 1] = __byte_perm(low, high, 0x7632);
      }
      const uint32_t at = static_cast<uint32_t>(y) * static_cast<uint32_t>(tile.full.pitch) +
                          static_cast<uint32_t>(place.x) * 4;
      *reinterpret_cast<RawValues<2 * kPairs>*>(tile.full.data + at) = row;
    }
  }

  // The values of HL, LH and HH.
  template <bool kQuantized>
  __device__ __forceinline__ void read_high(const Raw& raw, uint32_t (&lanes)[4][kWords]) {
#pragma unroll
    for (int b = 1; b < 4; ++b) read(raw.bands[b], b, kQuantized, lanes[b]);
  }
  // Takes pair `n` of rows; the pair kLag before it is finished vertically then.
  template <bool kEdges>
  __device__ __forceinline__ void lift_columns(int32_t n, uint32_t (&lanes)[4][kWords]) {
#pragma unroll
    for (int b = 0; b < 4; ++b)
#pragma unroll
      for (int w = 0; w < kWords; ++w) seen |= lanes[b][w];
    columns.template take<kEdges>(lanes, n, tile.pairs_y, place.edges);
  }
  // A row of that pair, finished horizontally, with the biases kRowBias.
  template <bool kOdd>
  __device__ __forceinline__ void finish_row(uint32_t (&even)[kWords],
                                             uint32_t (&odd)[kWords]) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      even[w] = kOdd ? columns.low[w].odd() : columns.low[w].even();
      odd[w] = kOdd ? columns.high[w].odd() : columns.high[w].even();
    }
    if constexpr (!kRowsFirst) lift_row_lanes<typename Line::Second>(even, odd, place.edges);
  }
  static constexpr int32_t last_bias(bool odd) { return odd ? Line::kLast.odd : Line::kLast.even; }
  template <bool kOdd>
  static constexpr LaneBias kRowBias =
      kRowsFirst ? LaneBias{last_bias(kOdd), last_bias(kOdd)} : Line::kLast;

  template <bool kEdges, int kNumber = 0>
  __device__ __forceinline__ void take(int32_t n, Raw raw) {
    finish_load<kEdges>(n, &raw);
    uint32_t lanes[4][kWords];
    if (low_quantized)
      read(raw.bands[0], 0, true, lanes[0]);
    else
      read(raw.bands[0], 0, false, lanes[0]);
    if (levels_bias != 0)
      read_high<true>(raw, lanes);
    else
      read_high<false>(raw, lanes);
    lift_columns<kEdges>(n, lanes);
    const int32_t done = n - Window::kLag;
    if (done < place.first) return;
    finish<false>(2 * done);
    finish<true>(2 * done + 1);
  }
  template <bool kOdd>
  __device__ __forceinline__ void finish(int32_t y) const {
    uint32_t even[kWords], odd[kWords];
    finish_row<kOdd>(even, odd);
    store<kOdd>(even, odd, y);
  }
};

}  // namespace cudatransform::cuda
