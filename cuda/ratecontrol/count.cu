// The symbols that a JPEG scan of a frame would have, for several sets of tables at once.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A thread transforms a block once and keeps it in registers; then it quantises it with the tables
// of one candidate after the other, and counts the symbols in shared memory. Levels are never
// stored. A block's DC level is coded as the difference to that of another block, whose DC
// coefficient every method has as the sum of its samples.
#include "cuda/dct8x8/decided.cuh"
#include "cuda/ratecontrol/kernels.h"
#include "cuda/ratecontrol/params.h"
#include "jpeg/encode_bits.h"

namespace cudatransform::cuda {
namespace {

__device__ __forceinline__ int32_t sum_of_samples(const SampleParams& plane,
                                                  const BlockPlace& place, int32_t peak) {
  int32_t sum = 0;
  with_container(plane.type, [&](auto container) {
#pragma unroll 1
    for (int y = 0; y < 8; ++y) {
      const uint8_t* row = plane.data + min(8 * place.by + y, plane.rows - 1) * plane.pitch;
#pragma unroll
      for (int x = 0; x < 8; ++x) {
        const int64_t column = int64_t(min(8 * place.bx + x, plane.width - 1)) * plane.stride;
        sum += read_sample<decltype(container)>(row + column, plane.shift, peak);
      }
    }
  });
  return sum;
}

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
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  counts[kJpegDcSymbols] += dummies;
  counts[kJpegEndOfBlock] += dummies;
}

template <typename M, Quantizer kQuantizer>
__device__ __forceinline__ void count_candidates(const RateParams& params) {
  __shared__ uint32_t counts[kJpegSymbols];
  __shared__ ForwardTable table;
  const FrameParams& frame = params.frame;
  const BlockPlace place = place_of_thread(frame);
  const PlaneParams& plane = frame.planes[place.component];
  typename M::Value v[64];
  load_samples(plane.samples, place, frame.peak, v);
  M::forward(v, plane.level_shift);
  BlockPlace before_place;
  const bool has_before = find_before(params.layout, place, &before_place);
  const auto before = typename M::Value(
      has_before ? sum_of_samples(plane.samples, before_place, frame.peak) - 64 * plane.level_shift
                 : 0);
  const uint32_t pair = params.layout.table_pair[place.component];
#pragma unroll 1
  for (uint32_t c = 0; c < params.candidates; ++c) {
    const ForwardTable& own = params.tables[c * kMaxComponents + uint32_t(place.component)];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 64; i += kFusedThreads) {
      table.mul[i] = own.mul[i];
      table.half[i] = own.half[i];
    }
    for (unsigned i = threadIdx.x; i < kJpegSymbols; i += kFusedThreads) counts[i] = 0;
    __syncthreads();
    add_dummies(params, counts);
    Counter counter = {counts};
    if (place.active) {
#pragma unroll
      for (int k = 1; k < 64; ++k) {
        const int i = natural_of_zigzag(k);
        if constexpr (kQuantizer == Quantizer::kDeadZone)
          counter.add_ac(k, dead_zone_level<M>(v[i], table, i, params.dead_zone));
        else
          counter.add_ac(k, M::template store<int16_t>(v[i], table, i));
      }
      counter.end();
      const auto dc = [&](typename M::Value value) {
        return plain_dc(M::template store<int16_t>(value, table, 0));
      };
      counter.add_dc(dc(v[0]) - (has_before ? dc(before) : 0));
    }
    __syncthreads();
    uint32_t* const all = params.counts[c].of[pair];
    for (unsigned i = threadIdx.x; i < kJpegSymbols; i += kFusedThreads)
      if (counts[i] != 0) atomicAdd(&all[i], counts[i]);
  }
}

}  // namespace

#define CT_RATE(name, method, quantizer)                                \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, 8)        \
      name(const __grid_constant__ RateParams params) {                 \
    count_candidates<Decided##method, Quantizer::k##quantizer>(params); \
  }

CT_RATE_KERNELS(CT_RATE)

}  // namespace cudatransform::cuda
