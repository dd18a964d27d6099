// The blocks of a warp: their places, and each lane's quantized coefficients of them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/jpeg/encode_params.h"

namespace cudatransform::cuda {

// The quantized coefficients of one block. Lane i has those at positions 2i and 2i + 1 in zigzag
// order; lane 0 has the difference of DC quantized coefficients.
struct LaneQcoefs {
  int32_t even, odd;
  // Alike in all lanes.
  uint32_t table_pair;
  bool is_there;  // false after the end of the tile
};

// kBlocksPerWarp blocks of a tile. All loads are in flight when the first block is looked at:
// a block is 128 bytes, which two loads of a warp bring from one line.
class WarpBlocks {
 public:
  __device__ __forceinline__ WarpBlocks(const EncodeParams& params, const JpegTilePlace& tile) {
    const uint32_t lane = threadIdx.x % 32;
    // Each of the first lanes finds a block.
    const uint32_t number = threadIdx.x / 32 * kBlocksPerWarp + lane % kBlocksPerWarp;
    const int16_t* own = nullptr;
    if (number < tile.count) {
      const JpegBlockPlace place = jpeg_block_place(params.layout, tile.first + number);
      state_ = kThere;
      if (params.layout.table_pair[place.component] != 0) state_ |= kSecondPair;
      if (!place.is_dummy) {
        const JpegEncodePlane& plane = params.qcoefs[place.component];
        own = block(plane, place.x, place.y);
        int32_t dc = plain_dc(*own);
        if (place.has_before) dc -= plain_dc(*block(plane, place.before_x, place.before_y));
        state_ |= dc * (1 << kDcAt);
      }
    }
    const uint32_t even = jpeg_natural_index(2 * lane), odd = jpeg_natural_index(2 * lane + 1);
#pragma unroll
    for (uint32_t i = 0; i < kBlocksPerWarp; ++i) {
      const auto at = reinterpret_cast<const int16_t*>(
          __shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(own), i));
      evens_[i] = at == nullptr ? 0 : at[even];
      odds_[i] = at == nullptr ? 0 : at[odd];
    }
  }

  // Block `i`, the same in all lanes.
  __device__ __forceinline__ LaneQcoefs qcoefs(uint32_t i) {
    const int32_t state = __shfl_sync(kAllLanes, state_, i);
    LaneQcoefs qcoefs;
    qcoefs.even = threadIdx.x % 32 == 0 ? state >> kDcAt : evens_[i];
    qcoefs.odd = odds_[i];
    qcoefs.table_pair = (state & kSecondPair) != 0 ? 1 : 0;
    qcoefs.is_there = (state & kThere) != 0;
    if (threadIdx.x % 32 != 0) largest_ = max(largest_, abs(qcoefs.even));
    largest_ = max(largest_, abs(qcoefs.odd));
    return qcoefs;
  }
  // Whether this lane has met quantized coefficients that are not plain. They are coded as others
  // then.
  __device__ __forceinline__ bool found_others() const {
    return found_others_ || largest_ > kJpegPlainAc;
  }

 private:
  static constexpr int32_t kThere = 1, kSecondPair = 2, kDcAt = 8;

  static __device__ __forceinline__ const int16_t* block(const JpegEncodePlane& plane, uint32_t x,
                                                         uint32_t y) {
    const auto* row = reinterpret_cast<const uint8_t*>(plane.data) + int64_t{y} * plane.stride;
    return reinterpret_cast<const int16_t*>(row) + uint64_t{x} * 64;
  }
  __device__ __forceinline__ int32_t plain_dc(int32_t qcoef) {
    const int32_t clamped = max(min(qcoef, kJpegPlainDc), -kJpegPlainDc - 1);
    found_others_ |= clamped != qcoef;
    return clamped;
  }

  int16_t evens_[kBlocksPerWarp], odds_[kBlocksPerWarp];
  int32_t state_ = 0;  // of the block that this lane has found, its difference of DC quantized
                       // coefficients above
  int32_t largest_ = 0;
  bool found_others_ = false;
};

__device__ __forceinline__ JpegLaneSymbols symbols_of(const LaneQcoefs& qcoefs) {
  const uint32_t evens = __ballot_sync(kAllLanes, qcoefs.even != 0);
  const uint32_t odds = __ballot_sync(kAllLanes, qcoefs.odd != 0);
  return jpeg_lane_symbols(threadIdx.x % 32, qcoefs.even, qcoefs.odd, evens, odds, kJpegDcSymbols);
}

}  // namespace cudatransform::cuda
