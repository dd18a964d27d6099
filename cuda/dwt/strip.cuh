// The place of a warp in the fused wavelet kernels: a strip of columns, a run of rows.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dwt/lift.cuh"
#include "cuda/dwt/params.h"

namespace cudatransform::cuda {

// The place of a warp.
template <Wavelet kWavelet, Direction kDirection, int kPairs,
          StripShape kOfShape = strip_shape(kWavelet, kDirection, kPairs)>
struct Strip {
  static constexpr Pipeline kSteps = kPipeline<kWavelet, kDirection>;
  static constexpr StripShape kShape = kOfShape;
  static constexpr int32_t kLanesBefore = kShape.lanes_before;
  static constexpr int32_t kOwnLanes = kShape.own_pairs / kPairs;

  int component;
  int32_t lane;
  int32_t begin;       // the first pair that the warp writes, a multiple of kPairs
  int32_t x;           // the lane's first pair, within the bands
  int32_t first, end;  // pairs of rows that the warp writes
  bool exists, own;    // whether the warp has anything to do, and the lane to write
  LaneEdges edges;

  // The place of a warp of CTA `block`.
  __device__ __forceinline__ Strip(const FusedParams& params, uint32_t block) {
    component = (block >= params.tiles[1].first_cta) + (block >= params.tiles[2].first_cta);
    const TileParams& tile = params.tiles[component];
    // By this shuffle the compiler knows that a warp's lanes stay together, and makes no second
    // copy of the others for lanes that are apart.
    uint32_t warp = __shfl_sync(kAllLanes, threadIdx.x / 32, 0);
    warp += (block - tile.first_cta) * kDwtWarps;
    const uint32_t down = warp / tile.tiles_across, across = warp - down * tile.tiles_across;
    first = static_cast<int32_t>(down) * params.run;
    end = min(first + params.run, tile.pairs_y);
    exists = first < tile.pairs_y;
    place(tile, static_cast<int32_t>(across) * kShape.own_pairs, tile.pairs_x);
  }
  // A part of a strip with more pairs a lane: from `begin` to below `limit`.
  template <typename Wide>
  __device__ __forceinline__ Strip(const TileParams& tile, const Wide& wide, int32_t begin,
                                   int32_t limit)
      : component(wide.component), first(wide.first), end(wide.end), exists(wide.exists) {
    place(tile, begin, limit);
  }

 private:
  __device__ __forceinline__ void place(const TileParams& tile, int32_t from, int32_t limit) {
    begin = from;
    lane = static_cast<int32_t>(threadIdx.x % 32);
    const int32_t first_lane = kLanesBefore - begin / kPairs;
    const int32_t last_lane = first_lane + tile.pairs_x / kPairs - 1;
    edges = lane_edges(lane, first_lane, last_lane);
    if constexpr (kPairs == 1 || kSteps.before > kPairs || kSteps.after > kPairs) {
      edges.first_lane = max(first_lane, 0);
      edges.last_lane = min(last_lane, 31);
    }
    // Lanes outside of the row read the values of those at its ends.
    x = (min(max(lane, first_lane), last_lane) - first_lane) * kPairs;
    own = lane >= max(first_lane, kLanesBefore) &&
          lane <= min(last_lane, kLanesBefore + kOwnLanes - 1) && x < limit;
  }
};

}  // namespace cudatransform::cuda
