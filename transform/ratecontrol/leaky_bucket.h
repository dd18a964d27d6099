// How large the next picture of a stream may be, so that the stream keeps to a bit rate.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>

namespace cudatransform {

// A buffer that pictures fill, and that runs empty at the bit rate. It is kept half full: a picture
// gets what runs out until the next one, and what is missing to the half, or less what is in excess
// of it. So what the sizes that a picture can have leave over is the next one's, and no part of the
// rate is lost. A stream begins there.
class LeakyBucket {
 public:
  // Half full at first; later as full as it was.
  void set(double bytes_per_second, double seconds) {
    const double capacity = bytes_per_second * seconds;
    const double scale = capacity_ > 0 ? capacity / capacity_ : 1;
    fill_ = capacity_ > 0 ? fill_ * scale : capacity / 2;
    unused_ *= scale;
    rate_ = bytes_per_second;
    capacity_ = capacity;
  }
  void wait(double seconds) {
    const double bytes = rate_ * seconds;
    // Of a long gap, such as a seek, no more than the goal can use.
    unused_ = std::min(unused_ + std::max(0.0, bytes - fill_), capacity_ / 4);
    fill_ = std::max(0.0, fill_ - bytes);
  }
  // Bytes for a picture that is shown for `seconds`: 0.8 to 1.2 times its share, also when the
  // buffer has run empty, and no more than there is room for.
  double budget(double seconds) const {
    const double share = rate_ * seconds;
    const double wanted = share + goal(share) - fill_;
    return std::max(0.0, std::min(std::clamp(wanted, 0.8 * share, 1.2 * share), room()));
  }
  // Bytes until it is full.
  double room() const { return capacity_ - fill_; }
  // False where the picture overflows: the buffer is full then, without a debt.
  bool add(double bytes) {
    const bool fits = fill_ + bytes <= capacity_;
    fill_ = std::min(fill_ + bytes, capacity_);
    return fits;
  }
  // 0 to 1.
  double fill() const { return capacity_ > 0 ? fill_ / capacity_ : 0; }

 private:
  // How full the buffer should be: half and, as far as there is room for two pictures, what the
  // rate had for pictures that were too small for it, up to a quarter.
  double goal(double share) const {
    const double most = std::min(capacity_ / 4, capacity_ / 2 - 2 * share);
    return capacity_ / 2 + std::clamp(unused_, 0.0, std::max(most, 0.0));
  }

  double rate_ = 0, capacity_ = 0, fill_ = 0;
  double unused_ = 0;  // bytes that ran out of the empty buffer
};

}  // namespace cudatransform
