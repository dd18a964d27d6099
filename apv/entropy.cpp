// Entropy decoding of APV on the CPU: the chain of one component's blocks in one tile.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/entropy.h"

#include <bit>
#include <cstring>

namespace cudatransform {

namespace {

// The index of the table has as many bits. Its 120 KB leave the first cache, and still save time:
// fewer pairs are read the long way.
constexpr int kTableBits = 11;
// Not constexpr, which some compilers take too many steps for: those fill it when they start.
const ApvTable<kTableBits> kTable;
constexpr ApvScan kScan;

// A window of 64 bits over the data; zeros past the end.
class Bits {
 public:
  explicit Bits(std::span<const uint8_t> data) : data_(data.data()), size_(data.size()) {}

  // Makes at least 56 bits of the window valid.
  void refill() {
    if (next_ + sizeof window_ <= size_) {
      uint64_t word;
      std::memcpy(&word, data_ + next_, sizeof word);
      if (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
      window_ |= word >> count_;
      next_ += static_cast<size_t>(63 - count_) >> 3;
      count_ |= 56;
    } else {
      refill_at_end();
    }
  }
  uint64_t window() const { return window_; }
  void drop(int bits) {
    window_ <<= bits;
    count_ -= bits;
  }
  bool overran() const { return 8 * next_ > 8 * size_ + static_cast<size_t>(count_); }

 private:
  void refill_at_end() {
    for (; count_ <= 56; count_ += 8, ++next_) {
      const uint64_t byte = next_ < size_ ? data_[next_] : 0;
      window_ |= byte << (56 - count_);
    }
  }

  const uint8_t* const data_;
  const size_t size_;
  size_t next_ = 0;  // of the first byte that is not in the window, perhaps past the end
  uint64_t window_ = 0;
  int count_ = 0;  // valid bits
};

class Chain {
 public:
  explicit Chain(std::span<const uint8_t> data) : bits_(data) {}

  // `block` is zero.
  ApvChainError read_block(int16_t* block) {
    ApvChainError error = read_dc(block);
    if (error == ApvChainError::kNone) error = read_ac(block);
    // Codes that the end cuts off may be none.
    return bits_.overran() ? ApvChainError::kEnd : error;
  }

 private:
  ApvChainError read_dc(int16_t* block) {
    bits_.refill();
    const ApvValue difference = read_apv_value(bits_.window(), dc_parameter_);
    if (difference.bits == 0) return ApvChainError::kCode;
    bits_.drop(difference.bits);
    if (difference.value != 0) {
      const auto size = static_cast<int64_t>(difference.value);
      const int64_t dc = dc_ + (bits_.window() >> 63 != 0 ? -size : size);
      bits_.drop(1);
      if (dc < INT16_MIN || dc > INT16_MAX) return ApvChainError::kRange;
      dc_ = static_cast<int32_t>(dc);
    }
    dc_parameter_ = apv_dc_parameter(difference.value);
    block[0] = static_cast<int16_t>(dc_);
    return ApvChainError::kNone;
  }

  ApvChainError read_ac(int16_t* block) {
    int context = context_;
    for (int at = 1; at < 64; ++at) {
      bits_.refill();
      const ApvPair pair{kTable.pairs[(context << kTableBits) +
                                      static_cast<int>(bits_.window() >> (64 - kTableBits))]};
      int place = at + pair.run();
      if (pair.bits() != 0 && place < 64) {
        block[kScan.place[place]] = static_cast<int16_t>(pair.coef());
        context = pair.next_context();
        bits_.drop(pair.bits());
      } else {
        place = at;
        const ApvChainError error = read_long_pair(block, &place, &context);
        if (error != ApvChainError::kNone) return error;
        if (place == 64) break;
      }
      if (at == 1) context_ = apv_first_context(context);
      at = place;
    }
    return ApvChainError::kNone;
  }

  // Moves `*at` to the coefficient's place, or to 64 where the block ends with the run.
  ApvChainError read_long_pair(int16_t* block, int* at, int* context) {
    const ApvValue run = read_apv_value(bits_.window(), *context % kApvRunParameters);
    if (run.bits == 0) return ApvChainError::kCode;
    bits_.drop(run.bits);
    if (run.value > static_cast<uint32_t>(64 - *at)) return ApvChainError::kRun;
    *at += static_cast<int>(run.value);
    if (*at == 64) return ApvChainError::kNone;
    bits_.refill();
    const ApvValue coef = read_apv_value(bits_.window(), *context / kApvRunParameters);
    if (coef.bits == 0) return ApvChainError::kCode;
    bits_.drop(coef.bits);
    const bool negative = bits_.window() >> 63 != 0;
    bits_.drop(1);
    const uint64_t size = uint64_t{coef.value} + 1;
    if (size > (negative ? 32768u : 32767u)) return ApvChainError::kRange;
    const auto value = static_cast<int32_t>(size);
    block[kScan.place[*at]] = static_cast<int16_t>(negative ? -value : value);
    *context =
        apv_context(apv_run_parameter(run.value), apv_coef_parameter(static_cast<uint32_t>(value)));
    return ApvChainError::kNone;
  }

  Bits bits_;
  int32_t dc_ = 0;
  int dc_parameter_ = kApvFirstDcParameter;
  int context_ = kApvFirstContext;  // at the beginning of a block
};

// Calls visit(block) for each in coding order, until it returns false.
template <typename Visit>
void for_each_block(const ApvChainPlaces& places, const Visit& visit) {
  for (uint32_t mb_y = 0; mb_y < places.mbs_down; ++mb_y) {
    int16_t* mb = places.first + ptrdiff_t{2} * mb_y * places.row_pitch;
    for (uint32_t mb_x = 0; mb_x < places.mbs_across; ++mb_x) {
      for (int y = 0; y < 2; ++y)
        for (uint32_t x = 0; x < places.mb_blocks_across; ++x)
          visit(mb + y * places.row_pitch + 64 * x);
      mb += 64 * places.mb_blocks_across;
    }
  }
}

}  // namespace

ApvChainError decode_apv_chain(std::span<const uint8_t> data, const ApvChainPlaces& places) {
  constexpr size_t kBlockBytes = 64 * sizeof(int16_t);
  Chain chain(data);
  ApvChainError error = ApvChainError::kNone;
  for_each_block(places, [&](int16_t* block) {
    std::memset(block, 0, kBlockBytes);
    if (error != ApvChainError::kNone) return;
    error = chain.read_block(block);
    if (error != ApvChainError::kNone) std::memset(block, 0, kBlockBytes);
  });
  return error;
}

}  // namespace cudatransform
