// Writes bits for DiracBits to read.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudatransform::test {

class BitWriter {
 public:
  void bit(bool one) {
    if (count_ % 8 == 0) bytes_.push_back(0);
    if (one) bytes_.back() = static_cast<uint8_t>(bytes_.back() | 0x80 >> count_ % 8);
    ++count_;
  }
  void number(uint64_t value, int bits) {
    for (int i = bits - 1; i >= 0; --i) bit((value >> i & 1) != 0);
  }
  void unsigned_code(uint64_t value) {
    const uint64_t coded = value + 1;
    for (int i = std::bit_width(coded) - 2; i >= 0; --i) {
      bit(false);
      bit((coded >> i & 1) != 0);
    }
    bit(true);
  }
  void signed_code(int64_t value) {
    unsigned_code(static_cast<uint64_t>(value < 0 ? -value : value));
    if (value != 0) bit(value < 0);
  }
  void align() {
    while (count_ % 8 != 0) bit(false);
  }
  size_t count() const { return count_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  size_t count_ = 0;
};

}  // namespace cudatransform::test
