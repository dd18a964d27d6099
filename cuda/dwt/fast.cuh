// Levels of 16 bits whose rows may be read as vectors, to or from samples of a byte: the same walk
// as fused.cuh, without what other formats and measuring need.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Such a level is limited by the instructions that it issues. Code that a walk only steps over
// costs as well: the loop no longer fits where an SM keeps its instructions. Hence separate
// kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/lift.cuh"
#include "cuda/dwt/memory.cuh"
#include "cuda/dwt/strip.cuh"
#include "cuda/dwt/walk.cuh"

namespace cudatransform::cuda {

// The kernels below are the fallback for filters of kLaneFilters, so they save registers for the
// sake of the packed ones. For the others see eights.cuh and float_levels.cuh, too.

// kPairs values of 16 bits, in memory order.
template <int kPairs>
using RawValues = ValueVector<uint32_t, kPairs / 2>;

__device__ __forceinline__ int32_t value_of(uint32_t word, int half) {
  return static_cast<int16_t>(half == 0 ? word : word >> 16);
}
template <int kPairs>
__device__ __forceinline__ RawValues<kPairs> packed(const int32_t (&values)[kPairs]) {
  RawValues<kPairs> raw;
#pragma unroll
  for (int i = 0; i < kPairs / 2; ++i)
    raw.at[i] = __byte_perm(static_cast<uint32_t>(values[2 * i]),
                            static_cast<uint32_t>(values[2 * i + 1]), 0x5410);
  return raw;
}

// The first `count` samples of kPairs pairs. Seldom called, so short rather than fast.
template <int kPairs>
__device__ __forceinline__ void store_first_bytes(uint8_t* to, int32_t count,
                                                  const ValueVector<uint32_t, kPairs / 2>& bytes) {
  uint64_t rest = bytes.at[0];
  if constexpr (kPairs > 2) rest |= uint64_t{bytes.at[kPairs / 2 - 1]} << 32;
#pragma unroll 1
  for (int32_t i = 0; i < count; ++i, rest >>= 8) to[i] = static_cast<uint8_t>(rest);
}
// Samples of kPairs pairs from pair `x` on. Beyond a row of samples nothing is written, and its
// last one is read; below the last row nothing is written, and it is read.
template <int kPairs>
__device__ __forceinline__ void store_bytes(const SamplesParams& samples, int32_t x, int32_t y,
                                            const ValueVector<uint32_t, kPairs / 2>& bytes) {
  if (y >= samples.rows) return;
  const int32_t begin = 2 * x;
  uint8_t* const to =
      samples.data + (static_cast<uint32_t>(y) * static_cast<uint32_t>(samples.pitch) +
                      static_cast<uint32_t>(begin));
  if (begin + 2 * kPairs <= samples.width)
    *reinterpret_cast<ValueVector<uint32_t, kPairs / 2>*>(to) = bytes;
  else
    store_first_bytes<kPairs>(to, samples.width - begin, bytes);
}
template <int kPairs>
__device__ __forceinline__ ValueVector<uint32_t, kPairs / 2> load_bytes(
    const SamplesParams& samples, int32_t x, int32_t y) {
  using Bytes = ValueVector<uint32_t, kPairs / 2>;
  const int32_t begin = 2 * x;
  const uint8_t* const from = samples.data + static_cast<uint32_t>(min(y, samples.rows - 1)) *
                                                 static_cast<uint32_t>(samples.pitch);
  if (begin + 2 * kPairs <= samples.width)
    return *reinterpret_cast<const Bytes*>(from + static_cast<uint32_t>(begin));
  Bytes row = {};
  uint64_t bytes = 0;
#pragma unroll 1
  for (int i = 2 * kPairs - 1; i >= 0; --i)
    bytes = bytes << 8 | from[min(begin + i, samples.width - 1)];
  row.at[0] = static_cast<uint32_t>(bytes);
  if constexpr (kPairs > 2) row.at[kPairs / 2 - 1] = static_cast<uint32_t>(bytes >> 32);
  return row;
}

// Whether levels end with a shift: only haar goes with either.
template <Wavelet kWavelet>
__device__ __forceinline__ bool shifts_levels(const FusedParams& params) {
  return kWavelet == Wavelet::kHaar ? params.shift != 0
                                    : lifting(kWavelet).shift_between_levels != 0;
}

// Lets the successor in the stream be launched. The first kernel of a job waits before it does: by
// the time that the second one is launched, the work that writes the bands has finished.
__device__ __forceinline__ void begin_level(const FusedParams& params) {
  if (params.is_first != 0) wait_for_predecessor();
  if (params.successor_first != 0) let_successor_launch();
}

// What an inverse level reads.
template <Wavelet kWavelet, int kPairs>
struct FourBands {
  using Place = Strip<kWavelet, Direction::kInverse, kPairs>;
  struct Raw {
    RawValues<kPairs> bands[4];
  };

