// Huffman codes looked up together with the values behind them, for the sequential decoder.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/huffman_lookup.h"

namespace cudatransform {

void make_lookup(const HuffmanSet& codes, HuffmanLookup* lookup) {
  constexpr uint32_t kDcBits = HuffmanLookup::kDcBits, kAcBits = HuffmanLookup::kAcBits;
  const auto is_known = [](uint32_t entry, uint32_t bits) {
    return advance_of(entry) != kNoCode && length_of(entry) <= bits;
  };
  for (uint32_t bits = 0; bits < 1u << kDcBits; ++bits) {
    const uint32_t entry = find_entry(codes.codes[0], bits << (32 - kDcBits));
    const bool known = is_known(entry, kDcBits);
    lookup->dc[bits] =
        known ? HuffmanLook::code(length_of(entry), size_of(entry), 0) : HuffmanLook();
  }
  for (uint32_t bits = 0; bits < 1u << kAcBits; ++bits) {
    const uint32_t window = bits << (32 - kAcBits), entry = find_entry(codes.codes[1], window);
    const uint32_t length = length_of(entry), size = size_of(entry), advance = advance_of(entry);
    HuffmanLook& look = lookup->ac[bits];
    look = {};
    if (!is_known(entry, kAcBits)) continue;
    look = length + size <= kAcBits
               ? HuffmanLook::whole(length + size, advance, value_of(window, length, size))
               : HuffmanLook::code(length, size, advance);
  }
  lookup->codes = codes;
}

}  // namespace cudatransform
