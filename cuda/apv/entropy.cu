// Entropy decoding of APV: a thread a chain, all chains of several frames in a launch.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// No code ends a block, so that nothing inside of a chain can be found without decoding what is
// before it: a chain is one thread's, and frames in flight fill the device. The threads of a warp
// have chains of similar length, and each goes its own way: one pass of a loop is a pair of a run
// and a coefficient, whatever block it is in. A block is put together in shared memory, and written
// as a whole.
#include "apv/codes.h"
#include "cuda/apv/kernels.h"
#include "cuda/common/ptx.cuh"

namespace cudatransform::cuda {
namespace {

__device__ __forceinline__ uint32_t load_shared_word(SharedAddress from) {
  uint32_t word[1];
  load_shared(from, word);
  return word[0];
}
__device__ __forceinline__ void store_shared_half(SharedAddress to, uint32_t value) {
#ifdef CT_EMULATED
  *reinterpret_cast<uint16_t*>(to) = static_cast<uint16_t>(value);
#else
  asm volatile("{ .reg .u16 h; cvt.u16.u32 h, %1; st.shared.u16 [%0], h; }" ::"r"(to), "r"(value)
               : "memory");
#endif
}
__device__ __forceinline__ void store_shared(SharedAddress to, const uint32_t (&words)[4]) {
#ifdef CT_EMULATED
  for (int i = 0; i < 4; ++i) reinterpret_cast<uint32_t*>(to)[i] = words[i];
#else
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]),
               "r"(words[2]), "r"(words[3])
               : "memory");
#endif
}

// What a chain has in shared memory: 32 bytes of its data, in words; and a block, with a place
// after it for no coefficient.
constexpr uint32_t kLineWords = 4, kNoPlace = 128;
struct alignas(16) ChainMemory {
  uint32_t words[2 * kLineWords];
  uint32_t block[32 + 4];
};

// Two windows of 32 bits over a chain, the second one after the first, at any bit; zeros past the
// end. The next lookup waits only for a shift of both: the second one is loaded meanwhile. A warp
// stops where it uses what has not been loaded yet, so that global memory is read 16 bytes at a
// time, while those before them are in use.
class ChainBits {
 public:
  __device__ __forceinline__ ChainBits(const uint8_t* data, const ApvChainInfo& chain,
                                       ChainMemory& memory)
      : words_(shared_address(memory.words)),
        data_(reinterpret_cast<const uint4*>(data + (chain.offset & -kLineBytes))) {
    keep_in_register(words_);
    constexpr uint32_t kMaxBytes = INT32_MAX - kLineBytes;  // more than blocks can take
    const uint32_t skipped = chain.offset % kLineBytes;
    left_ = static_cast<int32_t>(min(chain.bytes, kMaxBytes) + skipped);
    next_ = __ldg(data_++);
    at_ = 8 * (skipped + 2 * kLineBytes) + 32;
#pragma unroll 1
    for (int i = 0; i < 2; ++i) use();
    uint32_t words[2];
    load(at_ - 32, words);
    window_ = __funnelshift_l(words[1], words[0], at_);
    load(at_, after_);
  }

  __device__ __forceinline__ uint32_t window() const { return window_; }
  // After so many bits, modulo 32; or after up to 32.
  __device__ __forceinline__ uint32_t window_after(uint32_t bits) const {
    return __funnelshift_l(second_window(), window_, bits);
  }
  __device__ __forceinline__ uint32_t clamped_window_after(uint32_t bits) const {
    return __funnelshift_lc(second_window(), window_, bits);
  }
  // Drops up to 32 bits, `window` being the one after them, in two parts: the first one can be
  // taken back instead. There are more in shared memory.
  __device__ __forceinline__ uint32_t begin_drop(uint32_t bits) {
    const uint32_t at = at_ + bits;
    load(at, after_);
    return at;
  }
  __device__ __forceinline__ void end_drop(uint32_t at, uint32_t window) {
    at_ = at;
    window_ = window;
  }
  __device__ __forceinline__ void take_back() { load(at_, after_); }
  // Whether shared memory has what follows any 32 bits.
  __device__ __forceinline__ bool has_more() const { return at_ < 32 * (2 * kLineWords - 2); }
  __device__ __forceinline__ void have_more() {
    if (!has_more()) use();
  }
  // Whether the end is before that of the `bits` that follow.
  __device__ __forceinline__ bool overran(uint32_t bits) const {
    constexpr int32_t kFar = 64;  // bytes
    const int32_t left = left_ + static_cast<int32_t>(2 * kLineBytes);
    return left < kFar && 8 * left < static_cast<int32_t>(at_ - 32 + bits);
  }