  const FusedParams& params;
  const TileParams& tile;
  const Place& place;

  __device__ __forceinline__ FourBands(const FusedParams& all, const Place& own,
                                       const TileParams& level)
      : params(all), tile(level), place(own) {}
  __device__ __forceinline__ FourBands(const FusedParams& all, const Place& own)
      : FourBands(all, own, all.tiles[own.component]) {}

  __device__ __forceinline__ bool low_quantized() const { return quantizes(tile.bands[0]); }
  __device__ __forceinline__ bool high_quantized() const {
    return quantizes(tile.bands[1]) || quantizes(tile.bands[2]) || quantizes(tile.bands[3]);
  }
  __device__ __forceinline__ void load_band(int b, int32_t n, Raw* raw) const {
    const uint32_t at = static_cast<uint32_t>(n) * static_cast<uint32_t>(tile.bands[b].pitch) +
                        static_cast<uint32_t>(place.x) * 2;
    raw->bands[b] = *reinterpret_cast<const RawValues<kPairs>*>(tile.bands[b].data + at);
  }
  // The bands that no kernel of the job writes, and the low one.
  __device__ __forceinline__ void load_early(int32_t n, Raw* raw) const {
#pragma unroll
    for (int b = 1; b < 4; ++b) load_band(b, n, raw);
  }
  __device__ __forceinline__ void load_late(int32_t n, Raw* raw) const { load_band(0, n, raw); }
  // A row of results.
  __device__ __forceinline__ void store_row(const RawValues<2 * kPairs>& row, int32_t y) const {
    const uint32_t at = static_cast<uint32_t>(y) * static_cast<uint32_t>(tile.full.pitch) +
                        static_cast<uint32_t>(place.x) * 4;
    *reinterpret_cast<RawValues<2 * kPairs>*>(tile.full.data + at) = row;
  }
};

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct FastInverse : FourBands<kWavelet, kPairs> {
  using Base = FourBands<kWavelet, kPairs>;
  using Base::params, Base::tile, Base::place;
  using typename Base::Place;
  using typename Base::Raw;
  using Window = Walk<int16_t, kWavelet, Direction::kInverse>;
  static constexpr bool kRowsFirst = lifting(kWavelet).rows_first;
  static constexpr int kRowsAhead = 1, kUnroll = 1;
  static constexpr bool kKnowsPhase = false;
  static constexpr Beyond kBeyond = Beyond::kLoadsLastAgain;

  Window windows[2 * kPairs];

  using Base::Base;

  __device__ __forceinline__ void dequantize(int32_t (&levels)[kPairs], int b) const {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) levels[i] = dequantized<int16_t>(levels[i], tile.bands[b]);
  }
  __device__ __forceinline__ void lift(int32_t (&even)[kPairs], int32_t (&odd)[kPairs]) const {
    lift_row<int16_t, kWavelet, Direction::kInverse, kPairs>(even, odd, place.lane, place.edges);
  }

