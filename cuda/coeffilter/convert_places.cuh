// Where a thread's two eights of coefficients are, in memory and in the tile of its CTA.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/coeffilter/convert_numbers.cuh"
#include "cuda/coeffilter/params.h"

namespace cudatransform::cuda {

// Of two blocks that are `step` apart, row `v`; in zigzag order, the eight from 8 v on.
struct PlaceInBlocks {
  static constexpr bool kIsOfBand = false;

  int block, v, step;

  __device__ __forceinline__ int block_of(int i) const { return block + i * step; }
  __device__ __forceinline__ int v_of(int) const { return v; }
};

// Of two rows of the tile that are `step` apart, eight blocks.
struct PlaceInBands {
  static constexpr bool kIsOfBand = true;

  int block, v, step;

  __device__ __forceinline__ int block_of(int) const { return block; }
  __device__ __forceinline__ int v_of(int i) const { return v + i * step; }
};

// The two blocks are side by side if their coefficients go through the tile in pairs.
__device__ __forceinline__ PlaceInBlocks place_in_blocks(bool in_pairs) {
  const auto block = static_cast<int>(threadIdx.x / 8), v = static_cast<int>(threadIdx.x % 8);
  if (in_pairs) return {2 * block, v, 1};
  return {block, v, kConvertBlocks / 2};
}
__device__ __forceinline__ PlaceInBands place_in_bands() {
  constexpr unsigned kOfRow = kConvertBlocks / 8;
  return {static_cast<int>(threadIdx.x % kOfRow * 8), static_cast<int>(threadIdx.x / kOfRow), 32};
}

// A component's coefficients from the tile's first block on.
struct Side {
  CoefArrangement arrangement;
  uint8_t* origin;
  CoefSteps steps;
  int32_t count;  // of the tile's blocks, that are there

  template <typename Place>
  __device__ __forceinline__ uint8_t* at(const ConvertParams& params, const Place& place,
                                         int i) const {
    auto lane = static_cast<unsigned>(place.v_of(i));
    if constexpr (Place::kIsOfBand) lane = params.zigzag_of_natural[lane % 8 * 8 + lane / 8];
    return origin + int64_t{place.block_of(i)} * steps.across + lane * steps.lane;
  }

  // Numbers of blocks that are not there are zero.
  template <typename Number, typename Place>
  __device__ __forceinline__ Packed<Number> load(const ConvertParams& params, const Place& place,
                                                 int i) const {
    Packed<Number> eight = {};
    const int there = count - place.block_of(i);
    if (there <= 0) return eight;
    const auto* from = reinterpret_cast<const Number*>(at(params, place, i));
    if constexpr (Place::kIsOfBand) {
      if (there < 8) {
#pragma unroll
        for (int k = 0; k < 8; ++k)
          if (k < there) eight.put(k, from[k]);
        return eight;
      }
    }
    eight.load(from);
    return eight;
  }
  template <typename Number, typename Place>
  __device__ __forceinline__ void store(const ConvertParams& params, const Place& place, int i,
                                        const Packed<Number>& eight) const {
    const int there = count - place.block_of(i);
    if (there <= 0) return;
    auto* to = reinterpret_cast<Number*>(at(params, place, i));
    if constexpr (Place::kIsOfBand) {
      if (there < 8) {
#pragma unroll
        for (int k = 0; k < 8; ++k)
          if (k < there) to[k] = eight.at(k);
        return;
      }
    }
    eight.store(to);
  }
};

}  // namespace cudatransform::cuda
