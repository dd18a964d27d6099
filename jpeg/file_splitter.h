// Finds where JPEG files begin and end in a stream of bytes, with what belongs to their pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "jpeg/mpf.h"
#include "jpeg/splitter.h"

namespace cudatransform {

// More bytes are never taken for one picture, nor for what is after it.
inline constexpr uint64_t kMaxJpegFile = uint64_t{1} << 28;

// The parts of a file after its first picture, and how a stream is split.
struct JpegFileRules {
  bool with_others = true;       // the pictures that its index names
  bool with_rest = false;        // the bytes after, up to the next file
  bool is_framed = false;        // files begin with a chunk of the stream and end in the same chunk
  uint64_t most = kMaxJpegFile;  // no more is awaited for a file
};

// The place of a file in the bytes that were searched.
struct JpegFileSpan {
  size_t skipped = 0;   // bytes before the file that belong to none
  size_t size = 0;      // of the file; 0 and no `skipped`: more bytes are needed
  bool is_cut = false;  // more belongs to it than may be awaited, and stays in the stream
};

// A file is a picture, the others at the places of its index, and the bytes up to the next file. A
// wrong index is ignored. Each byte is examined kMaxReads times at most, for any claimed lengths
// and indices: an index is read only while wrong ones have made the splitter peek at no more bytes
// than the stream had before them.
class JpegFileSplitter {
 public:
  static constexpr uint64_t kMaxReads = 8;

  // The next file in `bytes`, which begin where the last span ended: after its file, or after the
  // bytes skipped. Bytes that are new since the last call are a chunk of the stream. `at_end`: no
  // more will follow.
  JpegFileSpan next(std::span<const uint8_t> bytes, const JpegFileRules& rules, bool at_end);
  // Why the last file's index is not believed; "" where it has none or is.
  const std::string& doubt() const { return doubt_; }
  // How many bytes have been examined so far.
  uint64_t examined() const { return examined_; }

  // The next bytes do not continue the earlier ones.
  void restart();

 private:
  enum class Begins { kNo, kYes, kUnknown };
  void scan_new_bytes(std::span<const uint8_t> bytes, const JpegFileRules& rules);
  JpegFileSpan skip(size_t size);
  JpegFileSpan drop(size_t size);
  void begin_anew(size_t size);
  void read_index(std::span<const uint8_t> picture, const JpegFileRules& rules);
  bool find_pictures(std::span<const uint8_t> bytes, const JpegFileRules& rules, bool at_end);
  bool find_rest(std::span<const uint8_t> bytes, const JpegFileRules& rules, bool at_end);
  Begins begins_file(std::span<const uint8_t> bytes, size_t at);
  void take(size_t size);
  // Positions in the bytes, of the splitter's.
  size_t here(size_t position) const { return position - base_; }

  JpegSplitter splitter_;
  size_t base_ = 0;    // the splitter's position of the first byte
  size_t known_ = 0;   // bytes that the last call had
  size_t newest_ = 0;  // where the newest chunk begins
  // Of the picture that the splitter has found: whether its index has been read, whether pictures
  // are awaited by it, and whether the bytes after stay with it.
  bool has_read_index_ = false, awaits_ = false, keeps_rest_ = false;
  PlacesCheck check_;
  // Where its pictures end, and the file as far as it has been examined; 0: not known.
  size_t pictures_end_ = 0, file_end_ = 0;
  uint64_t taken_ = 0;           // bytes of the stream
  uint64_t examined_ahead_ = 0;  // by indices that were not true
  uint64_t examined_ = 0;
  std::string doubt_;
};

}  // namespace cudatransform
