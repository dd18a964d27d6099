// Interleaved exp-Golomb codes on the device: DiracBits of dirac/bits.h for the blocks of slices.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The twin of that file: every change of one is one of the other. Bits after the end read as 1.
#pragma once

#include <cstdint>

namespace cudatransform::cuda {

class SliceBits {
 public:
  // Bits `begin` to `end` of `data`, which is aligned to words; up to 11 more bytes are read.
  __device__ __forceinline__ SliceBits(const uint8_t* data, uint64_t begin, uint64_t end)
      : words_(reinterpret_cast<const uint32_t*>(data)), position_(begin), end_(end) {}

  __device__ __forceinline__ uint64_t position() const { return position_; }
  // A number of `bits` bits, 1 to 63.
  __device__ __forceinline__ uint64_t number(int bits) {
    const uint64_t word = peek();
    position_ += static_cast<unsigned>(bits);
    return word >> (64 - bits);
  }

  __device__ __forceinline__ bool at_end() const { return position_ >= end_; }

  // Calls put(i, value) for code i of `count` where its value is not 0.
  template <typename Put>
  __device__ __forceinline__ void signed_codes(int32_t count, Put&& put) {
    for (int32_t i = 0; i < count && !at_end();) {
      uint64_t word = peek();
      int left = 64;  // bits of the word that have not been used
      while (left > 0) {
        const int zeros = min(min(leading_zeros(~word), left), count - i);
        i += zeros;
        left -= zeros;
        if (left < kShortCode || i == count) break;
        word <<= zeros;
        const int pairs = leading_zeros(word & kStopBits);
        if (pairs + 2 > left) break;
        const uint32_t value = value_of(word, pairs);
        const bool negative = (word >> (62 - pairs) & 1) != 0;
        put(i++, static_cast<int32_t>(negative ? 0 - value : value));
        left -= pairs + 2;
        if (left > 0) word <<= pairs + 2;
        if (i == count) break;
      }
      position_ += static_cast<unsigned>(64 - left);
      // A code that did not fit in the word, however it begins.
      if (i == count || left < 64) continue;
      const int32_t value = long_signed_code();
      if (value != 0) put(i, value);
      ++i;
    }
  }

 private:
  static constexpr uint64_t kStopBits = 0xaaaaaaaaaaaaaaaa;
  static constexpr int kShortCode = 4;  // the least that is not zero: a pair, a stop bit, a sign

  static __device__ __forceinline__ int leading_zeros(uint64_t word) {
    return __clzll(static_cast<long long>(word));
  }
  static __device__ __forceinline__ uint32_t big_endian(uint32_t word) {
    return __byte_perm(word, 0, 0x0123);
  }
  __device__ __forceinline__ uint64_t peek() const {
    const uint32_t* from = words_ + position_ / 32;
    const auto shift = static_cast<uint32_t>(position_ % 32);
    const uint32_t first = big_endian(from[0]), second = big_endian(from[1]);
    const uint32_t third = big_endian(from[2]);
    uint64_t word = static_cast<uint64_t>(__funnelshift_l(second, first, shift)) << 32 |
                    __funnelshift_l(third, second, shift);
    const uint64_t left = end_ - position_;
    if (left < 64) word |= ~uint64_t{0} >> left;
    return word;
  }
  // The value of a code with `zeros` bits before its stop bit.
  static __device__ __forceinline__ uint32_t value_of(uint64_t word, int zeros) {
    if (zeros == 0) return 0;
    // Every second bit, next to each other.
    uint64_t data = word >> (64 - zeros) & 0x5555555555555555;
    data = (data | data >> 1) & 0x3333333333333333;
    data = (data | data >> 2) & 0x0f0f0f0f0f0f0f0f;
    data = (data | data >> 4) & 0x00ff00ff00ff00ff;
    data = (data | data >> 8) & 0x0000ffff0000ffff;
    const auto bits = static_cast<uint32_t>(data | data >> 16);
    return static_cast<uint32_t>((uint64_t{1} << (zeros / 2)) + bits - 1);
  }
  __device__ __forceinline__ bool bit() {
    const bool one =
        at_end() || (big_endian(words_[position_ / 32]) >> (31 - position_ % 32) & 1) != 0;
    ++position_;
    return one;
  }
  // Values are known modulo 2^32. The end of the block ends every code.
  __device__ __forceinline__ int32_t long_signed_code() {
    uint32_t value = 1;
    while (!bit()) value = value << 1 | static_cast<uint32_t>(bit());
    value -= 1;
    return static_cast<int32_t>(value != 0 && bit() ? 0 - value : value);
  }

  const uint32_t* words_;
  uint64_t position_, end_;  // in bits
};

}  // namespace cudatransform::cuda
