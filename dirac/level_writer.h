// Puts levels into a band, in the order in which they are decoded.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "dirac/levels.h"

namespace cudatransform {

// The place of one row's levels. Within a row they come from left to right.
template <typename Value>
class DiracRowWriter {
 public:
  DiracRowWriter(const DiracBand& band, int32_t row)
      : map_(band.map + ptrdiff_t{row} * band.map_words),
        signs_(band.signs + ptrdiff_t{row} * band.map_words),
        count_(band.counts + row),
        next_(static_cast<Value*>(band.levels) + ptrdiff_t{row} * band.width + *count_),
        first_(next_) {}
  ~DiracRowWriter() { *count_ += static_cast<uint32_t>(next_ - first_); }
  DiracRowWriter(const DiracRowWriter&) = delete;
  DiracRowWriter& operator=(const DiracRowWriter&) = delete;

  // `level` is not zero. One that is a multiple of 2^16 has no place in 16 bits and stays zero.
  void put(int32_t x, int32_t level) {
    const auto value = static_cast<Value>(level);
    if (value == 0) return;
    *next_++ = value;
    const uint64_t bit = uint64_t{1} << (x & 63);
    map_[x >> 6] |= bit;
    if (value < 0) signs_[x >> 6] |= bit;
  }

 private:
  uint64_t* map_;
  uint64_t* signs_;
  uint32_t* count_;
  Value* next_;
  Value* first_;
};

}  // namespace cudatransform
