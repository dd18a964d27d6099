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
  LeakyBucket() = default;
  LeakyBucket(double bytes_per_second, double seconds)
      : rate_(bytes_per_second), capacity_(bytes_per_second * seconds), fill_(capacity_ / 2) {}

  bool operator==(const LeakyBucket&) const = default;
  bool is_like(const LeakyBucket& other) const {
    return rate_ == other.rate_ && capacity_ == other.capacity_;
  }

  void wait(double seconds) { fill_ = std::max(0.0, fill_ - rate_ * seconds); }
  // Bytes for a picture that is shown for `seconds`.
  double budget(double seconds) const {
    const double share = rate_ * seconds;
    const double wanted = share + (capacity_ / 2 - fill_) * std::min(1.0, share / capacity_);
    return std::max(0.0, std::min(wanted, capacity_ - fill_));
  }
  // False where the picture runs over.
  bool add(double bytes) {
    fill_ += bytes;
    return fill_ <= capacity_;
  }
  // 0 to 1; more after a picture that has run over.
  double fill() const { return capacity_ > 0 ? fill_ / capacity_ : 0; }

 private:
  double rate_ = 0, capacity_ = 0, fill_ = 0;
};

}  // namespace cudatransform
