// Entropy coding of APV: the lengths of all blocks, their places, and their bits.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// apv/block_code.h has the arithmetic. A CTA counts a chain, a thread a block: a block depends on
// those before it only by their DC coefficients and the first coefficient of the last one that has
// any, which a scan over the threads finds. The CTA that is last to finish places the chains. Then
// each thread writes its block, and shares only its first and last word with others.
#include "apv/block_code.h"
#include "cuda/apv/kernels.h"
#include "cuda/common/ptx.cuh"
#include "transform/apv/forward_arithmetic.h"

namespace cudatransform::cuda {
namespace {

// A chain: the blocks of a component in a tile.
struct Chain {
  uint32_t component, mb_x, mb_y, mbs_across, mbs_down, mb_blocks_across, blocks_across;

  __device__ __forceinline__ Chain(const ApvCodeParams& params, uint32_t index) {
    const uint32_t tile = index / params.components;
    component = index - tile * params.components;
    const uint32_t row = tile / params.tile_columns, column = tile - row * params.tile_columns;
    mb_x = column * params.tile_mbs_across;
    mb_y = row * params.tile_mbs_down;
    mbs_across = min(params.tile_mbs_across, params.mbs_across - mb_x);
    mbs_down = min(params.tile_mbs_down, params.mbs_down - mb_y);
    const ApvCodePlane& plane = as_memory(params.planes)[component];
    mb_blocks_across = plane.mb_blocks_across;
    blocks_across = plane.blocks_across;
  }
  __device__ __forceinline__ uint32_t blocks() const {
    return mbs_across * mbs_down * mb_blocks_across * 2;
  }
  // The place in the component of block `i` of the chain.
  __device__ __forceinline__ uint32_t place(uint32_t i) const {
    const uint32_t mb = i / (2 * mb_blocks_across), in_mb = i - mb * 2 * mb_blocks_across;
    const uint32_t y = in_mb / mb_blocks_across, x = in_mb - y * mb_blocks_across;
    const uint32_t row = mb / mbs_across, column = mb - row * mbs_across;
    return (2 * (mb_y + row) + y) * blocks_across + (mb_x + column) * mb_blocks_across + x;
  }
};

// The quantized blocks of the threads, two coefficients a word: a thread has a column.
struct Blocks {
  uint32_t words[32][kApvCodeThreads];

  __device__ __forceinline__ int32_t coef(int i) const {
    const uint32_t word = words[i / 2][threadIdx.x];
    return i % 2 != 0 ? static_cast<int32_t>(word) >> 16 : static_cast<int16_t>(word & 0xffff);
  }
};

struct Quantizer {
  uint32_t factors[64];  // in coding order
  uint64_t round;
  int32_t shift;
  bool is_wide;
};

__device__ __forceinline__ void fill(Quantizer& quantizer, const ApvCodePlane& plane, int qp,
                                     int depth) {
  const int shift = apv_quantizer_shift(qp, depth);
  const uint64_t round = apv_quantizer_round(plane.rounding, shift);
  if (threadIdx.x == 0) {
    quantizer.shift = shift;
    quantizer.round = round;
  }
  bool is_wide = false;
  if (threadIdx.x < 64) {
    const uint32_t factor = apv_quantizer_factor(plane.weights[threadIdx.x], qp);
    quantizer.factors[threadIdx.x] = factor;
    is_wide = needs_wide_apv_product(factor, round);
  }
  const bool any = __syncthreads_or(is_wide) != 0;
  if (threadIdx.x == 0) quantizer.is_wide = any;
  __syncthreads();
}

// Quantizes a block to this thread's column; returns which coefficients are not zero.
template <typename T>
__device__ __forceinline__ uint64_t quantize(const int16_t* from, const Quantizer& quantizer,
                                             Blocks& blocks) {
  uint64_t nonzero = 0;
  const T round = static_cast<T>(quantizer.round);
  const int shift = quantizer.shift;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const uint4 four = reinterpret_cast<const uint4*>(from)[i];
    const uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = 8 * i + 2 * k;
      const int32_t low = apv_quantized<T>(static_cast<int16_t>(words[k] & 0xffff),
                                           T{quantizer.factors[at]}, round, shift);
      const int32_t high = apv_quantized<T>(static_cast<int32_t>(words[k]) >> 16,
                                            T{quantizer.factors[at + 1]}, round, shift);
      blocks.words[at / 2][threadIdx.x] =
          (static_cast<uint32_t>(low) & 0xffff) | static_cast<uint32_t>(high) << 16;
      nonzero |= static_cast<uint64_t>((low != 0 ? 1u : 0u) | (high != 0 ? 2u : 0u)) << at;
    }
  }
  return nonzero;
}

__device__ __forceinline__ uint64_t load_block(const int16_t* from, const Quantizer& quantizer,
                                               Blocks& blocks) {
  return quantizer.is_wide ? quantize<uint64_t>(from, quantizer, blocks)
                           : quantize<uint32_t>(from, quantizer, blocks);
}

