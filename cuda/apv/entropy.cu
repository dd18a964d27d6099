// Entropy decoding of APV: a thread a chain, all chains of several frames in a launch.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// No code ends a block, so that nothing inside of a chain can be found without decoding what is
// before it: a chain is one thread's, and frames in flight fill the device. The threads of a warp
// have chains of similar length, and each goes its own way: one pass of a loop is a pair of a run
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

// A window of 32 bits over a chain, at any bit of two words; zeros past the end. A warp
// stops where it uses what has not been loaded yet, so that loads are far ahead of uses: global
// memory is read 16 bytes at a time, while those before them are in use, and shared memory a word
// ahead. A branch takes longer than to select, or to load a word again.
class ChainBits {
 public:
  __device__ __forceinline__ ChainBits(const uint8_t* data, const ApvChainInfo& chain, Lines& lines)
      : line_(shared_address(&lines.words[0][threadIdx.x])),
        data_(reinterpret_cast<const uint4*>(data + (chain.offset & -kLineBytes))),
        at_(8 * (chain.offset % 4)) {
    keep_in_register(line_);
    constexpr uint32_t kMaxBytes = INT32_MAX - kLineBytes;  // more than blocks can take
    const uint32_t skipped = chain.offset % kLineBytes;
    left_ = static_cast<int32_t>(min(chain.bytes, kMaxBytes) + skipped);
    next_ = __ldg(data_++);
    use();
    ahead_at_ = skipped / 4 * kStep;
    load();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      drop(32);
      have_ahead();
    }
  }

  __device__ __forceinline__ uint32_t window() const {
    return __funnelshift_l(words_[1], words_[0], at_);
  }
  // Up to 32 bits. There is a word ahead.
  __device__ __forceinline__ void drop(uint32_t bits) {
    at_ += bits;
    const bool crosses = at_ >= 32;
    at_ %= 32;
    words_[0] = crosses ? words_[1] : words_[0];
    words_[1] = crosses ? in_order(ahead_[0]) : words_[1];
    ahead_at_ += crosses ? kStep : 0;
    load();
  }
  // Whether the word after words_ has been loaded: the next drop() may need it.
  __device__ __forceinline__ bool has_ahead() const { return ahead_at_ < kLineWords * kStep; }
  __device__ __forceinline__ void have_ahead() {
    if (has_ahead()) return;
    use();
    ahead_at_ = 0;
    load();
  }
  // Whether the end is before that of the `bits` that follow.
  __device__ __forceinline__ bool overran(uint32_t bits) const {
    constexpr int32_t kFar = 64;  // bytes
    // From words_.
    const int32_t left = left_ + static_cast<int32_t>(4 * (kLineWords + 2 - ahead_at_ / kStep));
    return left < kFar && 8 * left < static_cast<int32_t>(at_ + bits);
  }

 private:
  static constexpr uint32_t kLineBytes = 4 * kLineWords;
  static constexpr uint32_t kStep = 4 * kApvEntropyThreads;  // from a word of a line to the next

  __device__ __forceinline__ static uint32_t in_order(uint32_t word) {
    return __byte_perm(word, 0, 0x0123);
  }
  // Begins with the line that has been loaded, and loads the next one.
  __device__ __forceinline__ void use() {
    uint32_t words[kLineWords] = {next_.x, next_.y, next_.z, next_.w};
    if (left_ < static_cast<int32_t>(kLineBytes)) cut(words);
#pragma unroll
    for (uint32_t i = 0; i < kLineWords; ++i) store_shared(line_ + i * kStep, words[i]);
    left_ -= kLineBytes;
    if (left_ > 0) next_ = __ldg(data_++);
  }
  // Zeros past the end.
  __device__ __forceinline__ void cut(uint32_t (&words)[kLineWords]) const {
#pragma unroll
    for (uint32_t i = 0; i < kLineWords; ++i) {
      const int32_t left = left_ - static_cast<int32_t>(4 * i);
      if (left < 4) words[i] = left > 0 ? words[i] & ~0u >> (32 - 8 * left) : 0;
    }
  }
  // Past the line, any word of it.
  __device__ __forceinline__ void load() {
    load_shared(line_ + ahead_at_ % (kLineWords * kStep), ahead_);
  }

  SharedAddress line_;
  const uint4* data_;  // the line after next_
  int32_t left_;       // bytes from next_ to the end
  uint32_t ahead_at_;  // bytes, from line_ to ahead_
  uint4 next_;         // the line after that of ahead_
  uint32_t ahead_[1];  // the word after words_, in memory order
  uint32_t words_[2] = {};
  uint32_t at_;  // bits, from words_ to the window: 0 to 31
};

