// The forward levels of fast.cuh for a filter of eight taps a step: see eights.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Samples of a byte are lifted as they are, though values are 128 less: the roundings take that
// away on the way.
#pragma once

#include "cuda/dwt/eights.cuh"

namespace cudatransform::cuda {

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct EightTapForward : TwoRows<kWavelet, kPairs, kAtSamples> {
  using Base = TwoRows<kWavelet, kPairs, kAtSamples>;
  using Base::tile, Base::place;
  using typename Base::Place;
  using typename Base::RawRow;
  static constexpr Direction kDirection = Direction::kForward;
  static constexpr int kWords = kPairs / 2;
  using Window = PairWalk<kWavelet, kDirection>;
  static constexpr LiftingStep kFirst = kPipeline<kWavelet, kDirection>.steps[0];
  // Of samples, after the steps along a row.
  static constexpr int kOddMore = kAtSamples ? -128 : 0;
  static constexpr int kEvenMore = kAtSamples ? -128 - 128 * sum_of_taps(kFirst) / 256 : 0;
  struct Raw {
    RawRow rows[2][2];  // even ones, odd ones
  };

  const bool at_edge;                // whether a lane of the warp is at an end of the rows
  Window low[kPairs], high[kPairs];  // columns

  __device__ __forceinline__ EightTapForward(const FusedParams& params, const Place& own)
      : Base(params, own),
        at_edge(__any_sync(kAllLanes, own.edges.is_first || own.edges.is_last) != 0) {}

  // Rows beyond the level are its first and last ones.
  __device__ __forceinline__ void load_early(int32_t, Raw*) const {}
  __device__ __forceinline__ void load_late(int32_t t, Raw* raw) const {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const int32_t n = min(max(2 * t + row, 0), tile.pairs_y - 1);
      raw->rows[0][row] = Base::load_row(2 * n);
      raw->rows[1][row] = Base::load_row(2 * n + 1);
    }
  }

  // The first step along two rows of samples, by bytes: four taps an instruction.
  __device__ __forceinline__ void step_bytes(const RawRow (&rows)[2],
                                             uint32_t (&even)[2][kWords]) const {
    uint32_t own[2], up[2], down[2];
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      own[row] = __byte_perm(rows[row].at[0], rows[row].at[kWords - 1], 0x7531);
      up[row] = __shfl_up_sync(kAllLanes, own[row], 1);
      down[row] = __shfl_down_sync(kAllLanes, own[row], 1);
    }
    if (at_edge) {
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        keep_in_register(up[row]);  // or else all warps would run through this
        if (place.edges.is_first) up[row] = __byte_perm(own[row], 0, 0x0000);
        if (place.edges.is_last) down[row] = __byte_perm(own[row], 0, 0x3333);
      }
    }
