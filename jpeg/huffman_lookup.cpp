// Huffman codes looked up together with the value behind them: what the sequential decoder reads.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/huffman_lookup.h"

namespace cudatransform {
namespace {

uint32_t look(const HuffmanCodes& codes, bool is_ac, uint32_t bits, uint32_t known) {
  const uint32_t window = bits << (32 - known);
  const uint32_t entry = find_entry(codes, window);
  const uint32_t length = length_of(entry), size = size_of(entry);
  if (advance_of(entry) == kNoCode || length + size > known) return kLookLonger;
  if (size > (is_ac ? kMostAcBits : kMostDcBits)) return kLookLonger;
  return lookup_entry(length + size, is_ac ? advance_of(entry) : 0, value_of(window, length, size));
}

}  // namespace

void make_lookup(const HuffmanSet& codes, HuffmanLookup* lookup) {
  constexpr uint32_t kDcBits = HuffmanLookup::kDcBits, kAcBits = HuffmanLookup::kAcBits;
  for (uint32_t bits = 0; bits < 1u << kDcBits; ++bits)
    lookup->dc[bits] = look(codes.codes[0], false, bits, kDcBits);
  for (uint32_t bits = 0; bits < 1u << kAcBits; ++bits)
    lookup->ac[bits] = look(codes.codes[1], true, bits, kAcBits);
  lookup->codes = codes;
}

}  // namespace cudatransform