  __device__ __forceinline__ void store(const int32_t (&even)[kPairs], const int32_t (&odd)[kPairs],
                                        int32_t y) const {
    if (!place.own) return;
    const bool shifts = shifts_levels<kWavelet>(params);
    // Samples are 128 more: before the shift, one addition adds both this and the rounding.
    constexpr int32_t kMore = kAtSamples ? 128 : 0;
    int32_t row[2 * kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      row[2 * i] = shifts ? (even[i] + (2 * kMore + 1)) >> 1 : even[i] + kMore;
      row[2 * i + 1] = shifts ? (odd[i] + (2 * kMore + 1)) >> 1 : odd[i] + kMore;
    }
    if constexpr (kAtSamples) {
      store_samples(row, y);
    } else {
      Base::store_row(packed<2 * kPairs>(row), y);
    }
  }
  __device__ __forceinline__ void store_samples(const int32_t (&row)[2 * kPairs], int32_t y) const {
    ValueVector<uint32_t, kPairs / 2> bytes;
#pragma unroll
    for (int i = 0; i < kPairs / 2; ++i)
      bytes.at[i] = pack_four_clamped(row[4 * i], row[4 * i + 1], row[4 * i + 2], row[4 * i + 3]);
    store_bytes<kPairs>(tile.samples, place.x, y, bytes);
  }

  template <bool kEdges, int kNumber = 0>
  __device__ __forceinline__ void take(int32_t n, const Raw& raw) {
    int32_t levels[4][kPairs];
#pragma unroll
    for (int b = 0; b < 4; ++b)
#pragma unroll
      for (int i = 0; i < kPairs; ++i) levels[b][i] = value_of(raw.bands[b].at[i / 2], i % 2);
    if (Base::low_quantized()) dequantize(levels[0], 0);
    if (Base::high_quantized()) {
      dequantize(levels[1], 1);
      dequantize(levels[2], 2);
      dequantize(levels[3], 3);
    }
    if constexpr (kRowsFirst) {
      lift(levels[0], levels[1]);
      lift(levels[2], levels[3]);
    }
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      windows[i].template take<kEdges>(levels[0][i], levels[2][i], n, tile.pairs_y);
      windows[kPairs + i].template take<kEdges>(levels[1][i], levels[3][i], n, tile.pairs_y);
    }
    const int32_t done = n - Window::kLag;
    if (done < place.first) return;
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
      int32_t low[kPairs], high[kPairs];
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        low[i] = parity == 0 ? windows[i].even() : windows[i].odd();
        high[i] = parity == 0 ? windows[kPairs + i].even() : windows[kPairs + i].odd();
      }
      if constexpr (!kRowsFirst) lift(low, high);
      store(low, high, 2 * done + parity);
    }
  }
};

