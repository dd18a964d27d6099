// Huffman codes (ITU-T T.81, annex C) and optimal Huffman tables (annex K.2).
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jpeg/encode_tables.h"

#include <algorithm>
#include <utility>

#include "jpeg/encode_bits.h"

namespace cudatransform {
namespace {

constexpr uint32_t kMostBits = 16;
constexpr uint32_t kDcSymbols = kJpegSymbols - kJpegDcSymbols;

// The lower half of a symbol is how many bits follow its code.
Status add_codes(const JpegHuffmanTable& table, uint32_t symbols, uint32_t most_size,
                 uint32_t* codes) {
  bool seen[256] = {};
  const auto add = [&](uint32_t bits, uint32_t code, uint32_t place, uint32_t count) {
    for (; count > 0; --count, ++code) {
      const uint32_t symbol = table.symbols[place++];
      if (symbol >= symbols || std::exchange(seen[symbol], true)) return false;
      if (symbol % 16 > most_size) continue;  // never used
      codes[symbol] = jpeg_code(code, bits, symbol % 16);
    }
    return true;
  };
  if (for_each_code_length(table, add)) return {};
  return Status::error(StatusCode::kInvalidArgument, "not a Huffman table");
}

// The lengths of codes, not limited: those of a Huffman tree. Of symbols that are equally rare that
// with the highest number goes first, as in the standard's procedure, and the one behind all others
// has no code in the end: so no other gets ones alone.
class Tree {
 public:
  static constexpr uint32_t kSymbols = 257;

  Tree(const uint32_t* counts, uint32_t symbols) {
    std::copy_n(counts, symbols, weights_);
    weights_[kSymbols - 1] = 1;
    std::fill_n(next_, kSymbols, kNone);
    for (uint32_t i = 0; i < kSymbols; ++i)
      if (weights_[i] > 0) roots_[count_++] = i;
    while (count_ > 1) {
      const uint32_t a = rarest(kNone), b = rarest(a);
      join(roots_[a], roots_[b]);
      std::copy(roots_ + b + 1, roots_ + count_, roots_ + b);
      --count_;
    }
  }
  uint32_t length(uint32_t symbol) const { return lengths_[symbol]; }

 private:
  static constexpr uint32_t kNone = kSymbols;

  // The place of a root.
  uint32_t rarest(uint32_t other) const {
    uint32_t found = kNone;
    for (uint32_t i = 0; i < count_; ++i)
      if (i != other && (found == kNone || weights_[roots_[i]] <= weights_[roots_[found]]))
        found = i;
    return found;
  }
  // Two trees become one, whose symbols are a list that begins with `a`.
  void join(uint32_t a, uint32_t b) {
    weights_[a] += weights_[b];
    weights_[b] = 0;
    uint32_t last = a;
    for (uint32_t i = a; i != kNone; last = i, i = next_[i]) ++lengths_[i];
    next_[last] = b;
    for (uint32_t i = b; i != kNone; i = next_[i]) ++lengths_[i];
  }

  uint32_t roots_[kSymbols];  // of trees, in ascending order
  uint32_t count_ = 0;
  uint64_t weights_[kSymbols] = {};
  uint32_t next_[kSymbols];
  uint32_t lengths_[kSymbols] = {};
};

// Shortens codes of more than 16 bits: two of the longest go, one takes the place of their
// beginning, the other and a shorter code share that one's place (figure K.3).
void limit_lengths(uint32_t* counts, uint32_t longest) {
  for (uint32_t bits = longest; bits > kMostBits; --bits)
    while (counts[bits] > 0) {
      uint32_t shorter = bits - 2;
      while (counts[shorter] == 0) --shorter;
      counts[bits] -= 2;
      counts[bits - 1] += 1;
      counts[shorter + 1] += 2;
      counts[shorter] -= 1;
    }
}

Status make_optimal(const uint32_t* occurrences, uint32_t symbols, JpegHuffmanTable* table) {
  constexpr uint32_t kLongest = 32;  // libjpeg's limit
  const Tree tree(occurrences, symbols);
  uint32_t counts[kLongest + 1] = {};
  for (uint32_t i = 0; i < Tree::kSymbols; ++i) {
    if (tree.length(i) > kLongest)
      return Status::error(StatusCode::kUnsupported, "a Huffman code would be too long");
    ++counts[tree.length(i)];
  }
  counts[0] = 0;
  limit_lengths(counts, kLongest);
  uint32_t last = kMostBits;
  while (last > 0 && counts[last] == 0) --last;
  if (last > 0) --counts[last];  // that of the symbol behind all others
  *table = {};
  std::copy_n(counts, kMostBits + 1, table->counts);
  // In the order of the lengths as they were.
  uint32_t number = 0;
  for (uint32_t bits = 1; bits <= kLongest; ++bits)
    for (uint32_t i = 0; i < symbols; ++i)
      if (tree.length(i) == bits) table->symbols[number++] = static_cast<uint8_t>(i);
  return {};
}

}  // namespace

Status make_jpeg_codes(const JpegHuffmanTables& tables, JpegCodes* codes) {
  *codes = {};
  for (uint32_t pair = 0; pair < kJpegTablePairs; ++pair) {
    CT_RETURN_IF_ERROR(add_codes(tables.ac[pair], kJpegDcSymbols, kJpegAcSizes, codes->of[pair]));
    CT_RETURN_IF_ERROR(
        add_codes(tables.dc[pair], kDcSymbols, kJpegDcSizes, codes->of[pair] + kJpegDcSymbols));
  }
  return {};
}

Status make_optimal_jpeg_tables(const JpegSymbolCounts& counts, uint32_t pairs,
                                JpegHuffmanTables* tables) {
  *tables = {};
  for (uint32_t pair = 0; pair < pairs; ++pair) {
    CT_RETURN_IF_ERROR(make_optimal(counts.of[pair], kJpegDcSymbols, &tables->ac[pair]));
    CT_RETURN_IF_ERROR(
        make_optimal(counts.of[pair] + kJpegDcSymbols, kDcSymbols, &tables->dc[pair]));
  }
  return {};
}

}  // namespace cudatransform
