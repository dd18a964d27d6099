// The codes of Huffman tables, and the best tables for given symbols.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/encode_scan.h"
#include "jpeg/huffman_tables.h"
#include "transform/device/status.h"

namespace cudatransform {

// kInvalidArgument for tables with codes that do not fit, with a symbol that has two, or with a DC
// symbol above 15.
Status make_jpeg_codes(const JpegHuffmanTables& tables, JpegCodes* codes);

// The tables of the first `pairs` pairs that make the shortest scan for these counts of symbols, as
// libjpeg computes them. kUnsupported where libjpeg would find none.
Status make_optimal_jpeg_tables(const JpegSymbolCounts& counts, uint32_t pairs,
                                JpegHuffmanTables* tables);

}  // namespace cudatransform