// What a forward level reads and writes.
template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct TwoRows {
  using Place = Strip<kWavelet, Direction::kForward, kPairs>;
  // A row of 2 kPairs: samples of a byte, or values.
  using RawRow = ValueVector<uint32_t, kAtSamples ? kPairs / 2 : kPairs>;
  struct Raw {
    RawRow rows[2];
  };

  const FusedParams& params;
  const TileParams& tile;
  const Place& place;

  __device__ __forceinline__ TwoRows(const FusedParams& all, const Place& own)
      : params(all), tile(all.tiles[own.component]), place(own) {}

  __device__ __forceinline__ RawRow load_row(int32_t y) const {
    if constexpr (!kAtSamples) {
      const uint32_t at = static_cast<uint32_t>(y) * static_cast<uint32_t>(tile.full.pitch) +
                          static_cast<uint32_t>(place.x) * 4;
      return *reinterpret_cast<const RawRow*>(tile.full.data + at);
    } else {
      return load_bytes<kPairs>(tile.samples, place.x, y);
    }
  }
  __device__ __forceinline__ void load_early(int32_t, Raw*) const {}
  __device__ __forceinline__ void load_late(int32_t n, Raw* raw) const {
    raw->rows[0] = load_row(2 * n);
    raw->rows[1] = load_row(2 * n + 1);
  }
  __device__ __forceinline__ void store_band(const RawValues<kPairs>& values, int b,
                                             int32_t n) const {
    if (!place.own) return;
    const ValuesParams& band = tile.bands[b];
    const uint32_t at = static_cast<uint32_t>(n) * static_cast<uint32_t>(band.pitch) +
                        static_cast<uint32_t>(place.x) * 2;
    *reinterpret_cast<RawValues<kPairs>*>(band.data + at) = values;
  }
};

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct FastForward : TwoRows<kWavelet, kPairs, kAtSamples> {
  using Base = TwoRows<kWavelet, kPairs, kAtSamples>;
  using Base::params, Base::tile, Base::place;
  using typename Base::Place;
  using typename Base::Raw;
  using Window = Walk<int16_t, kWavelet, Direction::kForward>;
  static constexpr bool kRowsFirst = !lifting(kWavelet).rows_first;
  static constexpr int kRowsAhead = 1, kUnroll = 1;
  static constexpr bool kKnowsPhase = false;
  static constexpr Beyond kBeyond = Beyond::kLoadsLastAgain;

  Window windows[2 * kPairs];

  __device__ __forceinline__ FastForward(const FusedParams& all, const Place& own)
      : Base(all, own) {}

  __device__ __forceinline__ void lift(int32_t (&even)[kPairs], int32_t (&odd)[kPairs]) const {
    lift_row<int16_t, kWavelet, Direction::kForward, kPairs>(even, odd, place.lane, place.edges);
  }
  __device__ __forceinline__ void store(int b, int32_t n, int32_t (&values)[kPairs]) const {
    const ValuesParams& band = tile.bands[b];
    if (quantizes(band)) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) values[i] = quantized<int16_t>(values[i], band);
    }
    Base::store_band(packed<kPairs>(values), b, n);
  }

  template <bool kEdges, int kNumber = 0>
  __device__ __forceinline__ void take(int32_t n, const Raw& raw) {
    // Low columns of the first row, high ones, then those of the second.
    int32_t values[4][kPairs];
    const bool shifts = shifts_levels<kWavelet>(params);
#pragma unroll
    for (int i = 0; i < 4 * kPairs; ++i) {
      const int row = i / (2 * kPairs), x = i % (2 * kPairs);
      int32_t value;
      if constexpr (kAtSamples)
        value = static_cast<int32_t>(raw.rows[row].at[x / 4] >> (8 * (x % 4)) & 0xff) - 128;
      else
        value = value_of(raw.rows[row].at[x / 2], x % 2);
      values[2 * row + x % 2][x / 2] =
          shifts ? static_cast<int16_t>(static_cast<uint32_t>(value) << 1) : value;
    }
    if constexpr (kRowsFirst) {
      lift(values[0], values[1]);
      lift(values[2], values[3]);
    }
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      windows[i].template take<kEdges>(values[0][i], values[2][i], n, tile.pairs_y);
      windows[kPairs + i].template take<kEdges>(values[1][i], values[3][i], n, tile.pairs_y);
    }
    const int32_t done = n - Window::kLag;
    if (done < place.first) return;
    int32_t out[4][kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      out[0][i] = windows[i].even();
      out[1][i] = windows[kPairs + i].even();
      out[2][i] = windows[i].odd();
      out[3][i] = windows[kPairs + i].odd();
    }
    if constexpr (!kRowsFirst) {
      lift(out[0], out[1]);
      lift(out[2], out[3]);
    }
#pragma unroll
    for (int b = 0; b < 4; ++b) store(b, done, out[b]);
  }
};

template <Wavelet kWavelet, Direction kDirection, int kPairs, bool kAtSamples>
using FastLevel =
    std::conditional_t<kDirection == Direction::kInverse, FastInverse<kWavelet, kPairs, kAtSamples>,
                       FastForward<kWavelet, kPairs, kAtSamples>>;

}  // namespace cudatransform::cuda
