// Sequential Huffman coding of whole scans on the CPU, of any depth.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/encode_tables.h"
#include "jpeg/writer.h"

namespace cudatransform {

// libjpeg codes levels of 8-bit samples alone, and of 12-bit samples only from libjpeg-turbo 3 on.
// These code the levels of a picture that check_levels() has passed, with `restart_interval` of
// JpegOptions: the same bytes.

// The tables that make the shortest scan.
Status find_scan_tables(const JpegPicture& picture, uint32_t restart_interval,
                        JpegHuffmanTables* tables);
// Appends the scan, coded with these tables, and EOI. kInvalidArgument for tables that lack a
// symbol; kOutOfMemory.
Status append_scan(const JpegPicture& picture, uint32_t restart_interval,
                   const JpegHuffmanTables& tables, JpegBytes* bytes);

}  // namespace cudatransform