 private:
  static constexpr uint32_t kLineBytes = 4 * kLineWords;

  __device__ __forceinline__ uint32_t second_window() const {
    return __funnelshift_l(after_[1], after_[0], at_);
  }
  __device__ __forceinline__ void load(uint32_t at, uint32_t (&words)[2]) const {
    const SharedAddress from = words_ + (at >> 3 & ~3u);
    words[0] = load_shared_word(from);
    words[1] = load_shared_word(from + 4);
  }
  // Moves on by the line that has been loaded, and loads the next one.
  __device__ __forceinline__ void use() {
    store_shared(words_, line_);
    const uint32_t words[kLineWords] = {next_.x, next_.y, next_.z, next_.w};
#pragma unroll
    for (uint32_t i = 0; i < kLineWords; ++i) line_[i] = __byte_perm(words[i], 0, 0x0123);
    if (left_ < static_cast<int32_t>(kLineBytes)) cut();
    store_shared(words_ + kLineBytes, line_);
    at_ -= 8 * kLineBytes;
    left_ -= kLineBytes;
    if (left_ > 0) next_ = __ldg(data_++);
  }
  // Zeros past the end.
  __device__ __forceinline__ void cut() {
#pragma unroll
    for (uint32_t i = 0; i < kLineWords; ++i) {
      const int32_t left = left_ - static_cast<int32_t>(4 * i);
      if (left < 4) line_[i] = left > 0 ? line_[i] & ~(~0u >> (8 * left)) : 0;
    }
  }

  SharedAddress words_;
  const uint4* data_;               // the line after next_
  int32_t left_;                    // bytes from next_ to the end
  uint32_t at_;                     // bits, from words_ to the second window
  uint4 next_;                      // the line after the two in shared memory
  uint32_t line_[kLineWords] = {};  // the second one of these
  uint32_t window_;
  uint32_t after_[2];  // the words of the second window
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

// The table has a part for each context, whose index has more bits where that is worth it: a long
// pair takes several times as long. Parts are of so many entries, or two or eight times as many.
constexpr int kUnitBits = 8;
constexpr int index_bits(int run_parameter, int coef_parameter) {
  if (run_parameter == 0 && coef_parameter < 2) return kUnitBits + 3;
  return run_parameter == 0 || coef_parameter < 2 ? kUnitBits + 1 : kUnitBits;
}

// An entry, in 32 bits: in the lowest 5 the bits of the pair's codes; the place of the next
// context; the coefficient; and the places to move, so many that no block has room for them where
// the index does not have all of a pair. The place of a context: by how much to shift a window for
// the index in bytes, and then its part's first byte.
constexpr int kShiftAt = 5, kPartAt = kUnitBits + 2, kCoefByte = 2, kMoveAt = 24;
static_assert(kShiftAt + 5 == kPartAt);
constexpr uint32_t kPartMask = 0x10000 - (1 << kPartAt), kNoMove = 64;
struct Parts {
  // By context, and of a unit what follows from its context: that, and above it the place of the
  // context that the next block begins with where this is the one after its first coefficient.
  uint32_t places[4 * kApvCoefParameters] = {};
  uint32_t units[64] = {};
  uint32_t count = 0;  // of units