// The largest of all lower threads' values; `*all` is that of all.
__device__ __forceinline__ uint32_t max_before(uint32_t value, uint32_t (&maxima)[kApvCodeWarps],
                                               uint32_t* all) {
  uint32_t largest = value;
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const uint32_t other = __shfl_up_sync(kAllLanes, largest, distance);
    if (threadIdx.x % 32 >= distance) largest = max(largest, other);
  }
  if (threadIdx.x % 32 == 31) maxima[threadIdx.x / 32] = largest;
  uint32_t before = __shfl_up_sync(kAllLanes, largest, 1u);
  if (threadIdx.x % 32 == 0) before = 0;
  __syncthreads();
  uint32_t total = 0;
#pragma unroll
  for (uint32_t warp = 0; warp < kApvCodeWarps; ++warp) {
    if (warp < threadIdx.x / 32) before = max(before, maxima[warp]);
    total = max(total, maxima[warp]);
  }
  *all = total;
  return before;
}

__device__ __forceinline__ int parameter_of_first(uint64_t nonzero, const Blocks& blocks) {
  const int32_t first = blocks.coef(apv_lowest_bit(nonzero));
  return apv_coef_parameter(static_cast<uint32_t>(abs(first)));
}

struct Counting {
  Blocks blocks;
  Quantizer quantizer;
  int32_t dc[kApvCodeThreads + 2];  // of the two blocks before those of the threads, and of these
  uint32_t sums[kApvCodeWarps], maxima[kApvCodeWarps];
};

// The bits of a chain; store(place, block) gets what is known of each of its blocks.
template <typename Store>
__device__ __forceinline__ uint32_t count_chain(const ApvCodeParams& params, const Chain& chain,
                                                int qp, Counting& shared, const Store& store) {
  constexpr uint32_t kParameterBits = 3;
  const ApvCodePlane& plane = as_memory(params.planes)[chain.component];
  fill(shared.quantizer, plane, qp, params.depth);
  if (threadIdx.x < 2) shared.dc[threadIdx.x] = 0;
  uint32_t bits = 0, coef_parameter = 0;  // of all rounds before
  for (uint32_t first = 0; first < chain.blocks(); first += kApvCodeThreads) {
    const uint32_t i = first + threadIdx.x;
    const bool is_there = i < chain.blocks();
    const uint32_t place = is_there ? chain.place(i) : 0;
    uint64_t nonzero = 0;
    if (is_there)
      nonzero = load_block(plane.coefs + uint64_t{64} * place, shared.quantizer, shared.blocks);
    const int32_t dc = is_there ? shared.blocks.coef(0) : 0;
    nonzero &= ~uint64_t{1};
    shared.dc[threadIdx.x + 2] = dc;
    uint32_t own = 0;
    if (nonzero != 0) {
      own = (threadIdx.x + 1) << kParameterBits |
            static_cast<uint32_t>(parameter_of_first(nonzero, shared.blocks));
    }
    uint32_t last = 0;
    const uint32_t before = max_before(own, shared.maxima, &last);
    ApvCodedBlock block;
    const int32_t previous = shared.dc[threadIdx.x + 1];
    block.difference = dc - previous;
    const auto size = static_cast<uint32_t>(abs(previous - shared.dc[threadIdx.x]));
    block.dc_parameter =
        static_cast<uint8_t>(i == 0 ? kApvFirstDcParameter : apv_dc_parameter(size));
    block.coef_parameter =
        static_cast<uint8_t>(before != 0 ? before & ((1u << kParameterBits) - 1) : coef_parameter);
    uint32_t length = 0;
    if (is_there) {
      length = static_cast<uint32_t>(apv_dc_bits(block.difference, block.dc_parameter).length);
      code_apv_ac(
          ApvComputedCodes(), nonzero, block.coef_parameter,
          [&](int k) { return shared.blocks.coef(k); },
          [&](ApvBits code) { length += static_cast<uint32_t>(code.length); });
    }
    uint32_t all = 0;
    block.bit = bits + sum_before_thread(length, shared.sums, &all);
    if (is_there) store(place, block);
    bits += all;
    if (last != 0) coef_parameter = last & ((1u << kParameterBits) - 1);
    // All threads have read the DC coefficients, before the last barrier.
    if (threadIdx.x >= kApvCodeThreads - 2) shared.dc[threadIdx.x - (kApvCodeThreads - 2)] = dc;
  }
  return bits;
}

// Called by one CTA: where each chain begins in the output.
__device__ __forceinline__ void place_chains(const ApvCodeParams& params,
                                             uint32_t (&sums)[kApvCodeWarps]) {
  uint64_t at = params.begin_bytes;
  for (uint32_t first = 0; first < params.chains; first += kApvCodeThreads) {
    const uint32_t i = first + threadIdx.x;
    const uint32_t header =
        i < params.chains && i % params.components == 0 ? params.tile_header_bytes : 0;
    const uint32_t bytes = i < params.chains ? params.chain_bytes[i] : 0;
    uint32_t all = 0;
    __syncthreads();
    const uint32_t before = sum_before_thread(header + bytes, sums, &all);
    if (i < params.chains) params.positions[i] = static_cast<uint32_t>(at + before + header);
    at += all;
  }
  if (threadIdx.x != 0) return;
  ApvPlaced placed = {};
  placed.size = at;
  placed.fits = at <= params.capacity ? 1 : 0;
  *params.placed = placed;
}

