// The arithmetic decoder of Dirac: binary, 16 bits, with adaptive contexts.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, annex B. A context is the probability of a 0 in 65536ths; every bit
// moves it by an amount that depends on its upper 8 bits. The decoder is a value: a loop keeps a
// copy of it, and so its state, in registers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dirac/bits.h"

namespace cudatransform {

inline constexpr uint16_t kDiracEvenProbability = 0x8000;
// With the probability in the upper 16 bits, as the range is.
using DiracContext = uint32_t;
inline constexpr DiracContext kDiracEvenContext = uint32_t{kDiracEvenProbability} << 16;

// The change of a probability by a bit: index 2 * (probability >> 8) + bit.
extern const std::array<int16_t, 512> kDiracContextSteps;
// The same for contexts, modulo 2^32: index (context >> 24), and 256 more after a 0.
extern const std::array<uint32_t, 512> kDiracWideSteps;

// Contexts below it do not change at a 1: they are kDiracStillProbability or one more, as a 1 takes
// 2 off the next ones above and a 0 leads far up.
inline constexpr DiracContext kDiracStillContexts = DiracContext{256} << 16;
inline constexpr uint32_t kDiracStillProbability = 254;

// The ranges that follow each other while ones come in such a context. They are consecutive,
// so that as many ones as are needed are one step: range `place[range - kDiracLeastRange]` and on.
// Each path continues for kMax ranges after the first that must be renormalized.
inline constexpr uint32_t kDiracLeastRange = 0x4001;
struct DiracDescents {
  static constexpr size_t kMax = 64;
  static constexpr size_t kWays = 127, kLength = 180 + kMax;
  std::array<uint16_t, 0x8001 - kDiracLeastRange> place;
  std::array<uint16_t, kWays * kLength> ranges;
};
// For both probabilities.
extern const std::array<DiracDescents, 2> kDiracDescents;

class DiracArithmetic {
 public:
  DiracArithmetic(const uint8_t* data, size_t size) : data_(data), size_(size) {
    window_ = (dirac_word(data, size, 0) & ~uint64_t{0xffff}) | 0x8000;
    next_ = 6;
  }

  bool decode(DiracContext* context) { return decode_mask(context) != 0; }

  // All ones for a 1, zero for a 0. No branch: for bits that cannot be predicted.
  uint32_t decode_mask(DiracContext* context) {
    const uint32_t p = *context, split = split_at(p);
    const uint64_t zero = uint64_t{0} - static_cast<uint64_t>(code() < split);
    const auto zero_32 = static_cast<uint32_t>(zero);
    window_ -= in_window(split) & ~zero;
    range_ = (split & zero_32) | ((range_ - split) & ~zero_32);
    *context = p + kDiracWideSteps[(p >> 24) + (zero & 256)];
    renormalize();
    return ~zero_32;
  }

  // The same with a branch, for bits that decide what follows: the processor predicts them.
  bool decode_ahead(DiracContext* context) {
    const uint32_t p = *context, split = split_at(p);
    if (code() >= split) {
      *context = p + kDiracWideSteps[p >> 24];
      take_one(split);
      renormalize_likely_one();
      return true;
    }
    *context = p + kDiracWideSteps[(p >> 24) + 256];
    range_ = split;
    renormalize();
    return false;
  }

  // Counts up to `most` bits in `context` that are 1 before the first 0, which is taken as well.
  size_t run_of_ones(DiracContext* context, size_t most) { return run<true>(context, most); }
  // The same, but a 0 is not taken.
  size_t ones_ahead(DiracContext* context, size_t most) { return run<false>(context, most); }

  // A number: stop bits, each in its own of the `count` contexts from `stops`, of which the last is
  // that of all that follow, and data bits in `data`. The first stop bit, a 0, has been taken.
  // False where the number has more than 30 bits.
  bool decode_rest(DiracContext* stops, int count, DiracContext* data, uint32_t* value) {
    DiracContext* const last = stops + count - 1;
    uint32_t v = 1;
    do {
      if (stops != last) ++stops;
      v = v * 2 - decode_mask(data);
      if (v >> 30 != 0) return false;
    } while (!decode_ahead(stops));
    *value = v - 1;
    return true;
  }

  bool decode_unsigned(DiracContext* stops, int count, DiracContext* data, uint32_t* value) {
    *value = 0;
    return decode(&stops[0]) || decode_rest(stops, count, data, value);
  }

