// Entropy decoding of APV: a thread a chain, all chains of several frames in a launch.
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

// The 16 bytes of its chain that each thread has in use. Interleaved: no two threads use one bank.
constexpr uint32_t kLineWords = 4;
struct Lines {
  uint32_t words[kLineWords][kApvEntropyThreads];
};

// A window of 64 bits over a chain, the same as the CPU's: zeros behind the end. A warp stops where
// it uses what has not been loaded yet, so that loads are far ahead of uses: global memory is read
// 16 bytes at a time, while those before them are in use, and shared memory a word ahead.
class ChainBits {
 public:
  __device__ __forceinline__ ChainBits(const uint8_t* data, const ApvChainInfo& chain, Lines& lines)
      : line_(shared_address(&lines.words[0][threadIdx.x])),
        data_(reinterpret_cast<const uint4*>(data + (chain.offset & -kLineBytes))),
        at_(chain.offset % kLineBytes / 4 * kStep) {
    keep_in_register(line_);
    constexpr uint32_t kMaxBytes = INT32_MAX - kLineBytes;  // more than blocks can take
    const auto bytes = static_cast<int32_t>(min(chain.bytes, kMaxBytes));
    left_in_line_ = bytes + static_cast<int32_t>(chain.offset % kLineBytes);
    left_ = bytes + static_cast<int32_t>(chain.offset % 4);
    next_ = __ldg(data_++);
    use();
    fetch();
    refill();
    refill();
    drop(static_cast<int>(8 * (chain.offset % 4)));
  }

  // Makes at least 33 bits of the window valid.
  __device__ __forceinline__ void refill() {
    if (count_ > 32) return;
    const uint32_t word = __byte_perm(ahead_[0], 0, 0x0123);
    window_ |= static_cast<uint64_t>(word) << (32 - count_);
    count_ += 32;
    left_ -= 4;
    fetch();
  }
  __device__ __forceinline__ uint64_t window() const { return window_; }
  __device__ __forceinline__ void drop(int bits) {
    window_ <<= bits;
    count_ -= bits;
  }
  __device__ __forceinline__ bool overran() const { return left_ < 0 && 8 * left_ + count_ < 0; }

 private:
  static constexpr uint32_t kLineBytes = 4 * kLineWords;
  static constexpr uint32_t kStep = 4 * kApvEntropyThreads;  // from a word of a line to the next

  // Begins with the line that has been loaded, and loads the one behind it.
  __device__ __forceinline__ void use() {
    uint32_t words[kLineWords] = {next_.x, next_.y, next_.z, next_.w};
    if (left_in_line_ < static_cast<int32_t>(kLineBytes)) cut(words);
#pragma unroll
    for (uint32_t i = 0; i < kLineWords; ++i) store_shared(line_ + i * kStep, words[i]);
    left_in_line_ -= kLineBytes;
    if (left_in_line_ > 0) next_ = __ldg(data_++);
  }
  // Zeros behind the end.
  __device__ __forceinline__ void cut(uint32_t (&words)[kLineWords]) const {
#pragma unroll
    for (uint32_t i = 0; i < kLineWords; ++i) {
      const int32_t left = left_in_line_ - static_cast<int32_t>(4 * i);
      if (left < 4) words[i] = left > 0 ? words[i] & ~0u >> (32 - 8 * left) : 0;
    }
  }
  __device__ __forceinline__ void fetch() {
    load_shared(line_ + at_, ahead_);
    at_ = (at_ + kStep) % (kLineWords * kStep);
    if (at_ == 0) use();
  }

  SharedAddress line_;
  const uint4* data_;     // the line behind next_
  int32_t left_in_line_;  // bytes from its beginning to the end
  uint32_t at_;           // bytes, from line_ to the word behind ahead_
  uint4 next_;
  uint32_t ahead_[1];
  int32_t left_;  // bytes behind the window
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

// A pair, in 32 bits: in the lowest 5 the bits of its codes, 0 where the index does not have them
// all; the run; as they stand in the address of the next pair, its context and that of the next
// block's first pair; and the coefficient.
constexpr int kRunAt = 5, kContextAt = kApvTableBits + 2, kFirstContextAt = kContextAt + 4;
constexpr uint32_t kContextMask = 15u << kContextAt;
__device__ __forceinline__ uint32_t pack(const ApvPair& pair) {
  const auto part = [](int value, int at) { return static_cast<uint32_t>(value) << at; };
  if (pair.bits() == 0) return 0;
  const int context = pair.next_context();
  return part(pair.bits(), 0) | part(pair.run(), kRunAt) | part(context, kContextAt) |
         part(apv_first_context(context), kFirstContextAt) | part(pair.coef(), 24);
}

struct Tables {
  uint32_t pairs[kApvContexts << kApvTableBits];
  uint8_t scan[64];
};

__device__ __forceinline__ void fill(Tables& tables) {
  for (uint32_t i = threadIdx.x; i < kApvContexts << kApvTableBits; i += kApvEntropyThreads) {
    const uint64_t window = static_cast<uint64_t>(i) << (64 - kApvTableBits);
    tables.pairs[i] =
        pack(make_apv_pair(static_cast<int>(i >> kApvTableBits), window, kApvTableBits));
  }
  // As constants: an array that is indexed would lie in local memory.
  if (threadIdx.x > 0) return;
  constexpr ApvScan kScan;
#pragma unroll
  for (int i = 0; i < 64; ++i) tables.scan[i] = kScan.place[i];
}

// The time of a chain is that of its pairs, and of a pair that of the instructions which wait for
// each other: from the window to the address of a pair, its load, and the window behind it.
class Decoder {
 public:
  __device__ __forceinline__ Decoder(const Tables& tables, Lines& lines,
                                     const ApvEntropyFrame& frame, const ApvChainInfo& chain)
      : pairs_(shared_address(tables.pairs)),
        scan_(shared_address(tables.scan)),
        bits_(frame.data, chain, lines),
        blocks_(frame.coefs, chain) {
    keep_in_register(pairs_);
    keep_in_register(scan_);
  }

