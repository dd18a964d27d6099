// Forward levels with two values in each word: see packed.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dwt/fast.cuh"
#include "cuda/dwt/lanes.cuh"

namespace cudatransform::cuda {

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct PackedForward : TwoRows<kWavelet, kPairs, kAtSamples> {
  using Base = TwoRows<kWavelet, kPairs, kAtSamples>;
  using Base::params, Base::tile, Base::place;
  using typename Base::Place;
  using typename Base::Raw;
  using typename Base::RawRow;
  static constexpr int kWords = kPairs / 2;
  // Values are read before they are doubled between levels.
  static constexpr int32_t kReadLimit = kLaneLimit / 2;
  using Columns = LaneColumns<kWavelet, Direction::kForward, kWords>;
  using Line = typename Columns::Line;
  using Window = typename Columns::Window;
  static constexpr bool kRowsFirst = Columns::kRowsFirst;
  static constexpr int kRowsAhead = 1, kUnroll = 1;
  static constexpr bool kKnowsPhase = false;

  uint32_t seen = 0;
  Columns columns;

  __device__ __forceinline__ PackedForward(const FusedParams& all, const Place& own)
      : Base(all, own) {}

  __device__ __forceinline__ bool is_outside() const {
    return !kAtSamples && outside_limit(seen, kReadLimit);
  }
  // From a bias of kFrom to kTo, doubled where levels end with a shift.
  template <int32_t kFrom, int32_t kTo>
  __device__ __forceinline__ uint32_t between_levels(uint32_t lanes) const {
    const bool doubles = kWavelet == Wavelet::kHaar ? params.shift != 0
                                                    : lifting(kWavelet).shift_between_levels != 0;
    return doubles ? 2 * lanes + in_lanes(kTo - 2 * kFrom) : lanes + in_lanes(kTo - kFrom);
  }
  // A row of the pair, 0 or 1.
  template <int kRow>
  __device__ __forceinline__ void read(const RawRow& row, uint32_t (&even)[kWords],
                                       uint32_t (&odd)[kWords]) {
    // The odd values of the first direction are odd columns, or the second row.
    constexpr int32_t kEven = kRowsFirst || kRow == 0 ? kReadBias.even : kReadBias.odd;
    constexpr int32_t kOdd = kRowsFirst || kRow == 1 ? kReadBias.odd : kReadBias.even;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      if constexpr (kAtSamples) {
        even[w] = between_levels<128, kEven>(row.at[w] & 0x00ff00ffu);
        odd[w] = between_levels<128, kOdd>(row.at[w] >> 8 & 0x00ff00ffu);
      } else {
        const uint32_t low = __byte_perm(row.at[2 * w], row.at[2 * w + 1], 0x5410);
        const uint32_t high = __byte_perm(row.at[2 * w], row.at[2 * w + 1], 0x7632);
        even[w] = with_bias(low, kReadLimit);
        odd[w] = with_bias(high, kReadLimit);
        seen |= even[w] | odd[w];
        even[w] = between_levels<kReadLimit, kEven>(even[w]);
        odd[w] = between_levels<kReadLimit, kOdd>(odd[w]);
      }
    }
  }
  // Quantises 4 times a value, below 2^16: the quotient towards 0. The reciprocal is 2^32 / qf, and
  // 1 more: exact where the product of both is below 2^32, and a qf of 2^16 and above makes
  // everything 0.
  __device__ __forceinline__ static uint32_t quantised_small(int32_t four,
                                                             const ValuesParams& band) {
    return static_cast<uint32_t>(__mulhi(four, band.small_reciprocal)) +
           (static_cast<uint32_t>(four) >> 31);
  }
  template <int32_t kBias>
  __device__ __forceinline__ void store(int b, int32_t n, const uint32_t (&lanes)[kWords]) const {
    const ValuesParams& band = tile.bands[b];
    RawValues<kPairs> row;
    if (quantises(band)) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const int32_t low = static_cast<int32_t>(lanes[w] & 0xffffu) * 4 - 4 * kBias;
        const int32_t high = static_cast<int32_t>(lanes[w] >> 16) * 4 - 4 * kBias;
        row.at[w] = __byte_perm(quantised_small(low, band), quantised_small(high, band), 0x5410);
      }
    } else {
#pragma unroll
      for (int w = 0; w < kWords; ++w) row.at[w] = with_bias(lanes[w], -kBias);
    }
    Base::store_band(row, b, n);
  }

  template <bool kEdges, int kNumber = 0>
  __device__ __forceinline__ void take(int32_t n, const Raw& raw) {
    // Low columns of the first row, high ones, then those of the second.
    uint32_t lanes[4][kWords];
    read<0>(raw.rows[0], lanes[0], lanes[1]);
    read<1>(raw.rows[1], lanes[2], lanes[3]);
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
    store<kLast.even>(0, done, out[0]);
    store<kRowsFirst ? kLast.even : kLast.odd>(1, done, out[1]);
    store<kRowsFirst ? kLast.odd : kLast.even>(2, done, out[2]);
    store<kLast.odd>(3, done, out[3]);
  }
};

}  // namespace cudatransform::cuda
