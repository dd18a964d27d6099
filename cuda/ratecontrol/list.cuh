// Transforms a frame, and lists the coefficients that some candidate has a quantized coefficient
// for.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/ratecontrol/items.cuh"
#include "cuda/ratecontrol/params.h"
#include "jpeg/encode_layout.h"

namespace cudatransform::cuda {

// The first item of each block is marked. Of a unit, 16 lanes have a block each.
template <typename Magnitude>
struct ListShared {
  using Item = typename Magnitude::Item;

  Item items[kUnitsOfCta][kUnitItems];

  // Appends the coefficients in `kept`, bit k for that with `magnitudes[k]`. Returns how many the
  // unit has.
  __device__ __forceinline__ uint32_t add(uint64_t kept,
                                          const typename Magnitude::Type* magnitudes) {
    const unsigned lane = threadIdx.x % 32, block = lane % kUnitBlocks;
    const auto own = uint32_t(__popcll(kept));
    uint32_t end = own;
#pragma unroll
    for (unsigned distance = 1; distance < kUnitBlocks; distance *= 2) {
      const uint32_t before = __shfl_up_sync(kAllLanes, end, distance);
      if (block >= distance) end += before;
    }
    Item* const first = items[threadIdx.x / kUnitBlocks] + (end - own);
    Item* to = first;
#pragma unroll
    for (int k = 1; k < 64; ++k)
      if (kept >> k & 1) *to++ = Magnitude::pack(magnitudes[k], k);
    if (own > 0) *first = Magnitude::first_of_block(*first);
    return __shfl_sync(kAllLanes, end, lane | (kUnitBlocks - 1));
  }
  // A warp stores its units, which begin with `unit`.
  __device__ __forceinline__ void store(const RateLists& lists, uint32_t unit, uint32_t size) {
    __syncwarp();
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned u = 0; u < 32 / kUnitBlocks; ++u) {
      const uint32_t count = __shfl_sync(kAllLanes, size, u * kUnitBlocks);
      const Item* const from = items[threadIdx.x / 32 * (32 / kUnitBlocks) + u];
      Item* const to = reinterpret_cast<Item*>(lists.items) + size_t{unit + u} * kUnitItems;
      if (lane == 0) lists.sizes[unit + u] = count;
      for (uint32_t i = lane; i < count; i += 32) to[i] = from[i];
    }
  }
};

// The block that is coded before this one, of the same component; kNoBlock at the beginning of a
// segment.
__device__ __forceinline__ uint32_t block_before(const RateTransformParams& params,
                                                 const BlockPlace& place) {
  const JpegScanLayout& scan = params.layout;
  const uint32_t h = scan.mcu_w[place.component], v = scan.mcu_h[place.component];
  const uint32_t mcu_x = uint32_t(place.bx) / h, mcu_y = uint32_t(place.by) / v;
  const uint32_t first = scan.mcu_first[place.component];
  const uint32_t own = (uint32_t(place.by) - mcu_y * v) * h + uint32_t(place.bx) - mcu_x * h;
  const uint32_t mcu = mcu_y * scan.mcus_w + mcu_x;
  const JpegBlockPlace found = jpeg_block_place(scan, mcu * scan.mcu_blocks + first + own);
  if (!found.has_before) return kNoBlock;
  return found.before_y * params.frame.planes[place.component].blocks_w + found.before_x;
}

// load_samples(), with a load for each row of eight bytes where it is one in memory.
template <typename Value>
__device__ __forceinline__ void load_block(const SampleParams& plane, const BlockPlace& place,
                                           int32_t peak, Value* v) {
  const bool are_words = plane.type == SampleType::kU8 && plane.stride == 1 &&
                         (reinterpret_cast<uintptr_t>(plane.data) | uint64_t(plane.pitch)) % 8 == 0;
  if (!are_words || 8 * place.bx + 8 > plane.width) {
    load_samples(plane, place, peak, v);
    return;
  }
  const uint8_t* const column = plane.data + 8 * place.bx;
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    const auto row = *reinterpret_cast<const uint2*>(
        column + min(8 * place.by + y, plane.rows - 1) * plane.pitch);
#pragma unroll
    for (int x = 0; x < 8; ++x)
      v[8 * y + x] = Value((x < 4 ? row.x : row.y) >> (8 * (x % 4)) & 255);
  }
}

template <typename M, Quantizer kQuantizer>
__device__ __forceinline__ void list_coefficients(const RateTransformParams& params) {
  using Method = RateMethod<M, kQuantizer>;
  __shared__ ListShared<typename Method::Magnitude> shared;
  __shared__ typename Method::Magnitude::Type least[64];
  let_successor_launch();  // it waits for the end before it reads anything
  const BlockPlace place = place_of_thread(params.frame);
  const PlaneParams& plane = params.frame.planes[place.component];
  for (unsigned k = threadIdx.x; k < 64; k += blockDim.x) {
    const int i = natural_of_zigzag(int(k));
    least[k] = Method::least(
        Method::divisor(as_memory(params.finest[place.component])[i], i, params.dead_zone));
  }
  wait_for_predecessor();
  typename M::Value v[64];
  load_block(plane.samples, place, params.frame.peak, v);
  M::forward(v, plane.level_shift);
  const uint32_t number = blockIdx.x * kFusedBlocks + threadIdx.x;
  params.lists.dc[number] = __builtin_bit_cast(uint32_t, v[0]);
  params.lists.before[number] = block_before(params, place);
  __syncthreads();
  typename Method::Magnitude::Type magnitudes[64];
  uint64_t kept = 0;
#pragma unroll
  for (int k = 1; k < 64; ++k) {
    const int i = natural_of_zigzag(k);
    magnitudes[k] = Method::magnitude(v[i], i);
    kept |= uint64_t{magnitudes[k] >= least[k]} << k;
  }
  if (!place.active) kept = 0;
  const uint32_t size = shared.add(kept, magnitudes);
  shared.store(params.lists, blockIdx.x * kUnitsOfCta + threadIdx.x / 32 * (32 / kUnitBlocks),
               size);
}

}  // namespace cudatransform::cuda