  __device__ __forceinline__ ApvChainError run() {
    ApvChainError error = ApvChainError::kNone;
    while (error == ApvChainError::kNone) {
      if (at_ > 63) {
        if (block_ != nullptr) {
          store();
          // Codes that the end cuts off may be none.
          if (bits_.overran()) return lose(ApvChainError::kEnd);
          blocks_.advance();
        }
        if (blocks_.at_end()) return ApvChainError::kNone;
        error = begin_block();
        if (error != ApvChainError::kNone) break;
      }
      bits_.refill();
      const uint32_t pair = look_up();
      store();
      const int at = at_ + static_cast<int>(pair >> kRunAt & 63);
      if ((pair & 31) != 0 && at < 64) {
        scanned_ = load_shared_byte(scan_ + at);
        coef_ = static_cast<int32_t>(pair) >> 24;
        context_ = pair & kContextMask;
        if (at_ == 1) first_context_ = pair >> (kFirstContextAt - kContextAt) & kContextMask;
        bits_.drop(static_cast<int>(pair & 31));
        at_ = at + 1;
      } else {
        error = read_long_pair();
      }
    }
    return lose(bits_.overran() ? ApvChainError::kEnd : error);
  }

 private:
  __device__ __forceinline__ uint32_t look_up() const {
    uint32_t pair[1];
    load_shared(
        pairs_ + (static_cast<uint32_t>(bits_.window() >> (64 - kContextAt)) & ~3u | context_),
        pair);
    return pair[0];
  }
  // Stores the last coefficient: its place has been loaded together with the pair behind it.
  __device__ __forceinline__ void store() {
    if (coef_ != 0) block_[scanned_] = static_cast<int16_t>(coef_);
    coef_ = 0;
  }

  // What has been decoded of a damaged block is taken back.
  __device__ __forceinline__ ApvChainError lose(ApvChainError error) {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) reinterpret_cast<uint4*>(block_)[i] = make_uint4(0, 0, 0, 0);
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

  // The DC coefficient.
  __device__ __forceinline__ ApvChainError begin_block() {
    block_ = blocks_.block();
    at_ = 1;
    context_ = first_context_;
    uint32_t size = 0;
    if (!read_value(dc_parameter_, &size)) return ApvChainError::kCode;
    if (size != 0) {
      const auto difference = static_cast<int32_t>(size);
      const int32_t dc = dc_ + (read_sign() ? -difference : difference);
      if (dc < INT16_MIN || dc > INT16_MAX) return ApvChainError::kRange;
      dc_ = dc;
    }
    dc_parameter_ = apv_dc_parameter(size);
    scanned_ = 0;
    coef_ = dc_;
    return ApvChainError::kNone;
  }

  // Code by code: a pair that is not in the table, a run to the end of the block, or damage.
  __device__ __forceinline__ ApvChainError read_long_pair() {
    const auto context = static_cast<int>(context_ >> kContextAt);
    uint32_t run = 0, size = 0;
    if (!read_value(context % kApvRunParameters, &run)) return ApvChainError::kCode;
    if (run > static_cast<uint32_t>(64 - at_)) return ApvChainError::kRun;
    const int at = at_ + static_cast<int>(run);
    if (at < 64) {
      if (!read_value(context / kApvRunParameters, &size)) return ApvChainError::kCode;
      const bool negative = read_sign();
      ++size;
      if (size > (negative ? 32768u : 32767u)) return ApvChainError::kRange;
      const auto value = static_cast<int32_t>(size);
      scanned_ = load_shared_byte(scan_ + at);
      coef_ = negative ? -value : value;
      const int next = apv_context(apv_run_parameter(run), apv_coef_parameter(size));
      context_ = static_cast<uint32_t>(next) << kContextAt;
      if (at_ == 1) first_context_ = static_cast<uint32_t>(apv_first_context(next)) << kContextAt;
    }
    at_ = at + 1;
    return ApvChainError::kNone;
  }

  SharedAddress pairs_, scan_;
  ChainBits bits_;
  ChainBlocks blocks_;
  int16_t* block_ = nullptr;
  int at_ = 64;           // the next coefficient; more than 63 at the end of the block
  uint32_t scanned_ = 0;  // the place of
  int32_t coef_ = 0;      // the last coefficient, until it is stored; 0: there is none
  int32_t dc_ = 0;
  int dc_parameter_ = kApvFirstDcParameter;
  // As in an address.
  uint32_t context_ = kApvFirstContext << kContextAt;
  uint32_t first_context_ = context_;  // at the beginning of a block
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kApvEntropyThreads)
    apv_entropy(const __grid_constant__ ApvEntropyParams params) {
  __shared__ Tables tables;
  __shared__ Lines lines;
  fill(tables);
  __syncthreads();
  const ApvEntropyFrame& frame = params.frames[blockIdx.y];
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = blockIdx.x * kApvEntropyWarps + threadIdx.x / 32;
  const uint32_t index = warp * params.chains_of_warp + lane;
  if (lane >= params.chains_of_warp || index >= frame.chain_count) return;
  const ApvChainInfo chain = frame.chains[index];
  const ApvChainError error = Decoder(tables, lines, frame, chain).run();
  if (error != ApvChainError::kNone) frame.results[chain.result] = static_cast<uint32_t>(error);
}

}  // namespace cudatransform::cuda
