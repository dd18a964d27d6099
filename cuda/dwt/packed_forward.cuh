// Forward levels with two values in each word: see packed.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dwt/fast.cuh"
#include "cuda/dwt/lanes.cuh"
#include "cuda/dwt/ring.cuh"

namespace cudatransform::cuda {

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct PackedForward : TwoRows<kWavelet, kPairs, kAtSamples> {
  using Base = TwoRows<kWavelet, kPairs, kAtSamples>;
  using Base::params, Base::tile, Base::place;
  using typename Base::Place;
  using typename Base::Raw;
  using typename Base::RawRow;
  static constexpr int kWords = kPairs / 2;
  using Ring = RowRing<2, sizeof(RawRow)>;
  // Values are read before they are doubled between levels.
  static constexpr int32_t kReadLimit = kLaneLimit / 2;
  using Columns = LaneColumns<kWavelet, Direction::kForward, kWords>;
  using Line = typename Columns::Line;
  using Window = typename Columns::Window;
  static constexpr bool kRowsFirst = Columns::kRowsFirst;
  static constexpr bool kCopies = kWavelet != Wavelet::kHaar;  // which is short
  static constexpr int kRowsAhead = kCopies ? Ring::kRowsAhead : 1;
  static constexpr int kUnroll = kCopies && kPairs > 2 ? 2 : 1;
  static constexpr bool kKnowsPhase = false;
  static constexpr Beyond kBeyond = kCopies ? Beyond::kChecks : Beyond::kLoadsLastAgain;
  static constexpr bool kShifts = lifting(kWavelet).shift_between_levels != 0;
  static constexpr int32_t kBias = Line::kRead.even, kMore = kBias - (kShifts ? 256 : 128);
  static_assert(Line::kRead.odd == kBias && kMore == 1024);

  // For each band: the lane's place.
  uint8_t* to[4];
  uint32_t pitch[2];  // of LL and of the others
  const uint8_t* from;
  uint32_t row_bytes;  // of rows that are read
  uint32_t copied;     // bytes of a row: none if not all samples of the lane are within it
  uint32_t more;       // that samples get to their bias, with other bits than they have
  uint32_t seen = 0;
  Columns columns;
  std::conditional_t<kCopies, Ring, NoRing> ring;

  __device__ __forceinline__ PackedForward(const FusedParams& all, const Place& own)
      : Base(all, own) {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      to[b] = tile.bands[b].data + place.x * 2;
      keep_in_register(to[b]);
    }
    pitch[0] = static_cast<uint32_t>(tile.bands[0].pitch);
    pitch[1] = static_cast<uint32_t>(tile.bands[1].pitch);
    from = kAtSamples ? tile.samples.data + 2 * place.x : tile.full.data + 4 * place.x;
    row_bytes = static_cast<uint32_t>(kAtSamples ? tile.samples.pitch : tile.full.pitch);
    const bool whole = !kAtSamples || 2 * (place.x + kPairs) <= tile.samples.width;
    copied = whole ? sizeof(RawRow) : 0;
    keep_in_register(pitch[0]);
    keep_in_register(pitch[1]);
    if constexpr (kCopies) {
      keep_in_register(from);
      keep_in_register(row_bytes);
    }
    more = params.more;
    if (kAtSamples) keep_in_register(more);
  }
  __device__ __forceinline__ void load_late(int32_t n, Raw* raw) const {
    if constexpr (kCopies) {
      const SharedAddress place = ring.place(n);
      const int32_t last = kAtSamples ? tile.samples.rows - 1 : 2 * n + 1;
#pragma unroll
      for (int row = 0; row < 2; ++row)
        begin_copy<sizeof(RawRow)>(place + row * Ring::kPieceBytes,
                                   from + static_cast<uint32_t>(min(2 * n + row, last)) * row_bytes,
                                   copied);
    } else {
      Base::load_late(n, raw);
    }
  }
  // What is beyond the last row does not count.
  template <bool kEdges>
  __device__ __forceinline__ void finish_load(int32_t n, Raw* raw) const {
    if constexpr (kCopies) {
      *raw = {};
      if (kEdges && n >= tile.pairs_y) return;
      ring.load(n, raw->rows);
      if (kAtSamples && copied == 0) Base::load_late(n, raw);
    }
  }

