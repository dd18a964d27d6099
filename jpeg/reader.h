// A JPEG picture's header, coefficients and tables.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "jpeg/coef_arrays.h"
#include "jpeg/errors.h"
#include "jpeg/tables.h"

namespace cudatransform {

// The header before the first scan, of pictures that we can hold: one component, three or four.
struct JpegHeader {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t depth = 8;  // bits of a sample: 8 or 12
  int components = 0;  // in the order Y Cb Cr, R G B, C M Y K, or Y Cb Cr K
  JpegColor color = JpegColor::kGray;
  JpegSampling sampling;
  uint32_t blocks_w[kJpegMaxComponents] = {};  // without dummy blocks
  uint32_t blocks_h[kJpegMaxComponents] = {};
  // The Motion JPEG of AVI files with two fields a frame marks each with its polarity (APP0
  // "AVI1"). That alone is no proof: there are complete pictures with one.
  bool has_polarity = false;
  uint32_t irregular = 0;  // bits of jpeg/errors.h
  // The least size of a complete file, in bytes after the header; 0: unknown.
  size_t min_bytes = 0;
  // Memory for reading the coefficients, without the quantized coefficients that they are read
  // into: rows that libjpeg pads, and the little that it keeps itself, for all kinds of entropy
  // coding.
  size_t extra_bytes = 0;
};

class JpegScanDecoder;

// Rows of blocks of each component, of the MCUs of some rows.
struct JpegBlockRows {
  uint32_t first[kJpegMaxComponents] = {}, end[kJpegMaxComponents] = {};
};

// How a picture is read.
struct JpegReading {
  // Whether to continue after damage, to show the rest of the picture.
  bool past_damage = true;
  // If not null: reading ends with kCancelled soon after this is not 0 any more.
  const std::atomic<unsigned>* interrupt = nullptr;
  // Uses JpegScanDecoder, where that can. Coefficients and verdict are the same.
  bool fast = true;
  // If not null: only these rows are wanted. Other quantized coefficients may be anything, and
  // damage after these rows, or before them where there are restart markers, may not be found.
  const JpegBlockRows* rows = nullptr;
};

// Reads one picture after another: read_header(), then read_coefficients() or the next header.
// Sequential Huffman-coded files of which nothing is missing are decoded by JpegScanDecoder, all
// others by libjpeg. For any bytes, neither reads outside of them, and the time is bounded by
// kMaxScannedBlocks and the picture's size. One thread at a time.
class JpegReader {
 public:
  // More scans than any encoder makes: a progressive file may define thousands of empty ones.
  static constexpr uint64_t kMaxScans = 500;
  // Scans times blocks: 85 scans of 130 megapixels in 4:2:0.
  static constexpr uint64_t kMaxScannedBlocks = uint64_t{1} << 28;

  JpegReader();
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // `data` must stay until the picture has been read. kUnsupported: a sound JPEG file of a kind
  // that we cannot hold (lossless, odd sampling factors, ...); kInvalidArgument: no JPEG file,
  // or its header is damaged.
  Status read_header(std::span<const uint8_t> file, JpegHeader* header);

  // Decodes into `qcoefs`, whose sizes are the header's. Ok without damage: every coefficient is as
  // the file has it. Ok otherwise: `found->damage` names the first fault; coefficients that could
  // not be decoded are 0 or nonsense. Not ok: likewise, but the decoder gave up. In every case all
  // of `qcoefs` and `tables` is written, all quantized coefficients are such as JPEG of the
  // header's depth has, and no table is_blank(); but neither is to be used after kCancelled, nor of
  // a damaged picture without `past_damage`.
  Status read_coefficients(const JpegQcoefs* qcoefs, JpegTables* tables, JpegFindings* found,
                           const JpegReading& how = {});
  // Whether JpegScanDecoder has decoded the last picture.
  bool was_fast() const { return was_fast_; }

 private:
  struct Progress {
    jpeg_progress_mgr base;  // first: libjpeg hands back a pointer to it
    const std::atomic<unsigned>* interrupt;
  };
  static void check_interrupt(j_common_ptr cinfo);
  void close();
  bool is_sequential() const;
  Status check_frame(const Status& read) const;
  Status describe(JpegHeader* header);
  bool decode_fast(const JpegQcoefs* qcoefs, JpegTables* tables, const JpegReading& how);
  void finish_qcoefs(const JpegQcoefs* qcoefs, JpegTables* tables, JpegFindings* found,
                     const JpegReading& how);
  void weigh(JpegFindings* found) const;
  bool all_blocks_came() const;
  void take_tables(JpegTables* tables, std::string* damage) const;
  std::string range_damage(const JpegQcoefs* qcoefs) const;

  jpeg_decompress_struct cinfo_ = {};
  Progress progress_ = {};
  JpegErrors errors_;
  CoefArrays arrays_;
  std::unique_ptr<JpegScanDecoder> decoder_;
  std::span<const uint8_t> file_;
  bool was_fast_ = false;
  bool vouched_ = false;  // JpegScanDecoder has found nothing missing
  uint32_t header_irregular_ = 0;
  // libjpeg's own are overwritten by a second frame header.
  int components_ = 0;
  uint32_t depth_ = 8;
  bool open_ = false;
};

}  // namespace cudatransform
