// The symbols that a JPEG scan of a frame would have, for several sets of tables at once.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One kernel transforms a frame's blocks, a thread each, and another one quantises them with each
// candidate's tables, a thread for a block and a candidate, and counts the symbols in shared
// memory. Levels are never stored.
#include "cuda/dct8x8/decided.cuh"
#include "cuda/ratecontrol/kernels.h"
#include "cuda/ratecontrol/params.h"
#include "jpeg/encode_bits.h"

namespace cudatransform::cuda {
namespace {

// The block that is coded before this one, of the same component; false at the beginning of a
// segment.
__device__ __forceinline__ bool find_before(const JpegScanLayout& scan, const BlockPlace& place,
                                            BlockPlace* before) {
  const uint32_t h = place.component == 0 ? scan.h : 1, v = place.component == 0 ? scan.v : 1;
  const uint32_t mcu_x = uint32_t(place.bx) / h, mcu_y = uint32_t(place.by) / v;
  const uint32_t first = place.component == 0 ? 0 : scan.h * scan.v + uint32_t(place.component) - 1;
  const uint32_t own = (uint32_t(place.by) - mcu_y * v) * h + uint32_t(place.bx) - mcu_x * h;
  const uint32_t mcu = mcu_y * scan.mcus_w + mcu_x;
  const JpegBlockPlace found = jpeg_block_place(scan, mcu * scan.mcu_blocks + first + own);
  *before = {place.component, int(found.before_x), int(found.before_y), true};
  return found.has_before;
}

__device__ __forceinline__ int32_t plain_dc(int32_t level) {
  return clamp_int(level, -kJpegPlainDc - 1, kJpegPlainDc);
}

// Counts in shared memory.
struct Counter {
  uint32_t* counts;
  int last = 0;

  __device__ __forceinline__ void add(uint32_t symbol, uint32_t times = 1) const {
    atomicAdd(&counts[symbol], times);
  }
  // Level `k` in zigzag order, above 0 and in ascending order.
  __device__ __forceinline__ void add_ac(int k, int32_t level) {
    if (level == 0) return;
    const auto run = uint32_t(k - last - 1);
    if (run > 15) add(kJpegLongRun, run >> 4);
    add((run & 15) << 4 | jpeg_bit_width(uint32_t(min(abs(level), kJpegPlainAc))));
    last = k;
  }
  __device__ __forceinline__ void end() const {
    if (last < 63) add(kJpegEndOfBlock);
  }
  __device__ __forceinline__ void add_dc(int32_t difference) const {
    add(kJpegDcSymbols + jpeg_bit_width(uint32_t(abs(difference))));
  }
};

// Dummy blocks have no difference of DC levels and no AC levels.
__device__ __forceinline__ void add_dummies(const RateParams& params, uint32_t* counts) {
  uint32_t dummies = params.layout.blocks;
  for (int c = 0; c < int(params.layout.components); ++c) dummies -= params.frame.planes[c].blocks;
  if (blockIdx.x != 0) return;
  atomicAdd(&counts[kJpegDcSymbols], dummies);
  atomicAdd(&counts[kJpegEndOfBlock], dummies);
}

template <typename M>
__device__ __forceinline__ void transform_blocks(const RateParams& params) {
  const BlockPlace place = place_of_thread(params.frame);
  const PlaneParams& plane = params.frame.planes[place.component];
  typename M::Value v[64];
  load_samples(plane.samples, place, params.frame.peak, v);
  M::forward(v, plane.level_shift);
  uint32_t* to = params.coefficients + size_t{blockIdx.x} * 64 * kFusedThreads + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 64; ++i) to[i * kFusedThreads] = __builtin_bit_cast(uint32_t, v[i]);
}

// What a CTA of kFusedThreads for each candidate shares.
struct alignas(16) RateShared {
  uint32_t coefficients[64 * kFusedThreads];
  ForwardTable tables[kRateCandidates];
  uint32_t counts[kRateCandidates][kJpegSymbols];

