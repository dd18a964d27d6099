// Entropy coding of APV on the CPU: the chain of one component's blocks in one tile.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "apv/bits.h"
#include "apv/block_code.h"

namespace cudatransform {

// Bit i: whether coefficient i is not zero.
uint64_t apv_nonzero(const int16_t* coefs);

// What of the blocks before a block matters.
struct ApvChainState {
  int32_t dc = 0;
  int dc_parameter = kApvFirstDcParameter;
  int coef_parameter = 0;
};

// Throws std::bad_alloc.
class ApvChainWriter {
 public:
  // Appends to `*to`, which grows in steps: its end is in place after finish().
  explicit ApvChainWriter(ApvBytes* to) : to_(to), at_(to->size()) {}

  // The next block: 64 coefficients in coding order.
  void put_block(const int16_t* coefs);
  // Fills the last byte with zeros.
  void finish();

 private:
  void put(ApvBits bits);

  ApvBytes* const to_;
  size_t at_;  // of the next byte
  uint64_t window_ = 0;
  int count_ = 0;  // bits of the window that are not written, fewer than 32
  ApvChainState state_;
};

// The same that only counts.
class ApvChainCounter {
 public:
  void put_block(const int16_t* coefs);
  uint64_t bytes() const { return (bits_ + 7) / 8; }

 private:
  uint64_t bits_ = 0;
  ApvChainState state_;
};

}  // namespace cudatransform
