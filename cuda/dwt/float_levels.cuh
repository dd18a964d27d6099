// The levels of fast.cuh with floats, see floats.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Between the directions, and where a level begins or ends, a value is the lower 16 bits of a
// float: what a line's results are modulo 2^16. The other 16 bits are set again.
#pragma once

#include "cuda/dwt/fast.cuh"
#include "cuda/dwt/floats.cuh"

namespace cudatransform::cuda {

// The offset of a value from -32768 to 32767 that is read as an unsigned number.
inline constexpr int32_t kFloatRead = kFloatCenter + 32768;
// With a multiple of 2^16, the lower bits of a float are its value's. This one can be reached from
// both offsets of forward columns.
inline constexpr int32_t kFloatMade = kFloatCenter - 65536;

// For the lines of daub97, offsets with the smallest rests that suit all steps, found by trying.
// What the inverse steps leave, the forward ones begin with.
constexpr FloatOffsets offsets_read(Direction direction) {
  const FloatOffsets inverse = {{0, -1812180}, {0, -2643968}};
  return direction == Direction::kInverse
             ? inverse
             : after_steps(Wavelet::kDaub97, Direction::kInverse, inverse);
}

// Another offset with the same rest.
constexpr FloatOffset with_rest(FloatOffset like, int32_t upper) {
  return {upper, like.upper + like.lower - upper};
}
// Upper floats of a line begin as they have been read, so that they need not be moved. In the first
// line of the forward direction they end so instead: there all have to be moved at the beginning.
constexpr FloatOffsets offsets_from_read(Direction direction) {
  const FloatOffsets read = offsets_read(direction);
  return {with_rest(read.even, kFloatRead), with_rest(read.odd, kFloatRead)};
}
constexpr FloatOffsets offsets_to_read(Direction direction) {
  const FloatOffsets read = offsets_read(direction);
  const FloatOffsets made = after_steps(Wavelet::kDaub97, direction, read);
  return {with_rest(read.even, kFloatRead - made.even.upper + read.even.upper),
          with_rest(read.odd, kFloatRead - made.odd.upper + read.odd.upper)};
}
constexpr FloatOffsets offsets_of_rows(Direction direction) {
  return direction == Direction::kInverse ? offsets_from_read(direction)
                                          : offsets_to_read(direction);
}

// Columns come first in the inverse direction, and last in the other one.
template <Wavelet kWavelet, Direction kDirection>
struct FloatLines {
  static_assert(!lifting(kWavelet).rows_first && lifting(kWavelet).wraps_at_end);
  static_assert(lifting(kWavelet).shift_between_levels == 1);
  static constexpr FloatOffsets kColumns = offsets_from_read(kDirection);
  static constexpr FloatOffsets kRows = offsets_of_rows(kDirection);
  static constexpr FloatOffsets kColumnsMade =
      after_steps(kWavelet, kDirection, offsets_from_read(kDirection));
  static constexpr FloatOffsets kRowsMade =
      after_steps(kWavelet, kDirection, offsets_of_rows(kDirection));
  using Columns = LiftFloats<kWavelet, kDirection, kColumns, kColumnsMade>;
  using Rows = LiftFloats<kWavelet, kDirection, kRows, kRowsMade>;
  static constexpr int32_t kColumnsTo = kDirection == Direction::kInverse ? kFloatRead : kFloatMade;

  // From kFloatRead to columns, and from there to the offset of floats that are not lifted.
  template <int kParity>
  using ToColumns = MoveAlternating<Columns::template kUpperIn<kParity> - kFloatRead,
                                    Columns::template kLowerIn<kParity> - kFloatRead>;
  template <int kParity>
  using FromColumns = MoveAlternating<kColumnsTo - Columns::template kUpperOut<kParity>,
                                      kColumnsTo - Columns::template kLowerOut<kParity>>;
  struct Alternating {
    ToColumns<0> even_in;
    ToColumns<1> odd_in;
    FromColumns<0> even_out;
    FromColumns<1> odd_out;
    typename Columns::NeighborOffsets apart;

