// Entropy decoding of APV: a thread a chain, all chains of a frame in a launch.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// No code ends a block, so that nothing inside of a chain can be found without decoding what is
// before it: a chain is one thread's, and frames in flight fill the device. The threads of a warp
// have chains of similar length, and each goes its own way: one pass of the loop is a pair of a run
// and a coefficient, whatever block it is in. Coefficients have been cleared; zeros are not
// written.
#include "apv/codes.h"
#include "cuda/apv/kernels.h"
#include "cuda/common/ptx.cuh"

namespace cudatransform::cuda {
namespace {

// A window of 64 bits over a chain, the same as the CPU's: zeros behind the end. Words are fetched
// one ahead.
class ChainBits {
 public:
  __device__ __forceinline__ ChainBits(const uint8_t* data, const ApvChainInfo& chain)
      : words_(reinterpret_cast<const uint32_t*>(data)),
        begin_(chain.offset),
        end_(chain.offset + chain.bytes),
        at_(chain.offset & ~3u) {
    ahead_ = fetch();
    refill();
    refill();
    // Bytes of the first word that are not the chain's.
    drop(static_cast<int>(8 * (begin_ - (begin_ & ~3u))));
    refill();
  }

  // Makes at least 33 bits of the window valid.
  __device__ __forceinline__ void refill() {
    if (count_ > 32) return;
    window_ |= static_cast<uint64_t>(ahead_) << (32 - count_);
    count_ += 32;
    ahead_ = fetch();
  }
  __device__ __forceinline__ uint64_t window() const { return window_; }
  __device__ __forceinline__ void drop(int bits) {
    window_ <<= bits;
    count_ -= bits;
  }
  // `at_` is one word ahead of the window.
  __device__ __forceinline__ bool overran() const {
    return 8 * static_cast<int64_t>(at_ - 4) - count_ > 8 * static_cast<int64_t>(end_);
  }

 private:
  __device__ __forceinline__ uint32_t fetch() {
    uint32_t word = 0;
    if (at_ < end_) {
      word = __byte_perm(__ldg(words_ + at_ / 4), 0, 0x0123);
      const uint32_t left = end_ - at_;
      if (left < 4) word &= ~0u << (32 - 8 * left);
    }
    at_ += 4;
    return word;
  }

  const uint32_t* const words_;
  const uint32_t begin_, end_;
  uint32_t at_;
  uint32_t ahead_ = 0;
  uint64_t window_ = 0;
  int count_ = 0;
};

// The blocks of a chain, macroblock by macroblock.
class ChainBlocks {
 public:
  __device__ __forceinline__ ChainBlocks(int16_t* coefs, const ApvChainInfo& chain)
      : chain_(chain), mb_(coefs + 64 * uint64_t{chain.first_block}) {}

  __device__ __forceinline__ bool at_end() const { return mb_y_ == chain_.mbs_down; }
  __device__ __forceinline__ int16_t* block() const {
    return mb_ + 64 * (uint64_t{y_} * chain_.blocks_across + x_);
  }
  __device__ __forceinline__ void advance() {
    if (++x_ < chain_.mb_blocks_across) return;
    x_ = 0;
    y_ ^= 1;
    if (y_ != 0) return;
    mb_ += 64 * chain_.mb_blocks_across;
    if (++mb_x_ < chain_.mbs_across) return;
    mb_x_ = 0;
    ++mb_y_;
    mb_ += 64 * (uint64_t{2} * chain_.blocks_across -
                 uint64_t{chain_.mbs_across} * chain_.mb_blocks_across);
  }

 private:
  const ApvChainInfo& chain_;
  int16_t* mb_;
  uint32_t x_ = 0, y_ = 0, mb_x_ = 0, mb_y_ = 0;
};

struct Tables {
  uint32_t pairs[kApvContexts << kApvTableBits];
  uint8_t scan[64];
};

__device__ __forceinline__ void fill(Tables& tables) {
  for (uint32_t i = threadIdx.x; i < kApvContexts << kApvTableBits; i += kApvEntropyThreads) {
    const uint64_t window = static_cast<uint64_t>(i) << (64 - kApvTableBits);
    tables.pairs[i] =
        make_apv_pair(static_cast<int>(i >> kApvTableBits), window, kApvTableBits).packed;
  }
  // As constants: an array that is indexed would lie in local memory.
  if (threadIdx.x > 0) return;
  constexpr ApvScan kScan;
#pragma unroll
  for (int i = 0; i < 64; ++i) tables.scan[i] = kScan.place[i];
}

class Decoder {
 public:
  __device__ __forceinline__ Decoder(const Tables& tables, const ApvEntropyParams& params,
                                     const ApvChainInfo& chain)
      : tables_(tables), bits_(params.data, chain), blocks_(params.coefs, chain) {}

  __device__ __forceinline__ ApvChainError run() {
    int at = 64;
    int16_t* block = nullptr;
    for (;;) {
      ApvChainError error = ApvChainError::kNone;
      if (at == 64) {
        // Codes that the end cuts off may be none.
        if (block != nullptr) {
          if (bits_.overran()) return lose(block, ApvChainError::kEnd);
          blocks_.advance();
        }
        if (blocks_.at_end()) return ApvChainError::kNone;
        block = blocks_.block();
        error = read_dc(block);
        at = 1;
        context_ = first_context_;
      }
      if (error == ApvChainError::kNone) error = read_pair(block, &at);
      if (error != ApvChainError::kNone)
        return lose(block, bits_.overran() ? ApvChainError::kEnd : error);
    }
  }

