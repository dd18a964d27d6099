// Huffman tables as files have them: their codes, and the best ones for given symbols.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/encode_scan.h"
#include "transform/device/status.h"

namespace cudatransform {

// ITU-T T.81, B.2.4.2.
struct JpegHuffmanTable {
  uint8_t counts[17] = {};  // how many codes have that many bits; [0] is 0
  uint8_t symbols[256] = {};

  bool operator==(const JpegHuffmanTable&) const = default;
};

struct JpegHuffmanTables {
  JpegHuffmanTable dc[kJpegTablePairs], ac[kJpegTablePairs];

  bool operator==(const JpegHuffmanTables&) const = default;
};

// kInvalidArgument for tables that are none: with codes that do not fit, a symbol that has two, or
// a DC symbol above 15.
Status make_jpeg_codes(const JpegHuffmanTables& tables, JpegCodes* codes);

// The tables of the first `pairs` pairs that make the shortest scan of symbols that are there so
// often; those that libjpeg computes. kUnsupported where libjpeg would not find any.
Status make_optimal_jpeg_tables(const JpegSymbolCounts& counts, uint32_t pairs,
                                JpegHuffmanTables* tables);

}  // namespace cudatransform