    __device__ __forceinline__ void next_is(int phase) {
      even_in.next_is(phase);
      odd_in.next_is(phase);
      even_out.next_is(phase);
      odd_out.next_is(phase);
      apart.even.next_is(phase);
      apart.odd.next_is(phase);
    }
    __device__ __forceinline__ void alternate() {
      even_in.alternate();
      odd_in.alternate();
      even_out.alternate();
      odd_out.alternate();
      apart.even.alternate();
      apart.odd.alternate();
    }
    // Windows, of low columns and of high ones, take pair `n` of `pairs` of rows: low columns of
    // the even row, high ones, then those of the odd row.
    template <bool kEdges, int kPhase, int kPairs>
    __device__ __forceinline__ void take_rows(WalkOf<Columns> (&windows)[2 * kPairs],
                                              const float (&rows)[4][kPairs], int32_t n,
                                              int32_t pairs) const {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        windows[i].template take<kEdges>(even_in.template moved<kPhase>(rows[0][i]),
                                         odd_in.template moved<kPhase>(rows[2][i]), n, pairs,
                                         apart);
        windows[kPairs + i].template take<kEdges>(even_in.template moved<kPhase>(rows[1][i]),
                                                  odd_in.template moved<kPhase>(rows[3][i]), n,
                                                  pairs, apart);
      }
    }
  };

  // The same for rows, whose even pairs are the upper ones.
  template <int kParity, int32_t kFrom, int kPairs>
  static __device__ __forceinline__ void to_row(float (&values)[kPairs]) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i)
      values[i] = i % 2 == 0 ? moved<Rows::template kUpperIn<kParity> - kFrom>(values[i])
                             : moved<Rows::template kLowerIn<kParity> - kFrom>(values[i]);
  }
  template <int kParity, int32_t kTo, int kPairs>
  static __device__ __forceinline__ void from_row(float (&values)[kPairs]) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i)
      values[i] = i % 2 == 0 ? moved<kTo - Rows::template kUpperOut<kParity>>(values[i])
                             : moved<kTo - Rows::template kLowerOut<kParity>>(values[i]);
  }
};

// The lower 16 bits of a word, or the upper ones, as an unsigned number with kFloatCenter, or, for
// kTwice, twice that with 2^24.
template <bool kUpper, bool kTwice = false>
__device__ __forceinline__ float float_of_half(uint32_t word) {
  return __uint_as_float(
      __byte_perm(word, kTwice ? 0x4b800000u : 0x4b400000u, kUpper ? 0x7632 : 0x7610));
}
__device__ __forceinline__ float wrapped(float value) {
  return float_of_half<false>(__float_as_uint(value));
}
// The lower 16 bits of two floats.
__device__ __forceinline__ uint32_t halves_of(float low, float high) {
  return __byte_perm(__float_as_uint(low), __float_as_uint(high), 0x5410);
}

