// Huffman codes looked up together with the values behind them, for the sequential decoder.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/huffman_steps.h"

namespace cudatransform {

// A code and the value behind it, as far as a look at the next bits tells, in fields that shifts
// take apart. Either all of it: how many bits that are, `advance` of the index of the coefficient,
// and the value. Or, with no bits, the code alone: its length, the value's size, and `advance`. Or
// nothing: the code is longer than a look, or there is none.
struct HuffmanLook {
  uint32_t fields = 0;

  static constexpr HuffmanLook whole(uint32_t bits, uint32_t advance, int32_t value) {
    return {bits | advance << 8 | static_cast<uint32_t>(value) << 16};
  }
  static constexpr HuffmanLook code(uint32_t length, uint32_t size, uint32_t advance) {
    return {advance << 8 | length << 16 | size << 24};
  }

  constexpr uint32_t bits() const { return fields & 0xff; }
  constexpr uint32_t advance() const { return fields >> 8 & 0xff; }
  constexpr int16_t value() const { return static_cast<int16_t>(fields >> 16); }
  constexpr uint32_t length() const { return fields >> 16 & 0xff; }
  constexpr uint32_t size() const { return fields >> 24; }
};

// The codes of a component. The index are the next bits.
struct HuffmanLookup {
  static constexpr uint32_t kDcBits = 9, kAcBits = 10;

  HuffmanLook dc[1u << kDcBits];  // advances by 0, never whole
  HuffmanLook
      ac[1u << kAcBits];  // by 1 for each zero and the value behind, by 64 at the block's end
  HuffmanSet codes;       // for codes that looks do not tell
};

void make_lookup(const HuffmanSet& codes, HuffmanLookup* lookup);

}  // namespace cudatransform
