// Both directions of a level in one launch: a warp walks down a strip of columns with its values in
// registers, and lifts each row with shuffles.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A lane has kPairs neighboring columns of each band. The lanes at the sides of a warp, and the
// rows before and after a run, are there for their neighbors: other warps have them as well.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/lift.cuh"
#include "cuda/dwt/memory.cuh"
#include "cuda/dwt/strip.cuh"

namespace cudatransform::cuda {

template <typename Coef, Wavelet kWavelet, int kPairs>
struct FusedInverse {
  using Place = Strip<kWavelet, Direction::kInverse, kPairs>;
  using Window = Walk<Coef, kWavelet, Direction::kInverse>;
  static constexpr bool kRowsFirst = lifting(kWavelet).rows_first;

  const FusedParams& params;
  const TileParams& tile;
  const Place& place;
  uint32_t zeros = 0;
  uint64_t error = 0;
  Window windows[2 * kPairs];  // of the columns: low ones, then high ones; rows first: as they lie

  __device__ __forceinline__ FusedInverse(const FusedParams& all, const Place& own)
      : params(all), tile(all.tiles[own.component]), place(own) {}

  __device__ __forceinline__ void load(int32_t n, int32_t (&levels)[4][kPairs]) {
#pragma unroll
    for (int b = 0; b < 4; ++b) load_values<Coef, kPairs>(tile.bands[b], place.x, n, levels[b]);
  }
  __device__ __forceinline__ void dequantize(int32_t n, int32_t (&levels)[4][kPairs]) {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const ValuesParams& band = tile.bands[b];
      if (band.counts != 0 && place.own && n >= place.first && n < place.end) {
#pragma unroll
        for (int i = 0; i < kPairs; ++i) zeros += levels[b][i] == 0;
      }
      if (quantizes(band)) {
#pragma unroll
        for (int i = 0; i < kPairs; ++i) levels[b][i] = dequantized<Coef>(levels[b][i], band);
      }
    }
  }

  __device__ __forceinline__ void store(int32_t (&even)[kPairs], int32_t (&odd)[kPairs],
                                        int32_t y) {
    if (!place.own) return;
    int32_t row[2 * kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      row[2 * i] = static_cast<int32_t>(static_cast<uint32_t>(even[i]) +
                                        static_cast<uint32_t>(params.shift)) >>
                   params.shift;
      row[2 * i + 1] = static_cast<int32_t>(static_cast<uint32_t>(odd[i]) +
                                            static_cast<uint32_t>(params.shift)) >>
                       params.shift;
    }
    if (params.at_samples == 0)
      store_values<Coef, 2 * kPairs>(tile.full, 2 * place.x, y, row);
    else
      store_samples(row, y);
  }
  __device__ __forceinline__ void store_samples(const int32_t (&row)[2 * kPairs], int32_t y) {
    const SamplesParams& samples = tile.samples;
    const int32_t x = 2 * place.x;
    if (kPairs > 1 && samples.aligned != 0 && x + 2 * kPairs <= samples.width) {
      if (y >= samples.rows) return;
      if constexpr (kPairs > 1) {
        uint8_t* at = samples.data + y * samples.pitch + x * samples.bytes;
        if (samples.bytes == 1) {
          ValueVector<uint32_t, kPairs / 2> packed;
#pragma unroll
          for (int i = 0; i < kPairs / 2; ++i)
            packed.at[i] =
                pack_four_clamped(above_zero(row[4 * i]), above_zero(row[4 * i + 1]),
                                  above_zero(row[4 * i + 2]), above_zero(row[4 * i + 3]));
          *reinterpret_cast<ValueVector<uint32_t, kPairs / 2>*>(at) = packed;
        } else {
          ValueVector<uint32_t, kPairs> packed;
#pragma unroll
          for (int i = 0; i < kPairs; ++i) {
            const auto low = static_cast<uint32_t>(sample_of(row[2 * i], samples)) << samples.shift;
            const auto high = static_cast<uint32_t>(sample_of(row[2 * i + 1], samples))
                              << samples.shift;
            packed.at[i] = __byte_perm(low, high, 0x5410);
          }
          *reinterpret_cast<ValueVector<uint32_t, kPairs>*>(at) = packed;
        }
      }
      return;
    }
#pragma unroll 1
    for (int i = 0; i < 2 * kPairs; ++i)
      error +=
          finish_sample(pick(row, i), samples, tile.reference, params.measure.sse != 0, x + i, y);
  }
  // With the level shift of 8 bits, for which values near the end of 32 have no room.
  static __device__ __forceinline__ int32_t above_zero(int32_t value) {
    return (sizeof(Coef) == 4 ? min(value, 127) : value) + 128;
  }
  // Uses selects, so that the row stays in registers.
  static __device__ __forceinline__ int32_t pick(const int32_t (&row)[2 * kPairs], int i) {
    int32_t picked = row[0];
#pragma unroll
    for (int k = 1; k < 2 * kPairs; ++k) picked = k == i ? row[k] : picked;
    return picked;
  }