// The rows that a walk takes at a time and has in flight. Both are the same: what has not arrived
// yet cannot be moved from one register to another without waiting. Small levels, with two pairs a
// lane, would rather have less code.
constexpr int float_rows(int pairs) { return pairs > 2 ? 2 : 1; }

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct FloatInverse : FourBands<kWavelet, kPairs> {
  using Base = FourBands<kWavelet, kPairs>;
  using Base::tile, Base::place;
  using typename Base::Place;
  using typename Base::Raw;
  using Lines = FloatLines<kWavelet, Direction::kInverse>;
  using Window = WalkOf<typename Lines::Columns>;
  static constexpr int kRowsAhead = float_rows(kPairs), kUnroll = float_rows(kPairs);
  static constexpr bool kKnowsPhase = kUnroll == 2;
  static constexpr Beyond kBeyond = Beyond::kLoadsLastAgain;

  const bool low_quantized, high_quantized;
  typename Lines::Alternating alternating;
  Window windows[2 * kPairs];

  __device__ __forceinline__ FloatInverse(const FusedParams& all, const Place& own)
      : Base(all, own),
        low_quantized(Base::low_quantized()),
        high_quantized(Base::high_quantized()) {
    next_is(0);
  }

  // Levels as values, with kFloatRead.
  __device__ __forceinline__ void read(const RawValues<kPairs>& levels, int b, bool quantized,
                                       float (&values)[kPairs]) const {
    const ValuesParams& band = tile.bands[b];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const uint32_t word = levels.at[i / 2];
      if (quantized)
        values[i] = float_of_half<true>(dequantized_above(value_of(word, i % 2), band.scaled_factor,
                                                          band.scaled_offset, 32768));
      else
        values[i] = i % 2 == 0 ? float_of_half<false>(word ^ 0x80008000u)
                               : float_of_half<true>(word ^ 0x80008000u);
    }
  }

  // Bytes of samples in the upper halves. The first minimum keeps the sum within 16 bits.
  __device__ __forceinline__ static uint32_t sample_halves(float low, float high) {
    const uint32_t limited = __vmins2(halves_of(low, high), in_halves(255));
    return __viaddmin_s16x2_relu(limited, in_halves(257), in_halves(511)) << 7;
  }
  __device__ __forceinline__ void store(float (&even)[kPairs], float (&odd)[kPairs],
                                        int32_t y) const {
    if constexpr (kAtSamples) {
      Lines::template from_row<0, kFloatCenter>(even);
      Lines::template from_row<1, kFloatCenter>(odd);
      ValueVector<uint32_t, kPairs / 2> bytes;
#pragma unroll
      for (int w = 0; w < kPairs / 2; ++w)
        bytes.at[w] = __byte_perm(sample_halves(even[2 * w], even[2 * w + 1]),
                                  sample_halves(odd[2 * w], odd[2 * w + 1]), 0x7351);
      if (place.own) store_bytes<kPairs>(tile.samples, place.x, y, bytes);
    } else {
      Lines::template from_row<0, kFloatRead>(even);
      Lines::template from_row<1, kFloatRead>(odd);
      // Half of a value, rounded, as the lower bits of a float.
      constexpr float kMore = kFloatCenter / 2 - 16384 + 0.5f;
      static_assert(kMore * 2 == kFloatCenter - 32768 + 1);
      if (!place.own) return;
      RawValues<2 * kPairs> row;
#pragma unroll
      for (int i = 0; i < kPairs; ++i)
        row.at[i] = halves_of(__fmaf_rd(wrapped(even[i]), 0.5f, kMore),
                              __fmaf_rd(wrapped(odd[i]), 0.5f, kMore));
      Base::store_row(row, y);
    }
  }

  __device__ __forceinline__ void next_is(int phase) { alternating.next_is(phase); }
  template <bool kEdges, int kNumber = 0>
  __device__ __forceinline__ void take(int32_t n, const Raw& raw) {
    constexpr int kPhase = !kEdges && kKnowsPhase ? kNumber : kEitherPhase;
    float values[4][kPairs];
    if (low_quantized)
      read(raw.bands[0], 0, true, values[0]);
    else
      read(raw.bands[0], 0, false, values[0]);
    if (high_quantized) {
#pragma unroll
      for (int b = 1; b < 4; ++b) read(raw.bands[b], b, true, values[b]);
    } else {
#pragma unroll
      for (int b = 1; b < 4; ++b) read(raw.bands[b], b, false, values[b]);
    }
    alternating.template take_rows<kEdges, kPhase, kPairs>(windows, values, n, tile.pairs_y);
    static_assert(Window::kLag % 2 == 0);
    const int32_t done = n - Window::kLag;
    if (done >= place.first) {
      finish<false, kPhase>(2 * done);
      finish<true, kPhase>(2 * done + 1);
    }
    if constexpr (kPhase == kEitherPhase) alternating.alternate();
  }
  template <bool kOdd, int kPhase>
  __device__ __forceinline__ void finish(int32_t y) const {
    float low[kPairs], high[kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      if constexpr (kOdd) {
        low[i] = wrapped(alternating.odd_out.template moved<kPhase>(windows[i].odd()));
        high[i] = wrapped(alternating.odd_out.template moved<kPhase>(windows[kPairs + i].odd()));
      } else {
        low[i] = wrapped(alternating.even_out.template moved<kPhase>(windows[i].even()));
        high[i] = wrapped(alternating.even_out.template moved<kPhase>(windows[kPairs + i].even()));
      }
    }
    Lines::template to_row<0, kFloatRead>(low);
    Lines::template to_row<1, kFloatRead>(high);
    lift_row_floats<typename Lines::Rows, kPairs>(low, high, place.edges);
    store(low, high, y);
  }
};

