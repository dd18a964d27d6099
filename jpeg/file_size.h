// The size of the files that JpegWriter would write: nearly, from counts of symbols, and exactly.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "jpeg/encode_file.h"
#include "jpeg/encode_scan.h"
#include "jpeg/huffman_tables.h"
#include "jpeg/writer.h"
#include "transform/device/device.h"

namespace cudatransform {

// Of sequential Huffman files of 8 bits, without the bytes after the picture. Used by one thread
// at a time.
class JpegFileSize {
 public:
  JpegFileSize();
  ~JpegFileSize();

  // `ops` is of `device`, whose compute queue does all work.
  Status open(Device& device, const JpegEncodeOps& ops);
  void close();

  // The next files: pictures of the geometry of `picture`, whose quantized coefficients and tables
  // are not read but may not be null, and with its metadata. A header has another size where other
  // components share a table, or one has entries of 16 bits instead of 8. kUnsupported where
  // engines cannot code them.
  Status begin(const JpegPicture& picture, const JpegOptions& options);

  // Enqueues the count of a picture's symbols as number `slot`, of kSlots. The counts may be
  // read when `fence`, which may be null, is done.
  static constexpr int kSlots = 8;
  Status count(const JpegPicture& picture, int slot, FencePtr* fence);
  // For counts from another source: one for each slot, in pinned memory and aligned to 16. Null
  // where no pages can be locked.
  JpegSymbolCounts* counts();
  const JpegScanLayout& layout() const { return layout_; }
  // Without stuffed bytes, and with an average for bits that fill up bytes.
  Status counted_size(int slot, uint64_t* bytes) const;

  // The size of the file. UINT64_MAX: baseline files have no codes for the picture's quantized
  // coefficients. Waits for the device.
  Status exact_size(const JpegPicture& picture, uint64_t* bytes);

 private:
  struct Results;

  Status size_on_device(const JpegPicture& picture, uint64_t* bytes);
  Status size_on_host(const JpegPicture& picture, uint64_t* bytes);
  Status fetch(const JpegPicture& picture, JpegPicture* fetched);
  Status code_on_device(const JpegPicture& picture, const JpegHuffmanTables* tables,
                        uint64_t* bytes);
  JpegEncodeJob job_of(const JpegPicture& picture) const;
  Results& results() const;

  Device* device_ = nullptr;
  const JpegEncodeOps* ops_ = nullptr;
  std::unique_ptr<Memory> results_, output_;
  std::unique_ptr<Results> ordinary_;  // results, where no pages can be locked
  std::vector<int16_t> qcoefs_;        // of the picture, where the device cannot code it
  JpegOptions options_;
  JpegScanLayout layout_;
  uint32_t pairs_ = 1;
  uint64_t header_ = 0;  // bytes of a header without the symbols of Huffman tables
  JpegHuffmanTables standard_;
  JpegCodes standard_codes_;
  JpegWriter writer_;
  JpegBytes bytes_;
};

}  // namespace cudatransform