 private:
  // What has been decoded of a damaged block is taken back.
  __device__ __forceinline__ ApvChainError lose(int16_t* block, ApvChainError error) {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) reinterpret_cast<uint4*>(block)[i] = make_uint4(0, 0, 0, 0);
    return error;
  }

  // A value, the bits of which are dropped; longer ones than a refill has bits for are read in two
  // parts.
  __device__ __forceinline__ bool read_value(int k, uint32_t* value) {
    bits_.refill();
    const ApvValue read = read_apv_value(bits_.window(), k);
    if (read.bits == 0) return false;
    if (read.bits > 32) return read_long_value(k, value);
    bits_.drop(read.bits);
    *value = read.value;
    return true;
  }
  __device__ __forceinline__ bool read_long_value(int k, uint32_t* value) {
    const int n = apv_leading_zeros(bits_.window() << 2);
    bits_.drop(3 + n);
    bits_.refill();
    const auto low = static_cast<uint32_t>(bits_.window() >> 1 >> (63 - (k + n)));
    bits_.drop(k + n);
    *value = (((1u << n) + 1) << k) + low;
    return true;
  }
  __device__ __forceinline__ bool read_sign() {
    bits_.refill();
    const bool negative = bits_.window() >> 63 != 0;
    bits_.drop(1);
    return negative;
  }

  __device__ __forceinline__ ApvChainError read_dc(int16_t* block) {
    uint32_t size = 0;
    if (!read_value(dc_parameter_, &size)) return ApvChainError::kCode;
    if (size != 0) {
      const auto difference = static_cast<int32_t>(size);
      const int32_t dc = dc_ + (read_sign() ? -difference : difference);
      if (dc < INT16_MIN || dc > INT16_MAX) return ApvChainError::kRange;
      dc_ = dc;
    }
    dc_parameter_ = apv_dc_parameter(size);
    if (dc_ != 0) block[0] = static_cast<int16_t>(dc_);
    return ApvChainError::kNone;
  }

  // Moves `*at` behind the coefficient, or to 64 where the block ends.
  __device__ __forceinline__ ApvChainError read_pair(int16_t* block, int* at) {
    bits_.refill();
    const ApvPair pair{tables_.pairs[(context_ << kApvTableBits) +
                                     static_cast<int>(bits_.window() >> (64 - kApvTableBits))]};
    int place = *at + pair.run();
    if (pair.bits() != 0 && place < 64) {
      block[tables_.scan[place]] = static_cast<int16_t>(pair.coef());
      context_ = pair.next_context();
      bits_.drop(pair.bits());
    } else {
      place = *at;
      const ApvChainError error = read_long_pair(block, &place);
      if (error != ApvChainError::kNone) return error;
      if (place == 64) {
        *at = 64;
        return error;
      }
    }
    if (*at == 1) first_context_ = apv_first_context(context_);
    *at = place + 1;
    return ApvChainError::kNone;
  }

  __device__ __forceinline__ ApvChainError read_long_pair(int16_t* block, int* at) {
    uint32_t run = 0, size = 0;
    if (!read_value(context_ % kApvRunParameters, &run)) return ApvChainError::kCode;
    if (run > static_cast<uint32_t>(64 - *at)) return ApvChainError::kRun;
    *at += static_cast<int>(run);
    if (*at == 64) return ApvChainError::kNone;
    if (!read_value(context_ / kApvRunParameters, &size)) return ApvChainError::kCode;
    const bool negative = read_sign();
    ++size;
    if (size > (negative ? 32768u : 32767u)) return ApvChainError::kRange;
    const auto value = static_cast<int32_t>(size);
    block[tables_.scan[*at]] = static_cast<int16_t>(negative ? -value : value);
    context_ = apv_context(apv_run_parameter(run), apv_coef_parameter(size));
    return ApvChainError::kNone;
  }

  const Tables& tables_;
  ChainBits bits_;
  ChainBlocks blocks_;
  int32_t dc_ = 0;
  int dc_parameter_ = kApvFirstDcParameter;
  int context_ = kApvFirstContext;
  int first_context_ = kApvFirstContext;  // at the beginning of a block
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kApvEntropyThreads)
    apv_entropy(const __grid_constant__ ApvEntropyParams params) {
  __shared__ Tables tables;
  fill(tables);
  __syncthreads();
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = blockIdx.x * kApvEntropyWarps + threadIdx.x / 32;
  const uint32_t index = warp * params.chains_of_warp + lane;
  if (lane >= params.chains_of_warp || index >= params.chain_count) return;
  const ApvChainInfo chain = params.chains[index];
  const ApvChainError error = Decoder(tables, params, chain).run();
  if (error != ApvChainError::kNone) params.results[chain.result] = static_cast<uint32_t>(error);
}

}  // namespace cudatransform::cuda