// The blocks of a chain, macroblock by macroblock.
class ChainBlocks {
 public:
  __device__ __forceinline__ ChainBlocks(int16_t* coefs, const ApvChainInfo& chain)
      : chain_(chain), mb_(coefs + 64 * uint64_t{chain.first_block}) {}

  __device__ __forceinline__ int16_t* block() const {
    return mb_ + 64 * (uint64_t{y_} * chain_.blocks_across + x_);
  }
  // To the next block; false after the last one.
  __device__ __forceinline__ bool advance() {
    if (++x_ < chain_.mb_blocks_across) return true;
    x_ = 0;
    y_ ^= 1;
    if (y_ != 0) return true;
    mb_ += 64 * chain_.mb_blocks_across;
    if (++mb_x_ < chain_.mbs_across) return true;
    mb_x_ = 0;
    mb_ += 64 * (uint64_t{2} * chain_.blocks_across -
                 uint64_t{chain_.mbs_across} * chain_.mb_blocks_across);
    return ++mb_y_ < chain_.mbs_down;
  }

 private:
  const ApvChainInfo& chain_;
  int16_t* mb_;
  uint32_t x_ = 0, y_ = 0, mb_x_ = 0, mb_y_ = 0;
};

// An entry, in 32 bits: in the lowest 5 the bits of the pair's codes; the run; as in the address of
// the next pair, its context and that of the next block's first pair; the bits of the run's code;
// and the coefficient. Where the index does not have all of a pair, the first is 0, the run so long
// that no block has room for it, and the coefficient the run, if the index has that.
constexpr int kRunAt = 5, kContextAt = kApvTableBits + 2, kFirstContextAt = kContextAt + 4,
              kRunBitsAt = kFirstContextAt + 4, kCoefAt = 24;
static_assert(kContextAt == kRunAt + 6 && kRunBitsAt + 4 <= kCoefAt);
constexpr uint32_t kContextMask = 15u << kContextAt;
__device__ __forceinline__ uint32_t pack(const ApvPair& pair) {
  const auto part = [](int value, int at) { return static_cast<uint32_t>(value) << at; };
  const uint32_t run_bits = part(pair.run_bits(), kRunBitsAt);
  if (pair.bits() == 0) return part(63, kRunAt) | run_bits | part(pair.run(), kCoefAt);
  const int context = pair.next_context();
  return part(pair.bits(), 0) | part(pair.run(), kRunAt) | part(context, kContextAt) |
         part(apv_first_context(context), kFirstContextAt) | run_bits | part(pair.coef(), kCoefAt);
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
  // As constants: an array that is indexed would be in local memory.
  if (threadIdx.x > 0) return;
  constexpr ApvScan kScan;
#pragma unroll
  for (int i = 0; i < 64; ++i) tables.scan[i] = kScan.place[i];
}

// The code of a value that the window begins with. Without branches: the threads of a warp have
// different codes.
struct Code {
  uint32_t prefix;  // bits before the low ones
  uint32_t low;     // bits
  uint32_t base;    // the value without the low ones
  bool is_legal;

