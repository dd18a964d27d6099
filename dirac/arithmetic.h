// The arithmetic decoder of Dirac: binary, 16 bits, with adaptive contexts.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, annex B. A context is the probability of a 0 in 65536ths; every bit
// moves it by an amount that depends on its upper 8 bits. The decoder is a value: a loop keeps a
// copy of it, and so its state, in registers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dirac/bits.h"

namespace cudatransform {

using DiracContext = uint16_t;
inline constexpr DiracContext kDiracEvenContext = 0x8000;

// What is added to a context after a bit: index 2 * (context >> 8) + bit.
extern const std::array<int16_t, 512> kDiracContextSteps;

class DiracArithmetic {
 public:
  DiracArithmetic(const uint8_t* data, size_t size) : data_(data), size_(size) {
    window_ = dirac_word(data, size, 0);
    next_ = 8;
    spare_ = 48;
  }

  bool decode(DiracContext* context) {
    const uint32_t split = split_at(*context);
    const bool one = window_ >= in_window(split);
    take(one, split, context);
    return one;
  }

  // The same, for bits that decide what comes next: the processor goes on with what it expects.
  bool decode_ahead(DiracContext* context) {
    const uint32_t split = split_at(*context);
    if (window_ >= in_window(split)) {
      take(true, split, context);
      return true;
    }
    take(false, split, context);
    return false;
  }

  // How many of up to `most` bits in `context` are 1 before the first 0, which is taken as well:
  // such a run seldom renormalises.
  int run_of_ones(DiracContext* context, int most) {
    uint32_t p = *context, range = range_;
    uint64_t window = window_;
    int ones = 0;
    while (ones < most) {
      const uint32_t split = range * p >> 16;
      const uint64_t wide_split = static_cast<uint64_t>(split) << 48;
      if (window < wide_split) {
        p += static_cast<uint32_t>(step(p, false));
        range_ = split;
        window_ = window;
        renormalise();
        *context = static_cast<DiracContext>(p);
        return ones;
      }
      ++ones;
      window -= wide_split;
      range -= split;
      p += static_cast<uint32_t>(step(p, true));
      if (range <= kLeastRange) {
        range_ = range;
        window_ = window;
        renormalise();
        range = range_;
        window = window_;
      }
    }
    range_ = range;
    window_ = window;
    *context = static_cast<DiracContext>(p);
    return ones;
  }

  // A number as stop bits, each in its context from `stops`, of which there are `count` and the
  // last serves for all that follow, and data bits in `data`. The first stop bit, a 0, has been
  // taken. False where the number has more than 30 bits.
  bool decode_rest(DiracContext* stops, int count, DiracContext* data, uint32_t* value) {
    uint32_t v = 1;
    for (int k = 1;; k = k + 1 < count ? k + 1 : k) {
      v = v << 1 | static_cast<uint32_t>(decode(data));
      if (v >> 30 != 0) return false;
      if (decode_ahead(&stops[k < count ? k : count - 1])) break;
    }
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
  static constexpr uint32_t kLeastRange = 0x4000;

  uint32_t split_at(DiracContext context) const { return range_ * context >> 16; }
  static uint64_t in_window(uint32_t split) { return static_cast<uint64_t>(split) << 48; }
  void take(bool one, uint32_t split, DiracContext* context) {
    const uint32_t p = *context;
    window_ -= one ? in_window(split) : 0;
    range_ = one ? range_ - split : split;
    *context = static_cast<DiracContext>(p + static_cast<uint32_t>(step(p, one)));
    renormalise();
  }

  static int32_t step(uint32_t p, bool one) {
    return kDiracContextSteps[(p >> 8) * 2 + static_cast<uint32_t>(one)];
  }

  void renormalise() {
    const int shift = std::countl_zero(((range_ - 1) << 16 | 0xffff) & 0x7fffffff) - 1;
    range_ <<= shift;
    window_ <<= shift;
    spare_ -= shift;
    if (spare_ < kMostShift) refill();
  }

  void refill() {
    const uint64_t word = dirac_word(data_, size_, next_) >> 32;
    window_ |= word << (16 - spare_);
    next_ += 4;
    spare_ += 32;
  }

  static constexpr int kMostShift = 15;

  const uint8_t* data_;
  size_t size_;
  size_t next_;      // the byte that is loaded next
  uint64_t window_;  // the code in the upper 16 bits, what follows it below
  int spare_;        // bits below the code
  uint32_t range_ = 0xffff;
};

}  // namespace cudatransform