  __device__ __forceinline__ void lift_row_of(int32_t (&even)[kPairs], int32_t (&odd)[kPairs]) {
    lift_row<Coef, kWavelet, Direction::kInverse, kPairs>(even, odd, place.lane, place.edges);
  }

  template <bool kEdges>
  __device__ __forceinline__ void take(int32_t n, int32_t (&levels)[4][kPairs]) {
    if (!kEdges || n < tile.pairs_y) dequantize(n, levels);
    if constexpr (kRowsFirst) {
      lift_row_of(levels[0], levels[1]);
      lift_row_of(levels[2], levels[3]);
    }
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      windows[i].template take<kEdges>(levels[0][i], levels[2][i], n, tile.pairs_y);
      windows[kPairs + i].template take<kEdges>(levels[1][i], levels[3][i], n, tile.pairs_y);
    }
    const int32_t done = n - Window::kLag;
    if (done < place.first) return;
    int32_t low[kPairs], high[kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      low[i] = windows[i].even();
      high[i] = windows[kPairs + i].even();
    }
    if constexpr (!kRowsFirst) lift_row_of(low, high);
    store(low, high, 2 * done);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      low[i] = windows[i].odd();
      high[i] = windows[kPairs + i].odd();
    }
    if constexpr (!kRowsFirst) lift_row_of(low, high);
    store(low, high, 2 * done + 1);
  }

  template <bool kEdges>
  __device__ __forceinline__ void walk() {
    const int32_t begin = max(place.first - Window::kSteps.before, 0);
    const int32_t end = place.end + Window::kLag;
    constexpr int kUnroll = kEdges ? 1 : 4;  // values then move by their names
    int32_t next[4][kPairs];
    load(begin, next);
#pragma unroll kUnroll
    for (int32_t n = begin; n < end; ++n) {
      int32_t levels[4][kPairs];
#pragma unroll
      for (int b = 0; b < 4; ++b)
#pragma unroll
        for (int i = 0; i < kPairs; ++i) levels[b][i] = next[b][i];
      load(min(n + 1, tile.pairs_y - 1), next);
      take<kEdges>(n, levels);
    }
  }
};

template <typename Coef, Wavelet kWavelet, int kPairs>
struct FusedForward {
  using Place = Strip<kWavelet, Direction::kForward, kPairs>;
  using Window = Walk<Coef, kWavelet, Direction::kForward>;
  static constexpr bool kRowsFirst = !lifting(kWavelet).rows_first;

  const FusedParams& params;
  const TileParams& tile;
  const Place& place;
  uint32_t zeros = 0;
  uint64_t error = 0;
  Window windows[2 * kPairs];

  __device__ __forceinline__ FusedForward(const FusedParams& all, const Place& own)
      : params(all), tile(all.tiles[own.component]), place(own) {}

