// Parameters of the kernels of coefficient filters, and the places of their coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/coeffilter/kernels.h"
#include "cuda/common/divider.h"
#include "transform/coeffilter/coefs.h"
#include "transform/coeffilter/flip.h"
#include "transform/coeffilter/quant.h"

namespace cudatransform::cuda {

// ---- Places: eight coefficients by eight, in steps of bytes ----

// From one row of blocks to the next; from one block to the next; from eight coefficients of a
// block that follow each other in memory to its next eight, or in bands from one coefficient of a
// block to the next. Such a step has 31 bits but in bands.
struct CoefSteps {
  int64_t down, lane;
  int32_t across;
};

inline CoefSteps steps_of(const CoefArray& array, CoefNumber number, CoefArrangement lie) {
  const int32_t bytes = bytes_of(number);
  const int64_t pitch = array.pitch;
  if (lie == CoefArrangement::kPlane) return {8 * pitch, pitch, 8 * bytes};
  if (lie == CoefArrangement::kBand) return {pitch, array.blocks_h * pitch, bytes};
  return {pitch, 8 * bytes, 64 * bytes};
}

// ---- Conversions ----

// A CTA has a tile: blocks side by side. Each thread has two eights of their coefficients.
inline constexpr int32_t kConvertBlocks = 64;
inline constexpr unsigned kConvertThreads = kConvertBlocks * 8 / 2;

struct ConvertPlane {
  uint8_t *from, *to;
  CoefSteps from_steps, to_steps;
  int32_t blocks_w, blocks_h;
  uint32_t first;  // of its tiles
  uint32_t across;
  Divider by_across;
};

struct ConvertParams {
  ConvertPlane planes[kMaxCoefArrays];
  int32_t components;
  CoefArrangement from, to;
  alignas(16) uint16_t divisors[kMaxCoefArrays][64];  // of a component, in natural order
  alignas(16) uint8_t natural_of_zigzag[64];
  alignas(16) uint8_t zigzag_of_natural[64];
  unsigned long long* saturated;  // null: not counted
};

// ---- Flips and other tables ----

// Both kernels: eight lanes a block, each with eight coefficients that follow each other in memory:
// a row of the block, or an eighth of it in zigzag order.
inline constexpr unsigned kCoefThreads = 128;
inline constexpr unsigned kCoefLanes = 8;

// ---- Flips ----

// Blocks of the result that a CTA has, in two tiles side by side except where planes are
// transposed. In planes, chunks of rows are 256 bytes, or 128.
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
  CoefSteps from_steps, to_steps;
  int32_t blocks_w, blocks_h;
  FlipPlace place;
  uint32_t first_cta;  // UINT32_MAX: no such plane
  uint32_t across;     // CTAs
  Divider by_across;
};

struct FlipParams {
  FlipPlaneParams planes[kMaxCoefArrays];
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
  CoefSteps from_steps, to_steps;
  uint32_t blocks, blocks_w;
  Divider by_width;
  uint32_t first_cta;  // UINT32_MAX: no such plane
  // Of RequantEntry, in the order of memory; the rest follows from them.
  uint16_t before[64], after[64];
  uint32_t multiplier[64];
};

struct RequantParams {
  RequantPlaneParams planes[kMaxCoefArrays];
  bool are_planes;  // so the rows of a block are apart
  uint32_t measure;
  PictureSums* sums;
};

}  // namespace cudatransform::cuda
