// The rest of a file whose scan was coded in parallel: its layout, and its header.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "jpeg/encode_scan.h"
#include "jpeg/huffman_tables.h"
#include "jpeg/writer.h"

namespace cudatransform {

// Whether JpegEncodeOps can code a file with these options, of samples of `depth` bits.
bool is_parallel(const JpegOptions& options, uint32_t depth);

// The layout of the scan in the file that JpegWriter would write. kUnsupported as in
// make_jpeg_scan_layout(), and above 8 bits.
Status make_jpeg_scan_layout(const JpegPicture& picture, const JpegOptions& options,
                             JpegScanLayout* layout);

// The headers of a stream's files, most of which are alike: the last one is kept. Used by one
// thread at a time.
class JpegHeaders {
 public:
  // The header that JpegWriter::write_header() writes; valid until the next call.
  Status find(const JpegPicture& picture, const JpegOptions& options,
              const JpegHuffmanTables* tables, const JpegBytes** header);
  // For files whose tables are not optimized: standard_jpeg_tables().
  static Status standard_tables(JpegHuffmanTables* tables) {
    const JpegHuffmanTables* standard = nullptr;
    const Status status = standard_jpeg_tables(&standard);
    *tables = *standard;
    return status;
  }

 private:
  JpegWriter writer_;
  std::vector<uint8_t> key_, next_key_;  // all that headers depend on
  JpegBytes header_;
};

}  // namespace cudatransform