  __device__ __forceinline__ Code(uint32_t window, uint32_t k) {
    const bool is_first = window >> 31 != 0, is_long = window >> 30 == 1;
    const auto zeros = static_cast<uint32_t>(__clz(static_cast<int>(window << 2)));
    prefix = is_first ? 1 : is_long ? 3 + zeros : 2;
    low = is_long ? k + zeros : k;
    base = is_first ? 0 : ((is_long ? 1u << (zeros & 31) : 0) + 1) << k;
    is_legal = !is_long || zeros <= kMaxApvZeros;
  }
};
__device__ __forceinline__ uint32_t upper_bits(uint32_t word, uint32_t bits) {
  return word >> 1 >> (31 - bits);
}

// The time of a chain is that of its pairs, and of a pair that of the instructions which wait for
// each other: from the window to the address of a pair, its load, and the window after it. A
// branch takes as long as several of these: the loop of pairs that the table has takes none but its
// own. All other pairs, and DC coefficients, are read code by code.
class Decoder {
 public:
  __device__ __forceinline__ Decoder(const Tables& tables, Lines& lines,
                                     const ApvEntropyFrame& frame, const ApvChainInfo& chain)
      : pairs_(shared_address(tables.pairs)),
        scan_(shared_address(tables.scan)),
        bits_(frame.data, chain, lines),
        blocks_(frame.coefs, chain),
        block_(blocks_.block()) {
    keep_in_register(pairs_);
    keep_in_register(scan_);
  }

  __device__ __forceinline__ ApvChainError run() {
    for (;;) {
      bits_.have_ahead();
      uint32_t pair;
      if (read_short_pairs(&pair)) continue;
      // All that the window has, up to a size: that of a run's coefficient, or of a block's DC.
      const uint32_t window = bits_.window();
      uint32_t bits = at_ < kBlockEnd ? read_run(window, pair) : 0;
      if (bits <= kApvTableBits) {
        if (at_ == kBlockEnd) {
          // Codes that the end cuts off may be none.
          if (bits_.overran(bits)) return lose(ApvChainError::kEnd);
          if (!blocks_.advance()) return ApvChainError::kNone;
          block_ = blocks_.block();
          at_ = kValue;
          parameter_ = dc_parameter_;
        }
        if (at_ >= kValue) bits += read_size(window << bits, bits);
      }
      if (bits > kMaxBits) {
        const auto error = static_cast<ApvChainError>(bits / kError);
        return lose(bits_.overran(bits % kError) ? ApvChainError::kEnd : error);
      }
      bits_.drop(bits);
    }
  }

 private:
  static constexpr uint32_t kBlockEnd = 64, kValue = 128;  // of at_
  static constexpr uint32_t kNoLowBits = UINT32_MAX;
  static constexpr uint32_t kMaxBits = 32, kError = 256;  // see read_run()

  __device__ __forceinline__ uint32_t look_up(uint32_t window) const {
    uint32_t pair[1];
    load_shared(pairs_ + ((window >> (32 - kContextAt) & ~3u) | context_), pair);
    return pair[0];
  }
  // Those that the table has. False: `*pair`, at the window, is none or does not fit here. True:
  // the line ends.
  __device__ __forceinline__ bool read_short_pairs(uint32_t* pair) {
    do {
      *pair = look_up(bits_.window());
      store();
      const uint32_t at = at_ + (*pair >> kRunAt & 63);
      if (at >= kBlockEnd) return false;
      scanned_ = load_shared_byte(scan_ + at);
      coef_ = static_cast<int32_t>(*pair) >> kCoefAt;
      context_ = *pair & kContextMask;
      if (at_ == 1) first_context_ = *pair >> (kFirstContextAt - kContextAt) & kContextMask;
      at_ = at + 1;
      bits_.drop(*pair & 31);
    } while (bits_.has_ahead());
    return true;
  }
  // Stores the last coefficient: its place has been loaded together with the pair after it.
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