  __device__ __forceinline__ void load_row(int32_t y, int32_t (&row)[2 * kPairs]) {
    const int32_t x = 2 * place.x;
    if (params.at_samples == 0) {
      load_values<Coef, 2 * kPairs>(tile.full, x, y, row);
      return;
    }
    const SamplesParams& samples = tile.samples;
    if (kPairs > 1 && samples.aligned != 0 && x + 2 * kPairs <= samples.width) {
      if constexpr (kPairs > 1) {
        const uint8_t* at =
            samples.data + min(y, samples.rows - 1) * samples.pitch + x * samples.bytes;
        if (samples.bytes == 1) {
          const auto packed = *reinterpret_cast<const ValueVector<uint32_t, kPairs / 2>*>(at);
#pragma unroll
          for (int i = 0; i < 2 * kPairs; ++i)
            row[i] = static_cast<int32_t>(packed.at[i / 4] >> (8 * (i % 4)) & 0xff) - 128;
        } else {
          const auto packed = *reinterpret_cast<const ValueVector<uint32_t, kPairs>*>(at);
#pragma unroll
          for (int i = 0; i < 2 * kPairs; ++i) {
            const auto container = static_cast<uint16_t>(packed.at[i / 2] >> (16 * (i % 2)));
            row[i] = static_cast<Coef>(unpack_sample16(container, samples.shift, samples.peak) -
                                       samples.level_shift);
          }
        }
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < 2 * kPairs; ++i) row[i] = centered_sample<Coef>(samples, x + i, y);
  }
  // Rows 2n and 2n+1: low columns of the first, high ones, then those of the second.
  __device__ __forceinline__ void load(int32_t n, int32_t (&values)[4][kPairs]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      int32_t row[2 * kPairs];
      load_row(2 * n + r, row);
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        values[2 * r][i] = row[2 * i];
        values[2 * r + 1][i] = row[2 * i + 1];
      }
    }
  }

  __device__ __forceinline__ void lift_row_of(int32_t (&even)[kPairs], int32_t (&odd)[kPairs]) {
    lift_row<Coef, kWavelet, Direction::kForward, kPairs>(even, odd, place.lane, place.edges);
  }

  __device__ __forceinline__ void store(int b, int32_t n, int32_t (&values)[kPairs]) {
    const ValuesParams& band = tile.bands[b];
    if (quantizes(band)) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) values[i] = quantized<Coef>(values[i], band);
    }
    if (!place.own) return;
    if (band.counts != 0) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) zeros += values[i] == 0;
    }
    store_values<Coef, kPairs>(band, place.x, n, values);
  }

  template <bool kEdges>
  __device__ __forceinline__ void take(int32_t n, int32_t (&values)[4][kPairs]) {
#pragma unroll
    for (int b = 0; b < 4; ++b)
#pragma unroll
      for (int i = 0; i < kPairs; ++i)
        values[b][i] = static_cast<Coef>(static_cast<uint32_t>(values[b][i]) << params.shift);
    if constexpr (kRowsFirst) {
      lift_row_of(values[0], values[1]);
      lift_row_of(values[2], values[3]);
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
      lift_row_of(out[0], out[1]);
      lift_row_of(out[2], out[3]);
    }
#pragma unroll
    for (int b = 0; b < 4; ++b) store(b, done, out[b]);
  }

  template <bool kEdges>
  __device__ __forceinline__ void walk() {
    const int32_t begin = max(place.first - Window::kSteps.before, 0);
    const int32_t end = place.end + Window::kLag;
    constexpr int kUnroll = kEdges ? 1 : 4;  // values then move by their names
    int32_t next[4][kPairs];
    load(begin, next);
#pragma unroll kUnroll
    for (int32_t n = begin; n < end; ++n) {
      int32_t values[4][kPairs];
#pragma unroll
      for (int b = 0; b < 4; ++b)
#pragma unroll
        for (int i = 0; i < kPairs; ++i) values[b][i] = next[b][i];
      load(min(n + 1, tile.pairs_y - 1), next);
      take<kEdges>(n, values);
    }
  }
};

// Whether a run needs to know where columns begin and end.
template <typename Level>
__device__ __forceinline__ void transform_strip(const FusedParams& params) {
  using Window = typename Level::Window;
  const typename Level::Place place(params, blockIdx.x);
  if (!place.exists) return;
  Level level(params, place);
  const bool inside =
      place.first > Window::kSteps.before && place.end + Window::kLag <= level.tile.pairs_y;
  if (inside)
    level.template walk<false>();
  else
    level.template walk<true>();
  add_measured(params.measure, place.component, level.zeros, level.error);
}

template <typename Coef, Wavelet kWavelet, Direction kDirection, int kPairs>
__device__ __forceinline__ void transform_level(const FusedParams& params) {
  if constexpr (kDirection == Direction::kInverse)
    transform_strip<FusedInverse<Coef, kWavelet, kPairs>>(params);
  else
    transform_strip<FusedForward<Coef, kWavelet, kPairs>>(params);
}

}  // namespace cudatransform::cuda