  __device__ __forceinline__ bool is_outside() const {
    return !kAtSamples && outside_limit(seen, kReadLimit);
  }
  // Samples that begin at bit kBit of each lane, doubled where levels end with a shift.
  template <int kBit>
  __device__ __forceinline__ uint32_t lanes_of(uint32_t samples) const {
    if (!shifts_levels<kWavelet>(params)) return (samples >> kBit & 0x00ff00ffu) | more;
    const uint32_t doubled = (kBit == 0 ? samples << 1 : samples >> (kBit - 1)) & 0x01fe01feu;
    return kShifts ? doubled | more : doubled + in_lanes(kBias - 256);
  }
  __device__ __forceinline__ uint32_t lanes_of_values(uint32_t values) {
    const uint32_t lanes = with_bias(values, kReadLimit);
    seen |= lanes;
    return shifts_levels<kWavelet>(params) ? 2 * lanes + in_lanes(kBias - 2 * kReadLimit)
                                           : lanes + in_lanes(kBias - kReadLimit);
  }
  __device__ __forceinline__ void read(const RawRow& row, uint32_t (&even)[kWords],
                                       uint32_t (&odd)[kWords]) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      if constexpr (kAtSamples) {
        even[w] = lanes_of<0>(row.at[w]);
        odd[w] = lanes_of<8>(row.at[w]);
      } else {
        even[w] = lanes_of_values(__byte_perm(row.at[2 * w], row.at[2 * w + 1], 0x5410));
        odd[w] = lanes_of_values(__byte_perm(row.at[2 * w], row.at[2 * w + 1], 0x7632));
      }
    }
  }
  template <bool kQuantizes, int32_t kFrom>
  __device__ __forceinline__ void store(int b, int32_t n, const uint32_t (&lanes)[kWords]) const {
    RawValues<kPairs> row;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint32_t values = with_bias(lanes[w], -kFrom);
      row.at[w] =
          kQuantizes ? quantized_pair(values << 16, values & 0xffff0000u, tile.bands[b]) : values;
    }
    if (place.own) store_words(to[b] + static_cast<uint32_t>(n) * pitch[b == 0 ? 0 : 1], row);
  }

  template <bool kEdges, int kNumber = 0>
  __device__ __forceinline__ void take(int32_t n, Raw raw) {
    finish_load<kEdges>(n, &raw);
    // Low columns of the first row, high ones, then those of the second.
    uint32_t lanes[4][kWords];
    read(raw.rows[0], lanes[0], lanes[1]);
    read(raw.rows[1], lanes[2], lanes[3]);
    columns.template take<kEdges>(lanes, n, tile.pairs_y, place.edges);
    const int32_t done = n - Window::kLag;
    if (done < place.first) return;
    uint32_t out[4][kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      out[0][w] = columns.low[w].even();
      out[1][w] = columns.high[w].even();
      out[2][w] = columns.low[w].odd();
      out[3][w] = columns.high[w].odd();
    }
    constexpr LaneBias kLast = Line::kLast;
    if constexpr (!kRowsFirst) {
      lift_row_lanes<typename Line::Second>(out[0], out[1], place.edges);
      lift_row_lanes<typename Line::Second>(out[2], out[3], place.edges);
    }
    constexpr int32_t kBiases[4] = {kLast.even, kRowsFirst ? kLast.even : kLast.odd,
                                    kRowsFirst ? kLast.odd : kLast.even, kLast.odd};
    if (quantizes(tile.bands[0]))
      store<true, kBiases[0]>(0, done, out[0]);
    else
      store<false, kBiases[0]>(0, done, out[0]);
    if (tile.levels_bias != 0) {
      store<true, kBiases[1]>(1, done, out[1]);
      store<true, kBiases[2]>(2, done, out[2]);
      store<true, kBiases[3]>(3, done, out[3]);
    } else {
      store<false, kBiases[1]>(1, done, out[1]);
      store<false, kBiases[2]>(2, done, out[2]);
      store<false, kBiases[3]>(3, done, out[3]);
    }
  }
};

}  // namespace cudatransform::cuda
