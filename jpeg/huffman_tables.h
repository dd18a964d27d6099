// Huffman tables as a JPEG file defines them, in forms for decoders and encoders, and the best ones
// for given symbols.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/encode_layout.h"
#include "jpeg/encode_scan.h"
#include "jpeg/huffman_steps.h"
#include "transform/device/status.h"

namespace cudatransform {

// ITU-T T.81, B.2.4.2.
struct JpegHuffmanTable {
  uint8_t counts[17] = {};  // how many codes have that many bits, 1 to 16; [0] is 0
  uint8_t symbols[256] = {};

  bool operator==(const JpegHuffmanTable&) const = default;
};

struct JpegHuffmanTables {
  JpegHuffmanTable dc[kJpegTablePairs], ac[kJpegTablePairs];

  bool operator==(const JpegHuffmanTables&) const = default;
};

// Calls `with(length, code, place, count)` for each length from 1 to 16 bits: the first code (T.81,
// annex C), the place of its symbol, and how many codes there are, which may be none. False where
// the codes do not fit their length, one is all ones, which fill up the last byte, there are more
// than 256, or `with` returns false.
template <typename Function>
bool for_each_code_length(const JpegHuffmanTable& table, const Function& with) {
  uint32_t code = 0, place = 0;
  for (uint32_t length = 1; length <= 16; ++length) {
    const uint32_t count = table.counts[length];
    if (place + count > 256 || (count > 0 && code + count >= 1u << length)) return false;
    if (!with(length, code, place, count)) return false;
    code = (code + count) * 2;
    place += count;
  }
  return true;
}

// False where libjpeg rejects the table, or reads it otherwise: codes that do not fit
// their length or are all ones, no code at all, or sizes of DC differences above 15.
bool make_codes(const JpegHuffmanTable& table, bool is_ac, HuffmanCodes* codes);
// `set` has been made by make_codes().
void make_runs(const HuffmanSet& set, HuffmanRuns* runs);

// Annex K's tables, for luma and chroma, which Motion JPEG leaves out. They are libjpeg's own for
// compression. The result is an error where libjpeg failed.
Status standard_jpeg_tables(const JpegHuffmanTables** tables);

// kInvalidArgument for tables with codes that do not fit, with a symbol that has two, or with a DC
// symbol above 15.
Status make_jpeg_codes(const JpegHuffmanTables& tables, JpegCodes* codes);

// The tables of the first `pairs` pairs that make the shortest scan for these counts of symbols, as
// libjpeg computes them. kUnsupported where libjpeg would find none.
Status make_optimal_jpeg_tables(const JpegSymbolCounts& counts, uint32_t pairs,
                                JpegHuffmanTables* tables);

}  // namespace cudatransform
