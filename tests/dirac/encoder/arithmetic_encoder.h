// The arithmetic encoder of Dirac, and writers of numbers by it or as exp-Golomb codes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The inverse of the decoder of the Dirac specification 2.2.3, annex B: low and range start at 0
// and 0xffff; a 1 takes the upper part of the range. Only the table of how contexts adapt is shared
// with dirac/, since it is a fact.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dirac/arithmetic.h"
#include "tests/dirac/bit_writer.h"

namespace cudatransform::test {

class ArithmeticEncoder {
 public:
  void encode(uint16_t* context, bool one) {
    const uint32_t split = range_ * *context >> 16;
    if (one) {
      low_ += split;
      range_ -= split;
    } else {
      range_ = split;
    }
    *context = static_cast<uint16_t>(*context + kDiracContextSteps[(*context >> 8) * 2u + one]);
    while (range_ <= 0x4000) {
      range_ *= 2;
      low_ *= 2;
      if (++pending_ == 32) emit();
    }
  }

  // All bytes. The decoder reads ones after the end: of the numbers in the range, the encoder
  // writes the one with most ones at its end, without them.
  std::vector<uint8_t> finish() {
    uint64_t last = low_;
    for (int ones = 16; ones >= 0; --ones) {
      last = low_ | ((uint64_t{1} << ones) - 1);
      if (last < low_ + range_) break;
    }
    low_ = last;
    const int fill = (8 - (16 + pending_) % 8) % 8;
    low_ = (low_ << fill) | ((uint64_t{1} << fill) - 1);
    const int bytes = (16 + pending_ + fill) / 8;
    carry(low_ >> (8 * bytes));
    for (int i = bytes - 1; i >= 0; --i) bytes_.push_back(static_cast<uint8_t>(low_ >> (8 * i)));
    while (!bytes_.empty() && bytes_.back() == 0xff) bytes_.pop_back();
    return std::move(bytes_);
  }

 private:
  // The upper 16 of the pending bits can change by a carry alone.
  void emit() {
    carry(low_ >> 48);
    bytes_.push_back(static_cast<uint8_t>(low_ >> 40));
    bytes_.push_back(static_cast<uint8_t>(low_ >> 32));
    low_ &= 0xffffffff;
    pending_ -= 16;
  }
  void carry(uint64_t one) {
    for (size_t i = bytes_.size(); one != 0 && i-- > 0;) one = ++bytes_[i] == 0;
  }

  uint64_t low_ = 0;  // 16 bits below the pending ones, and one above for a carry
  uint32_t range_ = 0xffff;
  int pending_ = 0;
  std::vector<uint8_t> bytes_;
};

// Bytes of a block whose reader finds ones after its end. `trims`: leaves out ones at the end, if
// need be in the middle of a code.
inline std::vector<uint8_t> closed_block(const BitWriter& writer, bool trims) {
  std::vector<uint8_t> bytes = writer.bytes();
  if (writer.count() % 8 != 0)
    bytes.back() = static_cast<uint8_t>(bytes.back() | 0xff >> writer.count() % 8);
  while (trims && !bytes.empty() && bytes.back() == 0xff) bytes.pop_back();
  return bytes;
}

// The destination of a block's bits: the encoder, each with its context, or the block directly.
class ArithmeticSink {
 public:
  ArithmeticSink() { contexts_.fill(kDiracEvenProbability); }
  void bit(int context, bool one) {
    encoder_.encode(&contexts_[static_cast<size_t>(context)], one);
  }
  std::vector<uint8_t> finish() { return encoder_.finish(); }

 private:
  ArithmeticEncoder encoder_;
  std::array<uint16_t, 32> contexts_;
};

class VlcSink {
 public:
  explicit VlcSink(bool trims) : trims_(trims) {}
  void bit(int, bool one) { bits_.bit(one); }
  std::vector<uint8_t> finish() { return closed_block(bits_, trims_); }

 private:
  bool trims_;
  BitWriter bits_;
};

// A number as stop bits, number k = 1, 2, ... in context stop(k), and data bits.
template <typename Sink, typename Stop>
void put_unsigned(Sink& sink, const Stop& stop, int data, uint32_t value) {
  const uint64_t coded = uint64_t{value} + 1;
  int k = 1;
  for (int i = std::bit_width(coded) - 2; i >= 0; --i) {
    sink.bit(stop(k++), false);
    sink.bit(data, (coded >> i & 1) != 0);
  }
  sink.bit(stop(k), true);
}

}  // namespace cudatransform::test
