// Transposes and mirrors blocks, and moves them to their new places.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: Flipper of transform/coeffilter/flip.cpp.
#include "cuda/coeffilter/coeffilter.cuh"
#include "cuda/coeffilter/kernels.h"
#include "cuda/common/ptx.cuh"

namespace cudatransform::cuda {
namespace {

constexpr unsigned kBlocks = kCoefThreads / kCoefLanes;

// Blocks in shared memory. Eight words after each keep the lanes of a warp, which read columns of
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
  if constexpr (kWay == FlipWay::kStraight || kWay == FlipWay::kPlane) return row;
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
__device__ __forceinline__ void flip_blocks(const FlipParams& params, Stage<Word>& stage) {
  wait_for_predecessor();
  let_successor_launch();
  const FlipPlaneParams& plane = params.planes[plane_of_cta(params.planes)];
  const uint32_t tile = blockIdx.x - plane.first_cta;
  const uint32_t tile_y = divide(tile, plane.by_across);
  const uint32_t tile_x = (tile - tile_y * plane.across) * kFlipTiles;
  // In planes a warp has two rows of all blocks of a tile, else all rows of a quarter of them.
  constexpr bool kPlane = kWay == FlipWay::kPlane;
  constexpr int32_t kWidth = flip_shape(kWay).width / kFlipTiles, kHeight = flip_shape(kWay).height;
  const unsigned block = kPlane ? threadIdx.x % kBlocks : threadIdx.x / kCoefLanes;
  const unsigned lane = kPlane ? threadIdx.x / kBlocks : threadIdx.x % kCoefLanes;
  const auto x = static_cast<int32_t>(tile_x * kWidth + block % kWidth);
  const auto y = static_cast<int32_t>(tile_y * kHeight + block / kWidth);
  const FlipSource row = flip_source(y, plane.place.top, params.mirrors_y, plane.place.mirrored_h);
  FlipSource columns[kFlipTiles];
  bool are_there[kFlipTiles];
  Eight<Word> values[kFlipTiles] = {};
#pragma unroll
  for (int k = 0; k < kFlipTiles; ++k) {
    const int32_t at = x + k * kWidth;
    columns[k] = flip_source(at, plane.place.left, params.mirrors_x, plane.place.mirrored_w);
    are_there[k] = at < plane.blocks_w && y < plane.blocks_h;
    if (!are_there[k]) continue;
    values[k] =
        load_eight<Word>(kWay == FlipWay::kStraight || kPlane
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
      store_eight(place_of(plane.to, plane.to_steps, x + k * kWidth, y, lane), values[k]);
  }
}

// A tile of blocks, column by column of the result. Eight words after each block and each column
// keep lanes that have rows of a column's blocks, or columns of a row's, in different banks.
constexpr unsigned kTurnSide = flip_shape(FlipWay::kTransposedPlane).width;
template <typename Word>
struct PlaneStage {
  static constexpr unsigned kBlock = 64 + 8, kColumn = kTurnSide * kBlock + 8;
  alignas(16) Word words[kTurnSide][kColumn];
};

// Planes: neighbors in a row are loaded and stored together, so a row goes to other warps.
template <typename Word>
__device__ __forceinline__ void turn_plane(const FlipParams& params, PlaneStage<Word>& stage) {
  constexpr unsigned kSide = kTurnSide, kApart = kCoefThreads / (kSide * kCoefLanes);
  constexpr unsigned kSteps = kSide / kApart, kBlock = PlaneStage<Word>::kBlock;
  wait_for_predecessor();
  let_successor_launch();
  const FlipPlaneParams& plane = params.planes[plane_of_cta(params.planes)];
  const uint32_t tile = blockIdx.x - plane.first_cta;
  const uint32_t tile_y = divide(tile, plane.by_across);
  const auto left = static_cast<int32_t>((tile - tile_y * plane.across) * kSide);
  const auto top = static_cast<int32_t>(tile_y * kSide);
  const auto near = static_cast<int32_t>(threadIdx.x % kSide);
  const unsigned row = threadIdx.x / kSide % kCoefLanes;
  const auto far_of = [](unsigned k) {
    return static_cast<int32_t>(threadIdx.x / (kSide * kCoefLanes) + k * kApart);
  };
  const auto column_of = [&](int32_t x) {
    return flip_source(x, plane.place.left, params.mirrors_x, plane.place.mirrored_w);
  };
  const auto row_of = [&](int32_t y) {
    return flip_source(y, plane.place.top, params.mirrors_y, plane.place.mirrored_h);
  };
  Eight<Word> values[kSteps] = {};
#pragma unroll
  for (unsigned k = 0; k < kSteps; ++k) {
    const int32_t x = left + far_of(k), y = top + near;
    if (x < plane.blocks_w && y < plane.blocks_h)
      values[k] = load_eight<Word>(
          place_of(plane.from, plane.from_steps, row_of(y).at, column_of(x).at, row));
  }
#pragma unroll
  for (unsigned k = 0; k < kSteps; ++k)
    store_eight(&stage.words[far_of(k)][kBlock * near + 8 * row], values[k]);
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < kSteps; ++k) {
    const int32_t x = left + near, y = top + far_of(k);
    if (x >= plane.blocks_w || y >= plane.blocks_h) continue;
    Eight<Word> turned;
#pragma unroll
    for (unsigned i = 0; i < 8; ++i)
      turned.at[i] = stage.words[near][kBlock * far_of(k) + 8 * i + row];
    const uint64_t negated = params.negated[column_of(x).mirrored][row_of(y).mirrored];
    negate(turned, static_cast<uint32_t>(negated >> (8 * row)) & 255, params.is_float);
    store_eight(place_of(plane.to, plane.to_steps, x, y, row), turned);
  }
}

template <typename Word, FlipWay kWay>
__device__ __forceinline__ void flip(const FlipParams& params) {
  if constexpr (kWay == FlipWay::kTransposedPlane) {
    __shared__ PlaneStage<Word> stage;
    turn_plane(params, stage);
  } else {
    __shared__ Stage<Word> stage;
    flip_blocks<Word, kWay>(params, stage);
  }
}

}  // namespace

#define CT_DEFINE_FLIP(name, word, way)                      \
  extern "C" __global__ void __launch_bounds__(kCoefThreads) \
      name(const __grid_constant__ FlipParams params) {      \
    flip<word, FlipWay::way>(params);                        \
  }
CT_FLIP_KERNELS(CT_DEFINE_FLIP)
#undef CT_DEFINE_FLIP

}  // namespace cudatransform::cuda
