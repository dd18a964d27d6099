// The bytes of a JPEG file's scan without what stuffs them, a few kilobytes at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/scan_window.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cudatransform {
namespace {

// How many bytes in front of the first FF, 8 without one.
size_t before_ff(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
  // As where there is a zero in the complement: the lowest bit that is set is right.
  const uint64_t found = (~word - kOnes) & word & kTops;
  return found == 0 ? 8 : static_cast<size_t>(std::countr_zero(found)) / 8;
}

}  // namespace

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
  const auto done = static_cast<size_t>(*at - bytes_);
  used_ -= done;
  std::memmove(bytes_, *at, used_);
  *at = bytes_;
  return fill();
}

bool ScanWindow::fill() {
  uint8_t* to = bytes_ + used_;
  uint8_t* const full = bytes_ + kBytes - 8;
  const uint8_t* from = from_;
  while (to < full) {
    if constexpr (std::endian::native == std::endian::little) {
      if (end_ - from >= 8) {
        uint64_t word = 0;
        std::memcpy(&word, from, 8);
        std::memcpy(to, &word, 8);
        const size_t count = before_ff(word);
        to += count;
        from += count;
        if (count == 8) continue;
      }
    }
    if (end_ - from < 2) return false;
    if (*from != 0xff) {
      *to++ = *from++;
      continue;
    }
    if (from[1] == 0) {
      *to++ = 0xff;
      from += 2;
      continue;
    }
    ++from;
    while (from < end_ && *from == 0xff) ++from;  // fill bytes
    if (from == end_ || *from == 0) return false;
    marker_ = from;
    is_whole_ = true;
    std::memset(to, 0, kZeros);
    break;
  }
  from_ = from;
  used_ = static_cast<size_t>(to - bytes_);
  // A word of bits may have been loaded from behind the last byte.
  last_ = is_whole_ ? to + 8 : to - kMostAhead;
  return true;
}

}  // namespace cudatransform