  CT_HD static constexpr uint32_t context(int run_parameter, int coef_parameter) {
    return static_cast<uint32_t>(4 * coef_parameter + run_parameter);
  }
  constexpr Parts() {
    for (int coef = 0; coef < kApvCoefParameters; ++coef) {
      for (int run = 0; run < kApvRunParameters; ++run) {
        const int bits = index_bits(run, coef);
        const uint32_t of = context(run, coef);
        places[of] = static_cast<uint32_t>(30 - bits) << kShiftAt | count << kPartAt;
        for (int i = 0; i < 1 << (bits - kUnitBits); ++i)
          units[count++] = of | places[context(0, coef)];
      }
    }
  }
};
// Of a unit.
__device__ __forceinline__ int run_parameter_of(uint32_t unit) {
  return static_cast<int>(unit & 3);
}
__device__ __forceinline__ int coef_parameter_of(uint32_t unit) {
  return static_cast<int>(unit >> 2 & 7);
}
constexpr uint32_t kUnits = Parts().count;
static_assert(kUnits << kPartAt <= 1 << (8 * kCoefByte));
__device__ __forceinline__ uint32_t pack(const ApvPair& pair, uint32_t next_place) {
  if (pair.bits() == 0) return kNoMove << kMoveAt | next_place;
  return static_cast<uint32_t>(pair.bits() | (pair.coef() & 255) << (8 * kCoefByte) |
                               (pair.run() + 1) << kMoveAt) |
         next_place;
}

struct Tables {
  uint32_t pairs[kUnits << kUnitBits];
  uint32_t places[4 * kApvCoefParameters];
  uint32_t units[kUnits];
  uint8_t scan[256];  // bytes from a block to a coefficient; beyond those of a block anything
};

__device__ __forceinline__ void fill(Tables& tables) {
  // As constants: an array that is indexed would be in local memory.
  if (threadIdx.x == 0) {
    constexpr ApvScan kScan;
#pragma unroll
    for (int i = 0; i < 64; ++i) tables.scan[i] = static_cast<uint8_t>(2 * kScan.place[i]);
    constexpr Parts kParts;
#pragma unroll
    for (int i = 0; i < 4 * kApvCoefParameters; ++i) tables.places[i] = kParts.places[i];
#pragma unroll
    for (uint32_t i = 0; i < kUnits; ++i) tables.units[i] = kParts.units[i];
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kUnits << kUnitBits; i += kApvEntropyThreads) {
    const uint32_t unit = tables.units[i >> kUnitBits];
    const int run = run_parameter_of(unit), coef = coef_parameter_of(unit);
    const uint32_t place = tables.places[Parts::context(run, coef)];
    const uint32_t index = i - (place & kPartMask) / 4, shift = place >> kShiftAt & 31;
    const ApvPair pair = make_apv_pair(apv_context(run, coef), uint64_t{index} << (34 + shift),
                                       static_cast<int>(30 - shift));
    const int next = pair.next_context();
    tables.pairs[i] = pack(
        pair, tables.places[Parts::context(next % kApvRunParameters, next / kApvRunParameters)]);
  }
}

__device__ __forceinline__ uint32_t upper_bits(uint32_t word, uint32_t bits) {
  return word >> 1 >> (31 - bits);
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
  __device__ __forceinline__ uint32_t bits() const { return prefix + low; }
  // Anything where that has too many bits.
  __device__ __forceinline__ uint32_t value(uint32_t window) const {
    return base + upper_bits(window << prefix, low);
  }
};
// The time of a chain is that of its pairs, and of a pair that of the instructions which wait for
// each other: from the window to the address of a pair, its load, and the window after it. All else
// of the loop of pairs that the table has is done meanwhile. Most other pairs take one branch; what
// does not fit there, and DC coefficients, are read code by code.
class Decoder {
 public:
  __device__ __forceinline__ Decoder(const Tables& tables, ChainMemory& memory,
                                     const ApvEntropyFrame& frame, const ApvChainInfo& chain)
      : pairs_(shared_address(tables.pairs)),
        scan_(shared_address(tables.scan)),
        places_(shared_address(tables.places)),
        units_(shared_address(tables.units)),
        block_(shared_address(memory.block)),
        bits_(frame.data, chain, memory),
        blocks_(frame.coefs, chain) {
    keep_in_register(pairs_);
    keep_in_register(scan_);
    keep_in_register(block_);
    first_place_ = next_place_ = load_place(0, 0);
    pair_ = kNoMove << kMoveAt | next_place_;
    clear_block();
  }

  __device__ __forceinline__ ApvChainError run() {
    for (;;) {
      bits_.have_more();
      if (read_short_pairs()) continue;
      // Otherwise up to a size: that of a run's coefficient, or of a block's DC.
      uint32_t bits = 0;
      if (at_ < kBlockEnd) {
        const uint32_t unit = load_unit(next_place_);
        const Code run(bits_.window(), static_cast<uint32_t>(run_parameter_of(unit)));
        if (read_long_pair(run, unit)) continue;
        bits = read_run(run, unit);
      }
      if (bits < kError) {
        if (at_ == kBlockEnd) {
          // Codes that the end cuts off may be none.
          if (bits_.overran(bits)) return lose(ApvChainError::kEnd);
          write_block();
          if (!blocks_.advance()) return ApvChainError::kNone;
          at_ = kValue;
          parameter_ = dc_parameter_;
        }
        if (at_ >= kValue) bits += read_size(bits_.window_after(bits), bits);
      }
      if (bits > kMaxBits) {
        const auto error = static_cast<ApvChainError>(bits / kError);
        return lose(bits_.overran(bits % kError) ? ApvChainError::kEnd : error);
      }
      drop(bits);
      if (at_ == 1 && pair_ >> kMoveAt < kNoMove) first_place_ = pair_;
    }
  }

