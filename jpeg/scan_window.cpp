// The bytes of a JPEG file's scan without stuffing, a few kilobytes at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/scan_window.h"

#include <algorithm>
#include <cstring>

#include "jpeg/stuffing.h"

namespace cudatransform {

bool ScanWindow::begin(const uint8_t* from, const uint8_t* end) {
  from_ = from;
  end_ = end;
  marker_ = nullptr;
  used_ = 0;
  is_whole_ = false;
  return fill();
}

bool ScanWindow::move(const uint8_t** at) {
  if (is_whole_) return false;
  const auto before = static_cast<size_t>(*at - bytes_), kept = std::min(before, kKept);
  used_ -= before - kept;
  std::memmove(bytes_, *at - kept, used_);
  *at = bytes_ + kept;
  return fill();
}

bool ScanWindow::fill() {
  static_assert(2 * kUnstuffAtOnce < kBytes);
  const uint8_t* const full = bytes_ + kBytes - 2 * kUnstuffAtOnce;
  const auto [from, to] = unstuff(from_, end_, bytes_ + used_, full);
  from_ = from;
  if (to < full) {
    marker_ = marker_code(from, end_);
    if (marker_ == nullptr && !ends_without_marker(from, end_)) return false;
    is_whole_ = true;
    std::memset(to, 0, kZeros);
  }
  used_ = static_cast<size_t>(to - bytes_);
  // A word of bits may have been loaded from behind the last byte.
  last_ = is_whole_ ? to + 8 : to - kMostAhead;
  return true;
}

}  // namespace cudatransform
