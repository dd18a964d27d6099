// Entropy coding of APV on the CPU: the chain of one component's blocks in one tile.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/chain_writer.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace cudatransform {

namespace {

// All runs, and small coefficients with their signs. The branches of a computed code follow the
// data, so that processors guess them wrong.
class TableCodes {
 public:
  TableCodes() {
    for (int k = 0; k < kApvRunParameters; ++k)
      for (uint32_t run = 0; run < 64; ++run) runs_[k][run] = pack(ApvComputedCodes().run(run, k));
    for (int k = 0; k < kApvCoefParameters; ++k)
      for (int32_t i = 1; i < 2 * kMiddle; ++i)
        if (i != kMiddle) coefs_[k][i] = pack(ApvComputedCodes().coef(i - kMiddle, k));
  }

  ApvBits run(uint32_t run, int k) const { return unpack(runs_[k][run]); }
  ApvBits coef(int32_t coef, int k) const {
    if (coef > -kMiddle && coef < kMiddle) return unpack(coefs_[k][coef + kMiddle]);
    return ApvComputedCodes().coef(coef, k);
  }

 private:
  static constexpr int32_t kMiddle = 128;
  static constexpr int kLengthBits = 6;
  static uint32_t pack(ApvBits bits) {
    return static_cast<uint32_t>(bits.bits << kLengthBits) | static_cast<uint32_t>(bits.length);
  }
  static ApvBits unpack(uint32_t packed) {
    return {packed >> kLengthBits, static_cast<int>(packed & ((1u << kLengthBits) - 1))};
  }

  uint32_t runs_[kApvRunParameters][64] = {};
  uint32_t coefs_[kApvCoefParameters][2 * kMiddle] = {};
};
const TableCodes kCodes;

// put(bits) gets the codes of a block.
template <typename Put>
void code_block(const int16_t* coefs, ApvChainState* state, const Put& put) {
  const int32_t difference = coefs[0] - state->dc;
  put(apv_dc_bits(difference, state->dc_parameter));
  state->dc = coefs[0];
  state->dc_parameter = apv_dc_parameter(static_cast<uint32_t>(std::abs(difference)));
  const uint64_t nonzero = apv_nonzero(coefs) & ~uint64_t{1};
  code_apv_ac(
      kCodes, nonzero, state->coef_parameter, [&](int i) { return int32_t{coefs[i]}; }, put);
  if (nonzero == 0) return;
  const int32_t first = coefs[apv_lowest_bit(nonzero)];
  state->coef_parameter = apv_coef_parameter(static_cast<uint32_t>(std::abs(first)));
}

}  // namespace

uint64_t apv_nonzero(const int16_t* coefs) {
  uint64_t mask = 0;
  if constexpr (std::endian::native == std::endian::little) {
    // Four at a time. The highest bit of a lane becomes 1 unless the lane is 0; the product puts
    // the four of them side by side.
    constexpr uint64_t kLow = 0x7fff7fff7fff7fff, kGather = 0x0001000200040008;
    for (int i = 0; i < 64; i += 4) {
      uint64_t four;
      std::memcpy(&four, coefs + i, sizeof four);
      const uint64_t high = (((four & kLow) + kLow) | four) & ~kLow;
      mask |= ((high >> 15) * kGather >> 48 & 15) << i;
    }
  } else {
    for (int i = 0; i < 64; ++i) mask |= uint64_t{coefs[i] != 0} << i;
  }
  return mask;
}

void ApvChainWriter::put(ApvBits bits) {
  if (bits.length > 32) {
    put({bits.bits >> 32, bits.length - 32});
    bits = {bits.bits & UINT32_MAX, 32};
  }
  window_ = window_ << bits.length | bits.bits;
  count_ += bits.length;
  if (count_ < 32) return;
  count_ -= 32;
  auto word = static_cast<uint32_t>(window_ >> count_);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap32(word);
  std::memcpy(to_->data() + at_, &word, sizeof word);
  at_ += sizeof word;
}

void ApvChainWriter::put_block(const int16_t* coefs) {
  constexpr size_t kRoom = kMaxApvBlockBits / 8 + 16;
  if (to_->size() - at_ < kRoom) to_->resize(at_ + std::max(at_, 64 * kRoom));
  code_block(coefs, &state_, [this](ApvBits bits) { put(bits); });
}

void ApvChainWriter::finish() {
  to_->resize(at_ + 4);
  for (; count_ > 0; count_ -= 8) {
    const uint64_t byte = count_ >= 8 ? window_ >> (count_ - 8) : window_ << (8 - count_);
    (*to_)[at_++] = static_cast<uint8_t>(byte);
  }
  to_->resize(at_);
}

void ApvChainCounter::put_block(const int16_t* coefs) {
  code_block(coefs, &state_, [this](ApvBits bits) { bits_ += static_cast<uint64_t>(bits.length); });
}

}  // namespace cudatransform
