// Huffman tables as a JPEG file defines them, and the tables in which decoders look codes up.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/huffman_tables.h"

#include <algorithm>
#include <cstring>

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

// As many whole codes as lie in kHuffmanRunBits bits; the bits behind the last one need not.
uint16_t run_for(const HuffmanSet& set, bool at_ac, uint32_t bits) {
  const uint32_t window = bits << (32 - kHuffmanRunBits);
  uint32_t used = 0, advance = 0;
  while (used < kHuffmanRunBits) {
    const bool is_ac = at_ac || advance != 0;
    // Codes that are longer than the first look find zeros.
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

}  // namespace cudatransform
