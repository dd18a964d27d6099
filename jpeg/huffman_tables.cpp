// Huffman tables as a JPEG file defines them, in forms for decoders and encoders, and the best ones
// for given symbols.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/huffman_tables.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "jpeg/encode_bits.h"
#include "jpeg/errors.h"

namespace cudatransform {
namespace {

// The entry of the steps' tables for a symbol.
uint16_t entry_for(uint32_t symbol, uint32_t length, bool is_ac) {
  if (!is_ac) return huffman_entry(length, symbol, 1);
  const uint32_t zeros = symbol >> 4, size = symbol & 15;
  if (size != 0) return huffman_entry(length, size, zeros + 1);
  return huffman_entry(length, 0, zeros == 15 ? 16 : kBlockEnd);
}

// As many whole codes as fit in kHuffmanRunBits bits; the bits after the last one need not.
uint16_t run_for(const HuffmanSet& set, bool at_ac, uint32_t bits) {
  const uint32_t window = bits << (32 - kHuffmanRunBits);
  uint32_t used = 0, advance = 0;
  while (used < kHuffmanRunBits) {
    const bool is_ac = at_ac || advance != 0;
    // Codes that are longer than the first lookup find zeros.
    const uint32_t entry =
        set.codes[is_ac ? 1 : 0].first[window << used >> (32 - kHuffmanFirstBits)];
    if (entry == 0 || advance_of(entry) == kNoCode || used + length_of(entry) > kHuffmanRunBits)
      break;
    if (advance_of(entry) == kBlockEnd) return huffman_run(used + length_of(entry), advance, true);
    if (advance + advance_of(entry) >= kBlockEnd) break;
    advance += advance_of(entry);
    used += length_of(entry) + size_of(entry);
  }
  return huffman_run(used, advance, false);
}

void copy_table(const JHUFF_TBL& from, JpegHuffmanTable* to) {
  std::copy(std::begin(from.bits) + 1, std::end(from.bits), to->counts + 1);
  std::copy(std::begin(from.huffval), std::end(from.huffval), to->symbols);
}

struct StandardTables {
  JpegHuffmanTables tables;
  Status status;

  StandardTables() {
    JpegErrors errors;
    jpeg_compress_struct cinfo = {};
    cinfo.err = errors.manager();
    status = errors.guard([&] {
      jpeg_create_compress(&cinfo);
      cinfo.input_components = 3;
      cinfo.in_color_space = JCS_YCbCr;
      jpeg_set_defaults(&cinfo);
    });
    for (uint32_t pair = 0; status.ok() && pair < kJpegTablePairs; ++pair) {
      copy_table(*cinfo.dc_huff_tbl_ptrs[pair], &tables.dc[pair]);
      copy_table(*cinfo.ac_huff_tbl_ptrs[pair], &tables.ac[pair]);
    }
    jpeg_destroy_compress(&cinfo);
  }
};

}  // namespace

bool make_codes(const JpegHuffmanTable& table, bool is_ac, HuffmanCodes* codes) {
  std::memset(static_cast<void*>(codes), 0, sizeof *codes);
  uint32_t in_long = 0, all = 0;
  const auto add = [&](uint32_t length, uint32_t code, uint32_t place, uint32_t count) {
    const bool is_long = length > kHuffmanFirstBits;
    if (is_long) codes->long_from[length - 11] = static_cast<uint16_t>(in_long - code);
    all += count;
    for (; count > 0; --count, ++code) {
      const uint32_t symbol = table.symbols[place++];
      if (!is_ac && symbol > 15) return false;
      const uint16_t entry = entry_for(symbol, length, is_ac);
      if (is_long) {
        codes->long_entry[in_long++] = entry;
      } else {
        const uint32_t shift = kHuffmanFirstBits - length;
        std::fill_n(codes->first + (code << shift), size_t{1} << shift, entry);
      }
    }
    if (is_long) codes->long_end[length - 11] = static_cast<uint16_t>(code << (16 - length));
    return true;
  };
  return for_each_code_length(table, add) && all > 0;
}

void make_runs(const HuffmanSet& set, HuffmanRuns* runs) {
  for (uint32_t at_ac = 0; at_ac < 2; ++at_ac) {
    for (uint32_t bits = 0; bits < 1u << kHuffmanRunBits; ++bits)
      runs->runs[at_ac][bits] = run_for(set, at_ac != 0, bits);
  }
}

Status standard_jpeg_tables(const JpegHuffmanTables** tables) {
  static const StandardTables kStandard;
  *tables = &kStandard.tables;
  return kStandard.status;
}

namespace {

constexpr uint32_t kMaxBits = 16;
constexpr uint32_t kDcSymbols = kJpegSymbols - kJpegDcSymbols;

// The lower half of a symbol is how many bits follow its code.
Status add_codes(const JpegHuffmanTable& table, uint32_t symbols, uint32_t max_size,
                 uint32_t* codes) {
  bool seen[256] = {};
  const auto add = [&](uint32_t bits, uint32_t code, uint32_t place, uint32_t count) {
    for (; count > 0; --count, ++code) {
      const uint32_t symbol = table.symbols[place++];
      if (symbol >= symbols || std::exchange(seen[symbol], true)) return false;
      if (symbol % 16 > max_size) continue;  // never used
      codes[symbol] = jpeg_code(code, bits, symbol % 16);
    }
    return true;
  };
  if (for_each_code_length(table, add)) return {};
  return Status::error(StatusCode::kInvalidArgument, "invalid Huffman table");
}

// The lengths of codes, not limited: those of a Huffman tree. Of symbols that are equally rare that
// with the highest number goes first, as in the standard's procedure, and the one after all others
// has no code in the end: so no other gets ones alone.
class Tree {
 public:
  static constexpr uint32_t kSymbols = 257;