#pragma unroll
    for (int row = 0; row < 2; ++row) step_of_bytes(up[row], own[row], down[row], even[row]);
  }
  // Odd samples before the lane's own, those, and those after.
  static __device__ __forceinline__ void step_of_bytes(uint32_t up, uint32_t own, uint32_t down,
                                                       uint32_t (&even)[kWords]) {
    constexpr EightTaps t(kFirst);
    static_assert(kFirst.first == -4 && has_wide_middle(kFirst) && kWords == 2);
    constexpr int kRounding = rounding_with(kFirst, kEvenMore);
    const uint32_t between = __byte_perm(up, own, 0x5432);
    int sum[4];
    sum[0] = dot4_u8_s8(up, weights_of(t[0], t[1], t[2], 0), kRounding);
    sum[0] = dot4_u8_u8(between, weights_of(0, t[3], t[4], 0), sum[0]);
    sum[0] = dot4_u8_s8(own, weights_of(0, t[5], t[6], t[7]), sum[0]);
    sum[1] = dot4_u8_s8(up, weights_of(0, t[0], t[1], t[2]), kRounding);
    sum[1] = dot4_u8_u8(own, weights_of(t[3], t[4], 0, 0), sum[1]);
    sum[1] = dot4_u8_s8(own, weights_of(0, 0, t[5], t[6]), sum[1]);
    sum[1] = dot4_u8_s8(down, weights_of(t[7], 0, 0, 0), sum[1]);
    sum[2] = dot4_u8_s8(up, weights_of(0, 0, t[0], t[1]), kRounding);
    sum[2] = dot4_u8_u8(own, weights_of(0, t[3], t[4], 0), sum[2]);
    sum[2] = dot4_u8_s8(own, weights_of(t[2], 0, 0, t[5]), sum[2]);
    sum[2] = dot4_u8_s8(down, weights_of(t[6], t[7], 0, 0), sum[2]);
    sum[3] = dot4_u8_s8(up, weights_of(0, 0, 0, t[0]), kRounding);
    sum[3] = dot4_u8_u8(own, weights_of(0, 0, t[3], t[4]), sum[3]);
    sum[3] = dot4_u8_s8(own, weights_of(t[1], t[2], 0, 0), sum[3]);
    sum[3] = dot4_u8_s8(down, weights_of(t[5], t[6], t[7], 0), sum[3]);
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      even[w] = with_terms<kFirst.subtract>(even[w], sum[2 * w], sum[2 * w + 1]);
  }
  __device__ __forceinline__ void lift(const RawRow (&rows)[2], uint32_t (&even)[2][kWords],
                                       uint32_t (&odd)[2][kWords]) const {
#pragma unroll
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        if constexpr (kAtSamples) {
          even[row][w] = rows[row].at[w] & 0x00ff00ffu;
          odd[row][w] = __byte_perm(rows[row].at[w], 0, 0x4341);
        } else {
          even[row][w] = first_of(rows[row].at[2 * w], rows[row].at[2 * w + 1]);
          odd[row][w] = last_of(rows[row].at[2 * w], rows[row].at[2 * w + 1]);
        }
      }
    if constexpr (kAtSamples && kWords == 2)
      step_bytes(rows, even);
    else
      step_rows<kWavelet, kDirection, 0, kEvenMore>(even, odd, place.lane, place.edges, at_edge);
    step_rows<kWavelet, kDirection, 1, kOddMore>(even, odd, place.lane, place.edges, at_edge);
  }

  template <bool kOdd>
  __device__ __forceinline__ void store(int b, const Window (&columns)[kPairs], int32_t n) const {
    const ValuesParams& band = tile.bands[b];
    uint32_t pairs[kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) pairs[i] = kOdd ? columns[i].odd() : columns[i].even();
    RawValues<kPairs> rows[2];
    if (quantizes(band)) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const uint32_t a = pairs[2 * w], b = pairs[2 * w + 1];
        rows[0].at[w] = quantized_pair(a << 16, b << 16, band);
        rows[1].at[w] = quantized_pair(a & 0xffff0000u, b & 0xffff0000u, band);
      }
    } else {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        rows[0].at[w] = first_of(pairs[2 * w], pairs[2 * w + 1]);
        rows[1].at[w] = last_of(pairs[2 * w], pairs[2 * w + 1]);
      }
    }
    Base::store_band(rows[0], b, n);
    if (n + 1 < place.end) Base::store_band(rows[1], b, n + 1);
  }

  __device__ __forceinline__ void take(int32_t t, const Raw& raw) {
    // Of both parities of rows, both rows: low and high columns.
    uint32_t columns[2][2][kPairs];
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
      uint32_t even[2][kWords], odd[2][kWords];
      lift(raw.rows[parity], even, odd);
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        columns[parity][0][2 * w] = first_of(even[0][w], even[1][w]);
        columns[parity][0][2 * w + 1] = last_of(even[0][w], even[1][w]);
        columns[parity][1][2 * w] = first_of(odd[0][w], odd[1][w]);
        columns[parity][1][2 * w + 1] = last_of(odd[0][w], odd[1][w]);
      }
    }
    take_pairs(low, columns[0][0], columns[1][0], t, tile.pairs_y);
    take_pairs(high, columns[0][1], columns[1][1], t, tile.pairs_y);
    const int32_t done = 2 * (t - Window::kLag);
    if (done < place.first) return;
    store<false>(0, low, done);
    store<false>(1, high, done);
    store<true>(2, low, done);
    store<true>(3, high, done);
  }
};

}  // namespace cudatransform::cuda
