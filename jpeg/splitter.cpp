// Finds where JPEG pictures begin and end in a stream of bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/splitter.h"

#include <algorithm>
#include <cstring>

#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

// Marker codes (T.81, table B.1).

}  // namespace

size_t find_soi(std::span<const uint8_t> bytes, size_t from) {
  while (from + 1 < bytes.size()) {
    const void* ff = memchr(&bytes[from], 0xff, bytes.size() - 1 - from);
    if (!ff) break;
    from = static_cast<size_t>(static_cast<const uint8_t*>(ff) - bytes.data());
    if (bytes[from + 1] == kSoi) return from;
    from++;
  }
  return bytes.size();
}

void JpegSplitter::restart() { *this = JpegSplitter(); }

void JpegSplitter::cut() {
  end_ = position_;
  found_ = true;
}

// The number of next bytes without a meaning in this state, which are skipped together.
size_t JpegSplitter::step_over(const uint8_t* data, size_t size) {
  switch (state_) {
    case State::kSegment:
      return std::min(size, skip_);
    case State::kEntropy:
      return bytes_before_marker(data, size);
    case State::kOutside:
    case State::kMarker: {
      const void* ff = memchr(data, 0xff, size);
      return ff ? static_cast<const uint8_t*>(ff) - data : size;
    }
    default:
      return 0;
  }
}

size_t JpegSplitter::feed(const uint8_t* data, size_t size) {
  size_t used = 0;
  while (used < size && !found_) {
    const size_t skipped = step_over(data + used, size - used);
    used += skipped;
    position_ += skipped;
    if (state_ == State::kSegment) {
      skip_ -= skipped;
      if (skip_ == 0) state_ = marker_ == kSos ? State::kEntropy : State::kMarker;
      continue;
    }
    if (used == size) break;
    position_++;
    take(data[used++]);
  }
  return used;
}

void JpegSplitter::take(uint8_t byte) {
  switch (state_) {
    case State::kOutside:
      if (byte == 0xff) state_ = State::kOutsideFf;
      break;
    case State::kOutsideFf:
      if (byte == 0xff) break;
      state_ = State::kOutside;
      if (byte != kSoi) break;
      state_ = State::kMarker;
      begin_ = position_ - 2;
      break;
    case State::kMarker:
      if (byte == 0xff) state_ = State::kMarkerCode;
      break;
    case State::kMarkerCode:
      take_marker(byte, false);
      break;
    case State::kLengthHigh:
      skip_ = size_t(byte) << 8;
      state_ = State::kLengthLow;
      break;
    case State::kLengthLow:
      skip_ |= byte;
      // The length counts its own two bytes. One that is too small is damage: search for a marker.
      skip_ -= std::min<size_t>(skip_, 2);
      state_ = skip_ > 0 ? State::kSegment : marker_ == kSos ? State::kEntropy : State::kMarker;
      break;
    case State::kEntropy:
      if (byte == 0xff) state_ = State::kEntropyFf;
      break;
    case State::kEntropyFf:
      take_marker(byte, true);
      break;
    case State::kSegment:
      break;  // feed() steps over it
  }
}

void JpegSplitter::take_marker(uint8_t code, bool in_entropy) {
  if (code == 0xff) return;  // fill bytes
  const State otherwise = in_entropy ? State::kEntropy : State::kMarker;
  if (code == kSoi && !has_segments_) {
    begin_ = position_ - 2;
    state_ = State::kMarker;
  } else if (code == kEoi || code == kSoi) {
    // A picture inside of another: the first has lost its end.
    has_end_ = code == kEoi;
    end_ = has_end_ ? position_ : position_ - 2;
    found_ = true;
  } else if (code == 0 || code == kTem || (code >= kRst0 && code <= kRst7)) {
    state_ = otherwise;
  } else {
    marker_ = code;
    has_segments_ = true;
    state_ = State::kLengthHigh;
  }
}

}  // namespace cudatransform