template <Wavelet kWavelet, int kPairs, bool kAtSamples>
struct FloatForward : TwoRows<kWavelet, kPairs, kAtSamples> {
  using Base = TwoRows<kWavelet, kPairs, kAtSamples>;
  using Base::tile, Base::place;
  using typename Base::Place;
  using typename Base::Raw;
  using typename Base::RawRow;
  using Lines = FloatLines<kWavelet, Direction::kForward>;
  using Window = WalkOf<typename Lines::Columns>;
  static constexpr int kRowsAhead = float_rows(kPairs), kUnroll = float_rows(kPairs);
  static constexpr bool kKnowsPhase = kUnroll == 2;
  static constexpr Beyond kBeyond = Beyond::kLoadsLastAgain;
  // Values are doubled as they are read.
  static constexpr int32_t kDoubled = (1 << 24) + (kAtSamples ? 256 : 32768);

  typename Lines::Alternating alternating;
  Window windows[2 * kPairs];

  __device__ __forceinline__ FloatForward(const FusedParams& all, const Place& own)
      : Base(all, own) {
    next_is(0);
  }

  // A row, twice its values, lifted and with kFloatRead.
  __device__ __forceinline__ void read(const RawRow& raw, float (&even)[kPairs],
                                       float (&odd)[kPairs]) const {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      if constexpr (kAtSamples) {
        const uint32_t word = raw.at[i / 2];
        even[i] = __uint_as_float(__byte_perm(word, 0x4b800000u, 0x7640 + 2 * (i % 2)));
        odd[i] = __uint_as_float(__byte_perm(word, 0x4b800000u, 0x7641 + 2 * (i % 2)));
      } else {
        const uint32_t word = (raw.at[i] & 0x7fff7fffu) ^ 0x40004000u;
        even[i] = float_of_half<false, true>(word);
        odd[i] = float_of_half<true, true>(word);
      }
    }
    Lines::template to_row<0, kDoubled>(even);
    Lines::template to_row<1, kDoubled>(odd);
    lift_row_floats<typename Lines::Rows, kPairs>(even, odd, place.edges);
    Lines::template from_row<0, kFloatRead>(even);
    Lines::template from_row<1, kFloatRead>(odd);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      even[i] = wrapped(even[i]);
      odd[i] = wrapped(odd[i]);
    }
  }
  __device__ __forceinline__ void store(int b, int32_t n, const float (&values)[kPairs]) const {
    const ValuesParams& band = tile.bands[b];
    RawValues<kPairs> row;
    if (quantizes(band)) {
      const auto above = [&](int i) { return __float_as_uint(values[i]) << 16; };
#pragma unroll
      for (int w = 0; w < kPairs / 2; ++w)
        row.at[w] = quantized_pair(above(2 * w), above(2 * w + 1), band);
    } else {
#pragma unroll
      for (int i = 0; i < kPairs / 2; ++i) row.at[i] = halves_of(values[2 * i], values[2 * i + 1]);
    }
    Base::store_band(row, b, n);
  }

  __device__ __forceinline__ void next_is(int phase) { alternating.next_is(phase); }
  template <bool kEdges, int kNumber = 0>
  __device__ __forceinline__ void take(int32_t n, const Raw& raw) {
    constexpr int kPhase = !kEdges && kKnowsPhase ? kNumber : kEitherPhase;
    // Low columns of the first row, high ones, then those of the second.
    float values[4][kPairs];
    read(raw.rows[0], values[0], values[1]);
    read(raw.rows[1], values[2], values[3]);
    alternating.template take_rows<kEdges, kPhase, kPairs>(windows, values, n, tile.pairs_y);
    static_assert(Window::kLag % 2 == 0);
    const int32_t done = n - Window::kLag;
    if (done >= place.first) {
      float out[4][kPairs];
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        out[0][i] = alternating.even_out.template moved<kPhase>(windows[i].even());
        out[1][i] = alternating.even_out.template moved<kPhase>(windows[kPairs + i].even());
        out[2][i] = alternating.odd_out.template moved<kPhase>(windows[i].odd());
        out[3][i] = alternating.odd_out.template moved<kPhase>(windows[kPairs + i].odd());
      }
#pragma unroll
      for (int b = 0; b < 4; ++b) store(b, done, out[b]);
    }
    if constexpr (kPhase == kEitherPhase) alternating.alternate();
  }
};

template <Wavelet kWavelet, Direction kDirection, int kPairs, bool kAtSamples>
using FloatLevel = std::conditional_t<kDirection == Direction::kInverse,
                                      FloatInverse<kWavelet, kPairs, kAtSamples>,
                                      FloatForward<kWavelet, kPairs, kAtSamples>>;

}  // namespace cudatransform::cuda