  __device__ __forceinline__ void fill(const RateParams& params, int component) {
    const auto* from = reinterpret_cast<const uint4*>(params.coefficients +
                                                      size_t{blockIdx.x} * 64 * kFusedThreads);
    for (unsigned i = threadIdx.x; i < 16 * kFusedThreads; i += blockDim.x)
      reinterpret_cast<uint4*>(coefficients)[i] = from[i];
    for (unsigned i = threadIdx.x; i < 64 * params.candidates; i += blockDim.x) {
      const ForwardTable& own = params.tables[i / 64 * kMaxComponents + uint32_t(component)];
      tables[i / 64].mul[i % 64] = own.mul[i % 64];
      tables[i / 64].half[i % 64] = own.half[i % 64];
    }
    for (unsigned i = threadIdx.x; i < kJpegSymbols * params.candidates; i += blockDim.x)
      counts[i / kJpegSymbols][i % kJpegSymbols] = 0;
  }
};

// The DC coefficient of any block.
__device__ __forceinline__ uint32_t dc_of(const RateParams& params, const BlockPlace& place) {
  const PlaneParams& plane = params.frame.planes[place.component];
  const uint32_t block = uint32_t(place.by) * plane.blocks_w + uint32_t(place.bx);
  return params.coefficients[size_t{plane.first_cta + block / kFusedThreads} * 64 * kFusedThreads +
                             block % kFusedThreads];
}

template <typename M, Quantizer kQuantizer>
__device__ __forceinline__ void count_candidates(const RateParams& params) {
  using Value = typename M::Value;
  __shared__ RateShared shared;
  const unsigned candidate = threadIdx.x / kFusedThreads, block = threadIdx.x % kFusedThreads;
  const BlockPlace place = place_in_cta(params.frame, block);
  shared.fill(params, place.component);
  __syncthreads();
  uint32_t* const counts = shared.counts[candidate];
  const ForwardTable& table = shared.tables[candidate];
  if (block == 0) add_dummies(params, counts);
  if (place.active) {
    const auto value = [&](int i) {
      return __builtin_bit_cast(Value, shared.coefficients[i * kFusedThreads + block]);
    };
    Counter counter = {counts};
#pragma unroll
    for (int k = 1; k < 64; ++k) {
      const int i = natural_of_zigzag(k);
      if constexpr (kQuantizer == Quantizer::kDeadZone)
        counter.add_ac(k, dead_zone_level<M>(value(i), table, i, params.dead_zone));
      else
        counter.add_ac(k, M::template store<int16_t>(value(i), table, i));
    }
    counter.end();
    const auto dc = [&](Value of) { return plain_dc(M::template store<int16_t>(of, table, 0)); };
    BlockPlace before;
    const bool has_before = find_before(params.layout, place, &before);
    counter.add_dc(dc(value(0)) -
                   (has_before ? dc(__builtin_bit_cast(Value, dc_of(params, before))) : 0));
  }
  __syncthreads();
  const uint32_t pair = params.layout.table_pair[place.component];
  for (unsigned i = threadIdx.x; i < kJpegSymbols * params.candidates; i += blockDim.x) {
    const uint32_t count = shared.counts[i / kJpegSymbols][i % kJpegSymbols];
    if (count != 0) atomicAdd(&params.counts[i / kJpegSymbols].of[pair][i % kJpegSymbols], count);
  }
}

}  // namespace

#define CT_TRANSFORM(name, method)                               \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, 8) \
      name(const __grid_constant__ RateParams params) {          \
    transform_blocks<Decided##method>(params);                   \
  }
#define CT_COUNT(name, method, quantizer)                                         \
  extern "C" __global__ void __launch_bounds__(kRateCandidates* kFusedThreads, 3) \
      name(const __grid_constant__ RateParams params) {                           \
    count_candidates<Decided##method, Quantizer::k##quantizer>(params);           \
  }
CT_RATE_TRANSFORM_KERNELS(CT_TRANSFORM)
CT_RATE_COUNT_KERNELS(CT_COUNT)

}  // namespace cudatransform::cuda
