// Fields of APV's headers, read and written: big-endian numbers of any number of bits.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudatransform {

inline void write_be32(uint32_t value, uint8_t* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}
inline uint32_t read_be32(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// Reads zeros past the end, and records that.
class ApvFields {
 public:
  explicit ApvFields(std::span<const uint8_t> data) : data_(data) {}

  // Up to 32 bits.
  uint32_t number(int bits) {
    uint32_t value = 0;
    for (int i = 0; i < bits; ++i) value = value << 1 | bit();
    return value;
  }
  bool flag() { return bit() != 0; }
  // Bits that are reserved and have to be zero.
  void zeros(int bits) { has_reserved_ |= number(bits) != 0; }
  void align() {
    while (position_ % 8 != 0) zeros(1);
  }

  bool overran() const { return position_ > uint64_t{8} * data_.size(); }
  bool has_reserved() const { return has_reserved_; }
  size_t bytes() const { return static_cast<size_t>(position_ / 8); }

 private:
  uint32_t bit() {
    const uint64_t byte = position_ / 8;
    const uint32_t value =
        byte < data_.size() ? data_[static_cast<size_t>(byte)] >> (7 - position_ % 8) & 1u : 0;
    ++position_;
    return value;
  }

  const std::span<const uint8_t> data_;
  uint64_t position_ = 0;
  bool has_reserved_ = false;
};

using ApvBytes = std::vector<uint8_t>;

// Appends them to `*to`. Throws std::bad_alloc.
class ApvFieldWriter {
 public:
  explicit ApvFieldWriter(ApvBytes* to) : to_(to) {}

  // Up to 32 bits.
  void number(uint32_t value, int bits) {
    for (int i = bits - 1; i >= 0; --i) bit(value >> i & 1);
  }
  void align() {
    while (used_ != 0) bit(0);
  }

 private:
  void bit(uint32_t value) {
    if (used_ == 0) to_->push_back(0);
    to_->back() = static_cast<uint8_t>(to_->back() | value << (7 - used_));
    used_ = (used_ + 1) % 8;
  }

  ApvBytes* const to_;
  int used_ = 0;  // bits of the last byte
};

}  // namespace cudatransform
