// The inverse levels of fast.cuh for a filter of eight taps a step: see eights.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dwt/eights.cuh"

namespace cudatransform::cuda {

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
  const bool at_edge;                // whether a lane of the warp is at an end of the rows
  Window low[kPairs], high[kPairs];  // columns

  __device__ __forceinline__ EightTapInverse(const FusedParams& params, const Place& own)
      : tile(params.tiles[own.component]),
        place(own),
        at_edge(__any_sync(kAllLanes, own.edges.is_first || own.edges.is_last) != 0) {}

  // Row 0 or 1 of pair `t` of rows: rows beyond the level are its first and last one.
  __device__ __forceinline__ int32_t row_of(int32_t t, int row) const {
    return min(max(2 * t + row, 0), tile.pairs_y - 1);
  }
  // columns: LL, HL, LH, HH.
  __device__ __forceinline__ void step_columns(const uint32_t (&columns)[4][kPairs], int32_t t) {
    take_pairs(low, columns[0], columns[2], t, tile.pairs_y);
    take_pairs(high, columns[1], columns[3], t, tile.pairs_y);
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

  __device__ __forceinline__ uint32_t dequantized_pair(uint32_t a, uint32_t b, int half,
                                                       const ValuesParams& band) const {
    return last_of(dequantized_above(value_of(a, half), band.scaled_factor, band.scaled_offset, 0),
                   dequantized_above(value_of(b, half), band.scaled_factor, band.scaled_offset, 0));
  }
  __device__ __forceinline__ void read(const Raw& raw, int b, uint32_t (&columns)[kPairs]) const {
    const ValuesParams& band = tile.bands[b];
    const auto& rows = raw.bands;
    if (quantizes(band)) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i)
        columns[i] = dequantized_pair(rows[0][b].at[i / 2], rows[1][b].at[i / 2], i % 2, band);
    } else {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        columns[2 * w] = first_of(rows[0][b].at[w], rows[1][b].at[w]);
        columns[2 * w + 1] = last_of(rows[0][b].at[w], rows[1][b].at[w]);
      }
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
  // The finished pair of rows of a parity.
  template <bool kOdd>
  __device__ __forceinline__ void finish(int32_t n) const {
    uint32_t even[2][kWords], odd[2][kWords];
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      row_of_columns<kOdd>(low, row, even[row]);
      row_of_columns<kOdd>(high, row, odd[row]);
    }
    step_rows<kWavelet, kDirection, 0>(even, odd, place.lane, place.edges, at_edge);
    step_rows<kWavelet, kDirection, 1>(even, odd, place.lane, place.edges, at_edge);
    store(even[0], odd[0], 2 * n + (kOdd ? 1 : 0));
    if (n + 1 < place.end) store(even[1], odd[1], 2 * n + (kOdd ? 3 : 2));
  }

  __device__ __forceinline__ void take(int32_t t, const Raw& raw) {
    uint32_t columns[4][kPairs];
#pragma unroll
    for (int b = 0; b < 4; ++b) read(raw, b, columns[b]);
    step_columns(columns, t);
    const int32_t done = 2 * (t - Window::kLag);
    if (done < place.first) return;
    finish<false>(done);
    finish<true>(done);
  }
};

}  // namespace cudatransform::cuda
