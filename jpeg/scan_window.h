// The bytes of a JPEG file's scan without stuffing, a few kilobytes at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatransform {

// A segment of a scan, from a restart to the next marker or to the end of the file, moves through a
// window that stays in the cache. Behind its last byte there are zeros: kMostAhead bytes from a
// place where may_read() is true are in the window.
class ScanWindow {
 public:
  static constexpr size_t kMostAhead = 2560;
  // These bytes stay in front of those that have been moved: a reader that has loaded a word of
  // bits may go back to them.
  static constexpr size_t kKept = 8;

  // A segment that begins at `from`, in a file that ends at `end`. False: it is followed by neither
  // a marker nor the end.
  bool begin(const uint8_t* from, const uint8_t* end);
  const uint8_t* first() const { return bytes_; }
  bool may_read(const uint8_t* at) const { return at <= last_; }
  // The last place where it is true.
  const uint8_t* last() const { return last_; }
  // Moves `*at` and the bytes behind it, and adds more. False where there are none, or as begin().
  bool move(const uint8_t** at);

  // The end behind the last byte, once it has been seen; else null.
  const uint8_t* end() const { return is_whole_ ? bytes_ + used_ : nullptr; }
  // The code of the marker then, one byte of the file; null where the file ends.
  const uint8_t* marker() const { return marker_; }

 private:
  static constexpr size_t kBytes = 8192;
  // As many zeros: the reader of bits looks ahead a word.
  static constexpr size_t kZeros = kMostAhead + 16;

  bool fill();

  const uint8_t* from_ = nullptr;
  const uint8_t* end_ = nullptr;
  const uint8_t* marker_ = nullptr;
  const uint8_t* last_ = nullptr;
  size_t used_ = 0;
  bool is_whole_ = false;
  uint8_t bytes_[kBytes + kZeros];
};

}  // namespace cudatransform
