// How large the next picture of a stream may be, so that the stream keeps to a bit rate.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>

namespace cudatransform {

// A buffer that pictures fill, and that runs empty at the bit rate. It is kept half full: a picture
// gets what runs out until the next one, and a part of what is missing to the half, or in excess of
// it. A stream begins there.
class LeakyBucket {
 public:
  // Half full at first; later as full as it was.
  void set(double bytes_per_second, double seconds) {
    const double capacity = bytes_per_second * seconds;
    fill_ = capacity_ > 0 ? fill_ * (capacity / capacity_) : capacity / 2;
    rate_ = bytes_per_second;
    capacity_ = capacity;
  }
  void wait(double seconds) { fill_ = std::max(0.0, fill_ - rate_ * seconds); }
  // Bytes for a picture that is shown for `seconds`: at most 1.2 times its share, also when the
  // buffer has run empty.
  double budget(double seconds) const {
    const double share = rate_ * seconds;
    const double wanted = share + (capacity_ / 2 - fill_) * std::min(1.0, share / capacity_);
    return std::max(0.0, std::min({wanted, 1.2 * share, capacity_ - fill_}));
  }
  // Bytes until it is full.
  double room() const { return capacity_ - fill_; }
  // False where the picture runs over: the buffer is full then, and owes nothing.
  bool add(double bytes) {
    const bool fits = fill_ + bytes <= capacity_;
    fill_ = std::min(fill_ + bytes, capacity_);
    return fits;
  }
  // 0 to 1.
  double fill() const { return capacity_ > 0 ? fill_ / capacity_ : 0; }

 private:
  double rate_ = 0, capacity_ = 0, fill_ = 0;
};

}  // namespace cudatransform