// Writes bits from one of the output on. Of its words the first and the last may have bits of
// other threads.
class WordWriter {
 public:
  __device__ __forceinline__ WordWriter(uint8_t* output, uint64_t bit)
      : at_(reinterpret_cast<uint32_t*>(output) + bit / 32), count_(static_cast<int>(bit % 32)) {}

  __device__ __forceinline__ void put(ApvBits code) {
    if (code.length > 32) {
      put_some({code.bits >> 32, code.length - 32});
      code = {code.bits & 0xffffffffu, 32};
    }
    put_some(code);
  }
  __device__ __forceinline__ void finish() {
    if (count_ > 0) atomicOr(at_, word_of(static_cast<uint32_t>(window_ << (32 - count_))));
  }

 private:
  static __device__ __forceinline__ uint32_t word_of(uint32_t bits) {
    return __byte_perm(bits, 0, 0x0123);
  }
  __device__ __forceinline__ void put_some(ApvBits code) {
    window_ = window_ << code.length | code.bits;
    count_ += code.length;
    if (count_ < 32) return;
    count_ -= 32;
    const uint32_t word = word_of(static_cast<uint32_t>(window_ >> count_));
    if (is_first_)
      atomicOr(at_, word);
    else
      *at_ = word;
    is_first_ = false;
    ++at_;
  }

  uint32_t* at_;
  uint64_t window_ = 0;
  int count_;  // bits of the window that are not written, and those of others before them
  bool is_first_ = true;
};

__device__ __forceinline__ void write_block(const ApvCodeParams& params, const Chain& chain,
                                            uint32_t position, uint32_t place, Blocks& blocks,
                                            const Quantizer& quantizer) {
  const ApvCodePlane& plane = as_memory(params.planes)[chain.component];
  const uint64_t nonzero = load_block(plane.coefs + uint64_t{64} * place, quantizer, blocks);
  const ApvCodedBlock block = params.blocks[plane.first_block + uint64_t{place}];
  WordWriter writer(params.output, 8 * uint64_t{position} + block.bit);
  writer.put(apv_dc_bits(block.difference, block.dc_parameter));
  code_apv_ac(
      ApvComputedCodes(), nonzero & ~uint64_t{1}, block.coef_parameter,
      [&](int k) { return blocks.coef(k); }, [&](ApvBits code) { writer.put(code); });
  writer.finish();
}

}  // namespace

// blockIdx.x: a chain.
extern "C" __global__ void __launch_bounds__(kApvCodeThreads)
    apv_code(const __grid_constant__ ApvCodeParams params) {
  __shared__ Counting shared;
  __shared__ uint32_t is_last;
  const Chain chain(params, blockIdx.x);
  ApvCodedBlock* const blocks =
      params.blocks + as_memory(params.planes)[chain.component].first_block;
  const uint32_t bits =
      count_chain(params, chain, params.qp[0][chain.component], shared,
                  [&](uint32_t place, const ApvCodedBlock& block) { blocks[place] = block; });
  if (threadIdx.x == 0) {
    params.chain_bytes[blockIdx.x] = (bits + 7) / 8;
    __threadfence();
    is_last = atomicAdd(params.coded_chains, 1u) + 1 == params.chains ? 1 : 0;
    __threadfence();
    if (is_last != 0) *params.coded_chains = 0;
  }
  __syncthreads();
  if (is_last != 0) place_chains(params, shared.sums);
}

// blockIdx.x: a chain and a quantization parameter.
extern "C" __global__ void __launch_bounds__(kApvCodeThreads)
    apv_measure(const __grid_constant__ ApvCodeParams params) {
  __shared__ Counting shared;
  const uint32_t of = blockIdx.x / params.chains;
  const Chain chain(params, blockIdx.x - of * params.chains);
  const int qp = as_memory(params.qp)[of][chain.component];
  const uint32_t bits =
      count_chain(params, chain, qp, shared, [](uint32_t, const ApvCodedBlock&) {});
  if (threadIdx.x == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&params.totals[of]),
              static_cast<unsigned long long>((bits + 7) / 8));
}

// blockIdx.x: a chain and a part of its blocks.
extern "C" __global__ void __launch_bounds__(kApvCodeThreads)
    apv_write(const __grid_constant__ ApvCodeParams params) {
  __shared__ Blocks blocks;
  __shared__ Quantizer quantizer;
  if (params.placed->fits == 0) return;
  const uint32_t part = blockIdx.x / params.chains, index = blockIdx.x - part * params.chains;
  const Chain chain(params, index);
  if (part * kApvCodeThreads >= chain.blocks()) return;
  fill(quantizer, as_memory(params.planes)[chain.component], params.qp[0][chain.component],
       params.depth);
  const uint32_t i = part * kApvCodeThreads + threadIdx.x;
  if (i >= chain.blocks()) return;
  write_block(params, chain, params.positions[index], chain.place(i), blocks, quantizer);
}

}  // namespace cudatransform::cuda
