// Where a warp of the fused wavelet kernels works: a strip of columns, a run of rows.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dwt/lift.cuh"
#include "cuda/dwt/params.h"

namespace cudatransform::cuda {

// Where a warp works.
template <Wavelet kWavelet, Direction kDirection, int kPairs>
struct Strip {
  static constexpr Pipeline kSteps = kPipeline<kWavelet, kDirection>;
  static constexpr StripShape kShape = strip_shape(kWavelet, kDirection, kPairs);
  static constexpr int32_t kLanesBefore = kShape.lanes_before;
  static constexpr int32_t kOwnLanes = kShape.own_pairs / kPairs;

  int component;
  int32_t lane;
  int32_t x;           // the lane's first pair, within the bands
  int32_t first, end;  // pairs of rows that the warp writes
  bool exists, own;    // whether the warp has anything to do, and the lane to write
  LaneEdges edges;

  __device__ __forceinline__ explicit Strip(const FusedParams& params) {
    component =
        (blockIdx.x >= params.tiles[1].first_cta) + (blockIdx.x >= params.tiles[2].first_cta);
    const TileParams& tile = params.tiles[component];
    const uint32_t warp = (blockIdx.x - tile.first_cta) * kDwtWarps + threadIdx.x / 32;
    const uint32_t down = warp / tile.tiles_across, across = warp - down * tile.tiles_across;
    lane = static_cast<int32_t>(threadIdx.x % 32);
    const int32_t first_lane = kLanesBefore - static_cast<int32_t>(across) * kOwnLanes;
    const int32_t last_lane = first_lane + tile.pairs_x / kPairs - 1;
    edges = lane_edges(lane, first_lane, last_lane);
    if constexpr (kPairs == 1 || kSteps.before > kPairs || kSteps.after > kPairs) {
      edges.first_lane = max(first_lane, 0);
      edges.last_lane = min(last_lane, 31);
    }
    own = lane >= max(first_lane, kLanesBefore) &&
          lane <= min(last_lane, kLanesBefore + kOwnLanes - 1);
    // Lanes outside of the row read what those at its ends do.
    x = (min(max(lane, first_lane), last_lane) - first_lane) * kPairs;
    first = static_cast<int32_t>(down) * params.run;
    end = min(first + params.run, tile.pairs_y);
    exists = first < tile.pairs_y;
  }
};

}  // namespace cudatransform::cuda
