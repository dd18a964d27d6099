// The markers of a JPEG file, and its entropy-coded bytes without their stuffing, many at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatransform {

// The codes of markers (ITU-T T.81, table B.1).
enum JpegMarker : uint8_t {
  kTem = 0x01,
  kSof0 = 0xc0,
  kSof1 = 0xc1,
  kSof2 = 0xc2,
  kSof3 = 0xc3,
  kDht = 0xc4,
  kRst0 = 0xd0,
  kRst7 = 0xd7,
  kSoi = 0xd8,
  kEoi = 0xd9,
  kSos = 0xda,
  kDqt = 0xdb,
  kDnl = 0xdc,
  kDri = 0xdd,
  kApp0 = 0xe0,
  kApp1 = 0xe1,
  kApp2 = 0xe2,
  kApp11 = 0xeb,
  kApp13 = 0xed,
  kApp14 = 0xee,
  kApp15 = 0xef,
  kCom = 0xfe,
};

// In entropy-coded data an FF that is followed by a 00 is data, and the 00 is not. One that is
// followed by anything else begins a marker (ITU-T T.81, B.1.1.5).

// The place where unstuffing has stopped.
struct Unstuffed {
  const uint8_t* from;  // the next byte to be read
  uint8_t* to;          // after the last byte written
};

// The bytes that are written at a time: from Unstuffed::to, and from `full` on.
inline constexpr size_t kUnstuffAtOnce = 64;

// Copies the bytes at `from` to `to`, which is elsewhere, without stuffing. It stops at an FF that
// is followed by no 00, or by nothing; at `end`; or when `to` has reached `full`, which may be by
// up to kUnstuffAtOnce bytes too late.
Unstuffed unstuff(const uint8_t* from, const uint8_t* end, uint8_t* to, const uint8_t* full);

// The code of the marker that begins at `ff`, after fill bytes; null without one.
const uint8_t* marker_code(const uint8_t* ff, const uint8_t* end);
// Whether only fill bytes follow from `ff` on: the data end without a marker.
bool ends_without_marker(const uint8_t* ff, const uint8_t* end);

// The number of bytes before the first FF that is followed by no 00, or by nothing at all.
size_t bytes_before_marker(const uint8_t* data, size_t size);

// The same without the instructions that some processors lack: for tests.
Unstuffed unstuff_portably(const uint8_t* from, const uint8_t* end, uint8_t* to,
                           const uint8_t* full);
size_t bytes_before_marker_portably(const uint8_t* data, size_t size);

// A segment of a scan, from a restart to the next marker or to the end of the file, moves through a
// window that stays in the cache. After its last byte there are zeros: kMaxAhead bytes from a
// place where may_read() is true are in the window.
class ScanWindow {
 public:
  static constexpr size_t kMaxAhead = 2560;
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
  // Moves `*at` and the bytes after it, and adds more. False where there are none, or as begin().
  bool move(const uint8_t** at);

  // The end after the last byte, once it has been seen; else null.
  const uint8_t* end() const { return is_whole_ ? bytes_ + used_ : nullptr; }
  // The code of the marker then, one byte of the file; null where the file ends.
  const uint8_t* marker() const { return marker_; }

 private:
  static constexpr size_t kBytes = 8192;
  // As many zeros: the bit reader reads a word ahead.
  static constexpr size_t kZeros = kMaxAhead + 16;

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
