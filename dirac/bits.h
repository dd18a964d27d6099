// Bits of a Dirac or VC-2 stream: plain numbers and interleaved exp-Golomb codes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// An interleaved code alternates stop bits and data bits, most significant data bit first: a 1
// stops. Bits after the end read as 1, so that every code that begins there is 0 and every code
// that the end cuts off has an end (SMPTE ST 2042-1, bounded blocks).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cudatransform {

// 64 bits from byte `at` of `size`, most significant first; ones after the end.
inline uint64_t dirac_word(const uint8_t* data, size_t size, size_t at) {
  uint64_t word = ~uint64_t{0};
  if (at < size && size - at >= sizeof word) {
    std::memcpy(&word, data + at, sizeof word);
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
  }
  for (size_t i = 0; i < sizeof word && at < size; ++i, ++at) {
    const int shift = 56 - 8 * static_cast<int>(i);
    word &= ~(uint64_t{0xff} << shift);
    word |= static_cast<uint64_t>(data[at]) << shift;
  }
  return word;
}

// Every second bit of `word`, beginning with the lowest, next to each other.
inline uint32_t dirac_every_second_bit(uint64_t word) {
  word &= 0x5555555555555555;
  word = (word | word >> 1) & 0x3333333333333333;
  word = (word | word >> 2) & 0x0f0f0f0f0f0f0f0f;
  word = (word | word >> 4) & 0x00ff00ff00ff00ff;
  word = (word | word >> 8) & 0x0000ffff0000ffff;
  return static_cast<uint32_t>(word | word >> 16);
}

class DiracBits {
 public:
  DiracBits() = default;
  explicit DiracBits(std::span<const uint8_t> data)
      : data_(data.data()), bytes_(data.size()), end_(uint64_t{8} * data.size()) {}

  uint64_t position() const { return position_; }
  uint64_t end() const { return end_; }
  bool at_end() const { return position_ >= end_; }
  // Whether bits after the end have been read.
  bool overran() const { return position_ > end_; }
  // Whether a code had a value of more than 32 bits; it is known modulo 2^32.
  bool too_large() const { return too_large_; }

  const uint8_t* bytes_here() const { return data_ + std::min<uint64_t>(position_ / 8, bytes_); }
  size_t bytes_left() const { return bytes_ - std::min<uint64_t>(position_ / 8, bytes_); }

  void align() { position_ = (position_ + 7) & ~uint64_t{7}; }
  void skip_bytes(uint64_t bytes) {
    position_ = std::min(position_ + 8 * std::min<uint64_t>(bytes, bytes_), end_ + 8);
  }

  // The next `bits` bits as a separate bounded block, which ends with these at the latest.
  DiracBits block(uint64_t bits) {
    DiracBits part = *this;
    part.end_ = std::min(end_, position_ + bits);
    part.too_large_ = false;
    position_ += bits;
    return part;
  }

  bool bit() {
    const bool one = position_ >= end_ || (data_[position_ / 8] >> (7 - position_ % 8) & 1) != 0;
    ++position_;
    return one;
  }

  // Up to 32 bits.
  uint32_t number(int bits) {
    uint32_t value = 0;
    for (int i = 0; i < bits; ++i) value = value << 1 | static_cast<uint32_t>(bit());
    return value;
  }
  uint32_t aligned_number(int bytes) {
    align();
    return number(8 * bytes);
  }

  uint32_t unsigned_code() {
    const uint64_t word = peek();
    const int zeros = std::countl_zero(word & kStopBits);  // a pair of bits for each data bit
    if (zeros > kMaxPairs) return long_unsigned_code();
    position_ += static_cast<unsigned>(zeros) + 1;
    return value_of(word, zeros);
  }

  int32_t signed_code() {
    const uint64_t word = peek();
    const int zeros = std::countl_zero(word & kStopBits);
    uint32_t value;
    bool negative;
    if (zeros > kMaxPairs) {
      value = long_unsigned_code();
      negative = value != 0 && bit();
    } else {
      value = value_of(word, zeros);
      negative = value != 0 && (word >> (62 - zeros) & 1) != 0;
      position_ += static_cast<unsigned>(zeros) + (value != 0 ? 2 : 1);
    }
    return static_cast<int32_t>(negative ? 0 - value : value);
  }

  // As `count` times signed_code(): calls put(i, value) for code i where its value is not 0. Runs
  // of zeros, a bit each, are counted together.
  template <typename Put>
  void signed_codes(int32_t count, const Put& put) {
    for (int32_t i = 0; i < count;) {
      uint64_t word = peek();
      int left = kPeeked;  // bits of the word that have not been used
      while (i < count) {
        const int zeros = std::min(std::min(std::countl_one(word), left), count - i);
        i += zeros;
        left -= zeros;
        if (left < kShortCode || i == count) break;
        word <<= zeros;
        const int pairs = std::countl_zero(word & kStopBits);
        if (pairs + 2 > left) break;
        const uint32_t value = value_of(word, pairs);
        const bool negative = (word >> (62 - pairs) & 1) != 0;
        put(i++, static_cast<int32_t>(negative ? 0 - value : value));
        word <<= pairs + 2;
        left -= pairs + 2;
      }
      position_ += static_cast<unsigned>(kPeeked - left);
      // A code that did not fit in the remainder of the word.
      if (i == count || left == 0) continue;
      if (const int32_t value = signed_code(); value != 0) put(i, value);
      ++i;
    }
  }

 private:
  static constexpr uint64_t kStopBits = 0xaaaaaaaaaaaaaaaa;
  // Bits of peek() that are there at any position in a byte.
  static constexpr int kPeeked = 57;
  // Counted in pairs, so that the stop bit and a sign follow.
  static constexpr int kMaxPairs = 54;
  static constexpr int kShortCode = 4;  // the least that is not zero: a pair, a stop bit, a sign

  uint64_t peek() const {
    if (position_ >= end_) return ~uint64_t{0};
    const auto within = static_cast<unsigned>(position_ % 8);
    uint64_t word = dirac_word(data_, bytes_, position_ / 8) << within | ((1u << within) - 1);
    if (const uint64_t left = end_ - position_; left < 64) word |= ~uint64_t{0} >> left;
    return word;
  }

  static uint32_t value_of(uint64_t word, int zeros) {
    if (zeros == 0) return 0;
    const int bits = zeros / 2;
    const uint64_t data = dirac_every_second_bit(word >> (64 - zeros));
    return static_cast<uint32_t>((uint64_t{1} << bits) + data - 1);
  }

  uint32_t long_unsigned_code() {
    uint64_t value = 1;
    while (!bit()) {
      value = value << 1 | static_cast<uint64_t>(bit());
      if (value >> 32 != 0) {
        too_large_ = true;
        value &= 0xffffffff;
      }
    }
    return static_cast<uint32_t>(value - 1);
  }

  const uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
  uint64_t position_ = 0;
  uint64_t end_ = 0;  // in bits; inside of the bytes
  bool too_large_ = false;
};

}  // namespace cudatransform