  Tree(const uint32_t* counts, uint32_t symbols) {
    for (uint32_t i = 0; i < symbols; ++i)
      if (counts[i] > 0) leaves_.all[leaves_.end++] = root(counts[i], i);
    leaves_.all[leaves_.end++] = root(1, kSymbols - 1);
    std::sort(leaves_.all, leaves_.all + leaves_.end);
    std::iota(nodes_, nodes_ + kSymbols, 0u);
    uint32_t nodes = kSymbols;
    for (uint32_t joins = leaves_.end - 1; joins > 0; --joins, ++nodes) {
      const uint64_t a = take_rarest(), b = take_rarest();
      parents_[nodes_[number(a)]] = parents_[nodes_[number(b)]] = nodes;
      // They are found by the number of the rarest from now on.
      nodes_[number(a)] = nodes;
      joined_.add(root((a >> kNumberBits) + (b >> kNumberBits), number(a)));
    }
    // Parents come after their children.
    for (uint32_t i = nodes; i-- > 0;)
      if (parents_[i] != 0) lengths_[i] = lengths_[parents_[i]] + 1;
  }
  uint32_t length(uint32_t symbol) const { return lengths_[symbol]; }

 private:
  // A root is a weight above the remainder from the highest number: so they are ordered as words.
  static constexpr uint32_t kNumberBits = 9, kHighest = (1u << kNumberBits) - 1;

  static uint64_t root(uint64_t weight, uint32_t number) {
    return weight << kNumberBits | (kHighest - number);
  }
  static uint32_t number(uint64_t root) { return kHighest - (root & kHighest); }
  // Roots in ascending order.
  struct Queue {
    uint64_t all[kSymbols];
    uint32_t begin = 0, end = 0;

    uint64_t first() const { return begin < end ? all[begin] : UINT64_MAX; }
    void add(uint64_t root) {
      uint32_t place = end++;
      for (; place > begin && all[place - 1] > root; --place) all[place] = all[place - 1];
      all[place] = root;
    }
  };
  uint64_t take_rarest() {
    Queue& queue = leaves_.first() < joined_.first() ? leaves_ : joined_;
    return queue.all[queue.begin++];
  }

  Queue leaves_;
  Queue joined_;  // trees, none of which is less than those before it: no add() goes far
  // Of roots by their numbers: nodes of the tree, of which the first are the symbols.
  uint32_t nodes_[kSymbols];
  uint32_t parents_[2 * kSymbols] = {};  // 0: none
  uint32_t lengths_[2 * kSymbols] = {};
};

// Shortens codes of more than 16 bits: two of the longest are removed, one takes the place of their
// beginning, the other and a shorter code share that one's place (figure K.3).
void limit_lengths(uint32_t* counts, uint32_t longest) {
  for (uint32_t bits = longest; bits > kMaxBits; --bits)
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
      return Status::error(StatusCode::kUnsupported, "Huffman code too long");
    ++counts[tree.length(i)];
  }
  counts[0] = 0;
  uint32_t lengths[kLongest + 1];
  std::copy_n(counts, kLongest + 1, lengths);
  limit_lengths(counts, kLongest);
  uint32_t last = kMaxBits;
  while (last > 0 && counts[last] == 0) --last;
  if (last > 0) --counts[last];  // that of the symbol after all others
  *table = {};
  std::copy_n(counts, kMaxBits + 1, table->counts);
  // In the order of the lengths as they were.
  std::exclusive_scan(lengths, lengths + kLongest + 1, lengths, 0u);
  for (uint32_t i = 0; i < symbols; ++i)
    if (tree.length(i) > 0) table->symbols[lengths[tree.length(i)]++] = static_cast<uint8_t>(i);
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