  // Each of these returns the bits to drop and, if there is one, kError times an ApvChainError.
  __device__ __forceinline__ uint32_t read_run(uint32_t window, uint32_t pair) {
    const auto context = static_cast<int>(context_ >> kContextAt);
    uint32_t run = pair >> ((pair & 31) != 0 ? kRunAt : kCoefAt) & 63;
    uint32_t bits = pair >> kRunBitsAt & 15;
    if (bits == 0) {
      const Code code(window, static_cast<uint32_t>(context % kApvRunParameters));
      if (!code.is_legal) return fail(ApvChainError::kCode, 0);
      // Clamped where it has too many bits in any case.
      run = code.base + upper_bits(window << code.prefix, code.low);
      bits = code.prefix + code.low;
    }
    if (run > kBlockEnd - at_) return fail(ApvChainError::kRun, bits);
    is_first_ = at_ == 1;
    run_parameter_ = apv_run_parameter(run);
    parameter_ = context / kApvRunParameters;
    at_ += run;
    if (at_ < kBlockEnd) at_ += kValue;
    return bits;
  }

  // The DC coefficient, or one after its run. The last `missing` bits of the window are none:
  // where the size may have some of these, the next pass decodes it. One that is too long for
  // any window is read in two parts.
  __device__ __forceinline__ uint32_t read_size(uint32_t window, uint32_t missing) {
    uint32_t size, bits;
    if (low_bits_ == kNoLowBits) {
      const Code code(window, static_cast<uint32_t>(parameter_));
      bits = code.prefix + code.low;
      if (!code.is_legal || bits > 31 - missing) {
        if (missing > 0) return 0;
        if (!code.is_legal) return fail(ApvChainError::kCode, 0);
        base_ = code.base;
        low_bits_ = code.low;
        return code.prefix;
      }
      size = code.base + upper_bits(window << code.prefix, code.low);
    } else {
      bits = low_bits_;
      size = base_ + upper_bits(window, bits);
      low_bits_ = kNoLowBits;
    }
    const bool negative = (window << bits) >> 31 != 0;
    const uint32_t at = at_ - kValue;
    if (at == 0) return bits + take_dc(size, negative);
    ++bits;
    ++size;
    if (size > (negative ? 32768u : 32767u)) return fail(ApvChainError::kRange, bits);
    const auto value = static_cast<int32_t>(size);
    coef_ = negative ? -value : value;
    scanned_ = load_shared_byte(scan_ + at);
    const int next = apv_context(run_parameter_, apv_coef_parameter(size));
    context_ = static_cast<uint32_t>(next) << kContextAt;
    if (is_first_) first_context_ = static_cast<uint32_t>(apv_first_context(next)) << kContextAt;
    at_ = at + 1;
    return bits;
  }
  // Returns the bits of the sign.
  __device__ __forceinline__ uint32_t take_dc(uint32_t size, bool negative) {
    const auto difference = static_cast<int32_t>(size);
    const int32_t dc = dc_ + (negative ? -difference : difference);
    if (dc < INT16_MIN || dc > INT16_MAX) return fail(ApvChainError::kRange, 1);
    dc_ = dc;
    dc_parameter_ = apv_dc_parameter(size);
    coef_ = dc;
    scanned_ = 0;
    context_ = first_context_;
    at_ = 1;
    return size != 0 ? 1 : 0;
  }
  __device__ __forceinline__ uint32_t fail(ApvChainError error, uint32_t bits) const {
    return kError * static_cast<uint32_t>(error) + bits;
  }

  SharedAddress pairs_, scan_;
  ChainBits bits_;
  ChainBlocks blocks_;
  int16_t* block_;
  // The next coefficient; kBlockEnd; or, where its size comes next, kValue and more.
  uint32_t at_ = kValue;
  uint32_t scanned_ = 0;  // the place of
  int32_t coef_ = 0;      // the last coefficient, until it is stored; 0: there is none
  int32_t dc_ = 0;
  int dc_parameter_ = kApvFirstDcParameter;
  // As in an address.
  uint32_t context_ = kApvFirstContext << kContextAt;
  uint32_t first_context_ = context_;  // at the beginning of a block
  // Of the size that comes next: its parameter, that of its run, whether it is a block's first one,
  // and what has been read of it.
  int parameter_ = dc_parameter_, run_parameter_ = 0;
  bool is_first_ = false;
  uint32_t base_ = 0, low_bits_ = kNoLowBits;
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