 private:
  static constexpr uint32_t kBlockEnd = 64, kValue = 128;  // of at_
  static constexpr uint32_t kNoLowBits = UINT32_MAX;
  static constexpr uint32_t kMaxBits = 32, kError = 256;  // see read_run()

  // `place`: only its bits of an entry count.
  __device__ __forceinline__ uint32_t look_up(uint32_t window, uint32_t place) const {
    const uint32_t index = __funnelshift_r(window, 0, place >> kShiftAt);  // modulo 32
    return load_shared_word(pairs_ + ((index & ~3u) + (place & kPartMask)));
  }
  __device__ __forceinline__ uint32_t load_place(int run_parameter, int coef_parameter) const {
    return load_shared_word(places_ + 4 * Parts::context(run_parameter, coef_parameter));
  }
  __device__ __forceinline__ uint32_t load_unit(uint32_t place) const {
    return load_shared_word(units_ + ((place & kPartMask) >> (kPartAt - 2)));
  }

  // Those that the table has. False: the one at the window is none or does not fit here. True: the
  // line ends. One branch for both, and the next lookup does not wait for it.
  __device__ __forceinline__ bool read_short_pairs() {
    uint32_t at;
    for (;;) {
      const uint32_t pair = pair_, window = bits_.window_after(pair);
      pair_ = look_up(window, pair);
      const uint32_t bits_at = bits_.begin_drop(pair & 31);
      store();
      at = at_ + (pair >> kMoveAt);
      place_ = load_shared_byte(scan_ + (at - 1));
      coef_ = bytes_of(pair, 0, 0x1110 * (8 + kCoefByte) + kCoefByte);  // and its sign
      if (at > kBlockEnd) break;
      next_place_ = pair;
      at_ = at;
      bits_.end_drop(bits_at, window);
      if (!bits_.has_more()) break;
    }
    keep_in_register(at);  // one way out of the loop
    if (at <= kBlockEnd) return true;
    bits_.take_back();
    store_nothing();
    return false;
  }
  // The pair of `run`, where both codes fit in a window and no block ends: most of those that the
  // table does not have.
  __device__ __forceinline__ bool read_long_pair(const Code& run, uint32_t unit) {
    const uint32_t run_bits = run.bits(), zeros = run.value(bits_.window());
    const uint32_t after = bits_.window_after(run_bits);
    const Code code(after, static_cast<uint32_t>(coef_parameter_of(unit)));
    const uint32_t size_bits = code.bits(), size = code.value(after) + 1;
    const uint32_t bits = run_bits + size_bits + 1, at = at_ + zeros;
    const bool is_long =
        run.is_legal && code.is_legal && bits <= kMaxBits && at < kBlockEnd && size <= INT16_MAX;
    if (!is_long) return false;
    take_coef(at, size, (after << size_bits) >> 31 != 0, apv_run_parameter(zeros), at_ == 1);
    drop(bits);
    return true;
  }
  __device__ __forceinline__ void take_coef(uint32_t at, uint32_t size, bool negative,
                                            int run_parameter, bool is_first) {
    coef_ = negative ? 0 - size : size;
    place_ = load_shared_byte(scan_ + at);
    next_place_ = load_place(run_parameter, apv_coef_parameter(size));
    if (is_first) first_place_ = next_place_;
    at_ = at + 1;
  }
  // Up to 32 bits, and looks up what follows.
  __device__ __forceinline__ void drop(uint32_t bits) {
    const uint32_t window = bits_.clamped_window_after(bits);
    pair_ = look_up(window, next_place_);
    bits_.end_drop(bits_.begin_drop(bits), window);
  }
  // Stores the last coefficient: its place has been loaded together with the pair after it.
  __device__ __forceinline__ void store() const { store_shared_half(block_ + place_, coef_); }
  __device__ __forceinline__ void store_nothing() { place_ = kNoPlace; }

