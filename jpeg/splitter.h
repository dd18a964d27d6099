// Finds where JPEG pictures begin and end in a stream of bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cudatransform {

// The position of the first FF D8 at `from` or after it; the size where there is none.
size_t find_soi(std::span<const uint8_t> bytes, size_t from);

// A picture begins with SOI and ends after EOI, or before the next SOI where its own end is
// missing. An SOI that no marker segment follows before the next SOI begins none. Segments are
// stepped over by their length, so that a thumbnail inside of one is not taken for a picture (ITU-T
// T.81, annex B). Bytes are fed in order, in chunks of any size.
class JpegSplitter {
 public:
  // Examines the bytes that follow those fed before, up to the end of a picture at most, and
  // returns how many of them it has examined: all, unless found() is true then.
  size_t feed(const uint8_t* data, size_t size);
  // Whether a whole picture, from begin() to end(), has been seen.
  bool found() const { return found_; }
  // Whether a picture has begun.
  bool inside() const { return state_ != State::kOutside && state_ != State::kOutsideFf; }

  // Only found(): whether an EOI ends the picture, and whether it has any marker segment.
  bool has_end() const { return has_end_; }
  bool has_segments() const { return has_segments_; }

  // Only inside(): the picture that has begun ends here, complete or not.
  void cut();

  // Positions in bytes since the last restart().
  size_t begin() const { return begin_; }
  size_t end() const { return end_; }
  size_t position() const { return position_; }

  // Starts over; the next byte fed has position 0.
  void restart();

 private:
  enum class State {
    kOutside,     // before SOI
    kOutsideFf,   // after an FF outside
    kMarker,      // looking for the next marker's FF
    kMarkerCode,  // after that FF
    kLengthHigh,  // of a segment
    kLengthLow,
    kSegment,    // skip_ bytes of it remain
    kEntropy,    // entropy-coded data
    kEntropyFf,  // after an FF in there
  };
  size_t step_over(const uint8_t* data, size_t size);
  void take(uint8_t byte);
  void take_marker(uint8_t code, bool in_entropy);

  State state_ = State::kOutside;
  uint8_t marker_ = 0;
  size_t skip_ = 0;
  size_t position_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool found_ = false;
  bool has_end_ = false;
  bool has_segments_ = false;
};

}  // namespace cudatransform
