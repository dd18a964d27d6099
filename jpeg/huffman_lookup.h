// Huffman codes looked up together with the value behind them: what the sequential decoder reads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/huffman_steps.h"

namespace cudatransform {

// An entry for a code with the bits behind it: how many bits these are together, by how much the
// index of the coefficient advances, and the value.
inline constexpr uint32_t lookup_entry(uint32_t bits, uint32_t advance, int32_t value) {
  return bits | advance << 8 | static_cast<uint32_t>(value) << 16;
}
inline constexpr uint32_t lookup_bits(uint32_t entry) { return entry & 0xff; }
inline constexpr uint32_t lookup_advance(uint32_t entry) { return entry >> 8 & 0xff; }
inline constexpr int16_t lookup_value(uint32_t entry) { return static_cast<int16_t>(entry >> 16); }

// What does not fit in a look, does not exist, or is more than 8-bit samples can give: no bits are
// taken, and the index is beyond every block.
inline constexpr uint32_t kLookLonger = lookup_entry(0, 2 * kBlockEnd, 0);

// The codes of a component. Bits that follow each other are the index.
struct HuffmanLookup {
  static constexpr uint32_t kDcBits = 10, kAcBits = 11;

  uint32_t dc[1u << kDcBits];  // advances by 0
  uint32_t
      ac[1u << kAcBits];  // by 1 for each zero and the level behind; 64 at the end of the block
  HuffmanSet codes;       // of kLookLonger
};

void make_lookup(const HuffmanSet& codes, HuffmanLookup* lookup);

}  // namespace cudatransform
