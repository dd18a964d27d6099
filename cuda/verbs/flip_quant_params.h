// Parameters of the kernels that flip and requantise coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/divider.h"
#include "cuda/verbs/kernels.h"
#include "cuda/verbs/steps.h"
#include "transform/verbs/flip.h"
#include "transform/verbs/quant.h"

namespace cudatransform::cuda {

// Both kernels: eight lanes a block, each with eight coefficients that follow each other in memory:
// a row of the block, or an eighth of it in zigzag order.
inline constexpr unsigned kVerbThreads = 128;
inline constexpr unsigned kVerbLanes = 8;

// ---- Flips ----

// Blocks of the result that a CTA has, in two tiles beside each other but where planes are turned.
// In planes, pieces of rows are 256 bytes, or 128.
struct FlipShape {
  int32_t width, height;
};
constexpr FlipShape flip_shape(FlipWay way) {
  if (way == FlipWay::kPlane) return {32, 1};
  return way == FlipWay::kTransposedPlane ? FlipShape{8, 8} : FlipShape{8, 4};
}
inline constexpr int32_t kFlipTiles = 2;

struct FlipPlaneParams {
  const uint8_t* from;
  uint8_t* to;
  VerbSteps from_steps, to_steps;
  int32_t blocks_w, blocks_h;
  FlipPlace place;
  uint32_t first_cta;  // UINT32_MAX: no such plane
  uint32_t across;     // CTAs
  Divider by_across;
};

struct FlipParams {
  FlipPlaneParams planes[kMostCoefArrays];
  bool mirrors_x, mirrors_y;
  bool is_float;                  // its sign is a bit
  uint64_t negated[2][2];         // by what is mirrored, x and y; in the order of memory
  alignas(8) uint8_t places[64];  // of transposed coefficients, in zigzag order
};

// ---- Other tables ----

// Blocks that a group of eight lanes takes, each CTA from one component.
inline constexpr int32_t kRequantBlocks = 4;

struct RequantPlaneParams {
  const uint8_t* from;
  uint8_t* to;
  VerbSteps from_steps, to_steps;
  uint32_t blocks, blocks_w;
  Divider by_width;
  uint32_t first_cta;  // UINT32_MAX: no such plane
  // Of RequantEntry, in the order of memory; the rest follows from them.
  uint16_t before[64], after[64];
  uint32_t multiplier[64];
};

struct RequantParams {
  RequantPlaneParams planes[kMostCoefArrays];
  bool are_planes;  // so the rows of a block are apart
  uint32_t measure;
  PictureSums* sums;
};

}  // namespace cudatransform::cuda
