// The levels of fast.cuh with two values in each word, where no value is too large for it.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A walk checks all that it reads. When a warp has seen a value outside of the limit, it walks
// again, over half as many columns at a time and with a value in each word, and rewrites
// everything, to the same memory; nothing that it reads has been changed.
#pragma once

#include "cuda/dwt/eights_forward.cuh"
#include "cuda/dwt/eights_inverse.cuh"
#include "cuda/dwt/fast.cuh"
#include "cuda/dwt/float_levels.cuh"
#include "cuda/dwt/packed_forward.cuh"
#include "cuda/dwt/packed_inverse.cuh"

namespace cudatransform::cuda {

// Walks a strip with a value in each word, two pairs a lane. It recomputes its place each time, and
// the compiler must not know that the place is the same: otherwise it would keep it in registers
// across all walks, where it is seldom needed.
template <Wavelet kWavelet, Direction kDirection, bool kAtSamples, typename Wide>
__device__ __forceinline__ void walk_values(const FusedParams& params) {
  using Level = FastLevel<kWavelet, kDirection, 2, kAtSamples>;
  using Narrow = typename Level::Place;
#pragma unroll 1
  for (int32_t done = 0; done < Wide::kShape.own_pairs; done += Narrow::kShape.own_pairs) {
    uint32_t block = blockIdx.x;
    keep_in_register(block);
    const Wide wide(params, block);
    const TileParams& tile = params.tiles[wide.component];
    const int32_t limit = min(wide.begin + Wide::kShape.own_pairs, tile.pairs_x);
    if (wide.begin + done >= limit) return;
    const Narrow place(tile, wide, wide.begin + done, limit);
    Level level(params, place);
    walk_strip(level);
  }
}

template <Wavelet kWavelet, Direction kDirection, int kPairs, bool kAtSamples>
__device__ __forceinline__ void transform_level_fast(const FusedParams& params) {
  if constexpr (lifts_lanes(kWavelet)) {
    using Inverse = PackedInverse<kWavelet, kPairs, kAtSamples>;
    using Forward = PackedForward<kWavelet, kPairs, kAtSamples>;
    using Level = std::conditional_t<kDirection == Direction::kInverse, Inverse, Forward>;
    const typename Level::Place place(params, blockIdx.x);
    begin_level(params);
    if (!place.exists) return;
    if (params.packs != 0) {
      Level level(params, place);
      walk_strip(level);
      if constexpr (Level::kCopies) wait_for_copies<0>();  // none is in flight when the warp ends
      // Orders the lanes' earlier writes before the later ones of other lanes.
      if (__any_sync(kAllLanes, level.is_outside()) == 0) return;
    }
    walk_values<kWavelet, kDirection, kAtSamples, typename Level::Place>(params);
  } else if constexpr (has_eight_taps(kWavelet)) {
    using Inverse = EightTapInverse<kWavelet, kPairs, kAtSamples>;
    using Forward = EightTapForward<kWavelet, kPairs, kAtSamples>;
    transform_eight_taps<std::conditional_t<kDirection == Direction::kInverse, Inverse, Forward>>(
        params);
  } else {
    using Level = FloatLevel<kWavelet, kDirection, kPairs, kAtSamples>;
    const typename Level::Place place(params, blockIdx.x);
    begin_level(params);
    if (!place.exists) return;
    Level level(params, place);
    walk_strip(level);
  }
}

}  // namespace cudatransform::cuda
