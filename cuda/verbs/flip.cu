// Blocks turned and mirrored, at their new places.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: Flipper of transform/verbs/flip_engine.cpp.
#include "cuda/common/ptx.cuh"
#include "cuda/verbs/kernels.h"
#include "cuda/verbs/verbs.cuh"

namespace cudatransform::cuda {
namespace {

constexpr unsigned kBlocks = kVerbThreads / kVerbLanes;

// Blocks in shared memory. Eight words behind each keep the lanes of a warp, which read columns of
// four blocks, in different banks.
template <typename Word>
struct Stage {
  static constexpr unsigned kStride = 64 + 8;
  alignas(16) Word words[kBlocks][kStride];
};

// A lane's coefficients, in the order of the result.
template <typename Word, FlipWay kWay>
__device__ __forceinline__ Eight<Word> turned(const FlipParams& params, Eight<Word> row,
                                              Stage<Word>& stage, unsigned block, unsigned lane) {
  if constexpr (kWay == FlipWay::kStraight) return row;
  alignas(8) uint8_t places[8] = {};
  if constexpr (kWay == FlipWay::kZigzag)
    std::memcpy(places, as_memory(params.places) + 8 * lane, sizeof places);
  store_eight(&stage.words[block][8 * lane], row);
  __syncwarp();
#pragma unroll
  for (unsigned i = 0; i < 8; ++i)
    row.at[i] = stage.words[block][kWay == FlipWay::kTransposed ? 8 * i + lane : places[i]];
  return row;
}

template <typename Word>
__device__ __forceinline__ void negate(Eight<Word>& row, uint32_t negated, bool is_float) {
  constexpr Word kSign = Word(Word{1} << (8 * sizeof(Word) - 1));
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    const bool minus = (negated >> i & 1) != 0;
    if (is_float)
      row.at[i] ^= minus ? kSign : Word{0};
    else
      row.at[i] = minus ? Word(0 - row.at[i]) : row.at[i];
  }
}

template <typename Word, FlipWay kWay>
__device__ __forceinline__ void flip(const FlipParams& params, Stage<Word>& stage) {
  wait_for_predecessor();
  let_successor_launch();
  const FlipPlaneParams& plane = params.planes[plane_of_cta(params.planes)];
  const uint32_t tile = blockIdx.x - plane.first_cta;
  const uint32_t tile_y = divide(tile, plane.by_across);
  const uint32_t tile_x = (tile - tile_y * plane.across) * kFlipTiles;
  const unsigned block = threadIdx.x / kVerbLanes, lane = threadIdx.x % kVerbLanes;
  const auto x = static_cast<int32_t>(tile_x * kFlipSide + block % kFlipSide);
  const auto y = static_cast<int32_t>(tile_y * kFlipSide + block / kFlipSide);
  const FlipSource row = flip_source(y, plane.place.top, params.mirrors_y, plane.place.mirrored_h);
  FlipSource columns[kFlipTiles];
  bool are_there[kFlipTiles];
  Eight<Word> values[kFlipTiles] = {};
#pragma unroll
  for (int k = 0; k < kFlipTiles; ++k) {
    const int32_t at = x + k * kFlipSide;
    columns[k] = flip_source(at, plane.place.left, params.mirrors_x, plane.place.mirrored_w);
    are_there[k] = at < plane.blocks_w && y < plane.blocks_h;
    if (!are_there[k]) continue;
    values[k] =
        load_eight<Word>(kWay == FlipWay::kStraight
                             ? place_of(plane.from, plane.from_steps, columns[k].at, row.at, lane)
                             : place_of(plane.from, plane.from_steps, row.at, columns[k].at, lane));
  }
#pragma unroll
  for (int k = 0; k < kFlipTiles; ++k) {
    if (k > 0) __syncwarp();
    values[k] = turned<Word, kWay>(params, values[k], stage, block, lane);
    const uint64_t negated = params.negated[columns[k].mirrored][row.mirrored];
    negate(values[k], static_cast<uint32_t>(negated >> (8 * lane)) & 255, params.is_float);
    if (are_there[k])
      store_eight(place_of(plane.to, plane.to_steps, x + k * kFlipSide, y, lane), values[k]);
  }
}

}  // namespace

#define CT_DEFINE_FLIP(name, word, way)                      \
  extern "C" __global__ void __launch_bounds__(kVerbThreads) \
      name(const __grid_constant__ FlipParams params) {      \
    __shared__ Stage<word> stage;                            \
    flip<word, FlipWay::way>(params, stage);                 \
  }
CT_FLIP_KERNELS(CT_DEFINE_FLIP)
#undef CT_DEFINE_FLIP

}  // namespace cudatransform::cuda