  __device__ __forceinline__ void clear_block() {
    constexpr uint32_t kZeros[4] = {};
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) store_shared(block_ + 16 * i, kZeros);
    store_nothing();
  }
  __device__ __forceinline__ void write_block() {
    auto* const to = reinterpret_cast<uint4*>(blocks_.block());
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) {
      uint32_t words[4];
      load_shared(block_ + 16 * i, words);
      to[i] = make_uint4(words[0], words[1], words[2], words[3]);
    }
    clear_block();
  }

  // A damaged block and all after it are zero.
  __device__ __forceinline__ ApvChainError lose(ApvChainError error) {
    clear_block();
#pragma unroll 1
    do {
      write_block();
    } while (blocks_.advance());
    return error;
  }

  // Each of these returns the bits to drop and, if there is one, kError times an ApvChainError.
  __device__ __forceinline__ uint32_t read_run(const Code& code, uint32_t unit) {
    if (!code.is_legal) return fail(ApvChainError::kCode, 0);
    // Too large where it has too many bits in any case.
    const uint32_t run = code.value(bits_.window()), bits = code.bits();
    if (run > kBlockEnd - at_) return fail(ApvChainError::kRun, bits);
    is_first_ = at_ == 1;
    run_parameter_ = apv_run_parameter(run);
    parameter_ = coef_parameter_of(unit);
    at_ += run;
    if (at_ < kBlockEnd) at_ += kValue;
    return bits;
  }

  // The DC coefficient, or one after its run of so many bits: where both do not fit in a window,
  // the next pass decodes it. One that is too long for any window is read in two parts.
  __device__ __forceinline__ uint32_t read_size(uint32_t window, uint32_t run_bits) {
    uint32_t size, bits;
    if (low_bits_ == kNoLowBits) {
      const Code code(window, static_cast<uint32_t>(parameter_));
      bits = code.bits();
      if (!code.is_legal || bits > 31 - run_bits) {
        if (run_bits > 0) return 0;
        if (!code.is_legal) return fail(ApvChainError::kCode, 0);
        base_ = code.base;
        low_bits_ = code.low;
        return code.prefix;
      }
      size = code.value(window);
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
    take_coef(at, size, negative, run_parameter_, is_first_);
    return bits;
  }
  // Returns the bits of the sign.
  __device__ __forceinline__ uint32_t take_dc(uint32_t size, bool negative) {
    const auto difference = static_cast<int32_t>(size);
    const int32_t dc = dc_ + (negative ? -difference : difference);
    if (dc < INT16_MIN || dc > INT16_MAX) return fail(ApvChainError::kRange, 1);
    dc_ = dc;
    dc_parameter_ = apv_dc_parameter(size);
    coef_ = static_cast<uint32_t>(dc);
    place_ = 0;
    next_place_ = load_unit(first_place_);
    at_ = 1;
    return size != 0 ? 1 : 0;
  }
  __device__ __forceinline__ uint32_t fail(ApvChainError error, uint32_t bits) const {
    return kError * static_cast<uint32_t>(error) + bits;
  }

  SharedAddress pairs_, scan_, places_, units_, block_;
  ChainBits bits_;
  ChainBlocks blocks_;
  uint32_t pair_;  // of the table, at the window
  // The next coefficient; kBlockEnd; or, where its size comes next, kValue and more.
  uint32_t at_ = kValue;
  uint32_t place_ = kNoPlace;  // of the last coefficient, until it is stored
  uint32_t coef_ = 0;
  int32_t dc_ = 0;
  int dc_parameter_ = kApvFirstDcParameter;
  // Of the context of the next pair, and after the first one of a block.
  uint32_t next_place_, first_place_;
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
  __shared__ ChainMemory memory[kApvEntropyWarps][kMaxApvChainsOfWarp];
  fill(tables);
  __syncthreads();
  const ApvEntropyFrame& frame = params.frames[blockIdx.y];
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = blockIdx.x * kApvEntropyWarps + threadIdx.x / 32;
  const uint32_t index = warp * params.chains_of_warp + lane;
  if (lane >= params.chains_of_warp || index >= frame.chain_count) return;
  const ApvChainInfo chain = frame.chains[index];
  const ApvChainError error = Decoder(tables, memory[threadIdx.x / 32][lane], frame, chain).run();
  if (error != ApvChainError::kNone) frame.results[chain.result] = static_cast<uint32_t>(error);
}

}  // namespace cudatransform::cuda