  bool decode_signed(DiracContext* stops, int count, DiracContext* data, DiracContext* sign,
                     int32_t* value) {
    uint32_t magnitude;
    if (!decode_unsigned(stops, count, data, &magnitude)) return false;
    const bool negative = magnitude != 0 && decode(sign);
    *value = negative ? -static_cast<int32_t>(magnitude) : static_cast<int32_t>(magnitude);
    return true;
  }

 private:
  // The point where the range is divided.
  uint32_t split_at(DiracContext context) const {
    return static_cast<uint32_t>(uint64_t{range_} * context >> 32);
  }
  uint64_t code() const { return window_ >> 48; }
  static uint64_t in_window(uint32_t part_of_range) { return uint64_t{part_of_range} << 48; }
  void take_one(uint32_t split) {
    window_ -= in_window(split);
    range_ -= split;
  }

  // Until the range has to be renormalized, all that a 1 does is to lessen it: a 1 is followed by
  // another if the range is still as large as `least`.
  template <bool kTakesZero>
  size_t run(DiracContext* context, size_t most) {
    uint32_t p = *context;
    size_t ones = 0;
    while (ones < most) {
      const uint32_t first = range_;
      const int32_t least = std::max(static_cast<int32_t>(first) - static_cast<int32_t>(code()),
                                     static_cast<int32_t>(kDiracLeastRange));
      ones += p < kDiracStillContexts ? still_ones(p, most - ones, least)
                                      : falling_ones(&p, most - ones, least);
      window_ -= in_window(first - range_);
      if (ones == most) break;
      if (!kTakesZero && code() < split_at(p)) break;
      if (!decode_ahead(&p)) break;
      ++ones;
    }
    *context = p;
    return ones;
  }
  // Lessens the range by up to `most` ones as long as it is not below `least`.
  size_t still_ones(DiracContext context, size_t most, int32_t least) {
    const DiracDescents& descents = kDiracDescents[(context >> 16) - kDiracStillProbability];
    const uint16_t* way = &descents.ranges[descents.place[range_ - kDiracLeastRange]];
    size_t ones = std::min(most, DiracDescents::kMax);
    if (way[ones] < least) {
      uint16_t larger = 0;  // as narrow as ranges are: eight at a time
      for (size_t i = 1; i <= DiracDescents::kMax; ++i)
        larger = static_cast<uint16_t>(larger + (way[i] >= static_cast<uint16_t>(least)));
      ones = larger;
    }
    range_ = way[ones];
    return ones;
  }
  size_t falling_ones(DiracContext* context, size_t most, int32_t least) {
    uint32_t p = *context, range = range_;
    size_t ones = 0;
    for (; ones < most; ++ones) {
      const uint32_t rest = range - static_cast<uint32_t>(uint64_t{range} * p >> 32);
      if (static_cast<int32_t>(rest) < least) break;
      range = rest;
      p += kDiracWideSteps[p >> 24];
    }
    *context = p;
    range_ = range;
    return ones;
  }

  // The range is at most 2^15 except the first bit's, which is not shifted: never by more than 15.
  void renormalize() {
    const int shift = 15 ^ (31 ^ std::countl_zero(2 * range_ - 1));
    range_ <<= shift;
    window_ <<= shift;
    if (static_cast<uint32_t>(window_) == 0) refill();
  }
  // After a 1 that was as likely as a 0 or likelier there is one bit to shift, or none. (A branch
  // would be mispredicted too often.)
  void renormalize_likely_one() {
    const int64_t is_low = (int64_t{range_} - kDiracLeastRange) >> 63;
    range_ += range_ & static_cast<uint32_t>(is_low);
    window_ += window_ & static_cast<uint64_t>(is_low);
    if (static_cast<uint32_t>(window_) == 0) refill();
    if (range_ < kDiracLeastRange) [[unlikely]]
      renormalize();
  }

  // There are 16 bits or fewer below the code: 32 more take the place of the mark, which goes
  // after them.
  void refill() {
    const int shift = std::countr_zero(window_) - 32;
    const uint64_t word = load(data_, size_, next_) >> 32;
    window_ = (window_ & (window_ - 1)) | (word << 1 | 1) << shift;
    next_ += 4;
  }
  // Not part of the loops that decode: it is seldom needed.
  [[gnu::noinline]] static uint64_t load(const uint8_t* data, size_t size, size_t at) {
    return dirac_word(data, size, at);
  }

  const uint8_t* data_;
  size_t size_;
  size_t next_;  // the byte that is loaded next
  // The code in the upper 16 bits, the next bits below it; then a 1, the mark, and zeros.
  uint64_t window_;
  uint32_t range_ = 0xffff;
};

}  // namespace cudatransform
