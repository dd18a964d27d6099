// Parameters of the motion compensation kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/divider.h"
#include "transform/obmc/arithmetic.h"
#include "transform/obmc/obmc.h"

namespace cudatransform::cuda {

// ---- Tuning, measured on sm_90 ----

inline constexpr unsigned kObmcThreads = 256;
inline constexpr int kObmcCtas = 4;  // that an SM should hold

// A warp has 32 lanes of this many neighboring columns, in a group's rows; a CTA has eight warps.
inline constexpr int32_t kObmcColumns = 4;
inline constexpr int32_t kObmcTileColumns = 32 * kObmcColumns;
inline constexpr int32_t kObmcRows = 2;
inline constexpr int32_t kObmcTileGroups = kObmcThreads / 32;
inline constexpr int32_t kObmcTileRows = kObmcRows * kObmcTileGroups;

inline constexpr unsigned kUpsampleThreads = 128;

// A lane of the upsampling kernel for bytes has four columns; those at the sides of a warp only
// help their neighbors.
inline constexpr int32_t kUpsampleOwnLanes = 30;
inline constexpr int32_t kUpsampleTileColumns = kUpsampleOwnLanes * 4;
inline constexpr int32_t kUpsampleRun = 8;  // rows of a warp

// ---- Compensation ----

// A plane of one component: samples of one or two bytes, side by side.
struct ObmcPlaneParams {
  uint8_t* data;
  int64_t pitch;
};

struct ObmcAxisParams {
  ObmcAxis axis;
  Divider by_separation;
  Divider by_ramp;  // the divisor of obmc_window()
};

struct ObmcComponentParams {
  uint32_t first_cta;  // UINT32_MAX: there is no such component
  uint32_t tiles_across;
  int32_t width, height;
  int32_t depth;
  int32_t shift_x, shift_y;  // of vectors
  ObmcAxisParams across, down;
  ObmcPlaneParams samples;
  ObmcPlaneParams residual;  // without data: zero
  ObmcPlaneParams references[kMaxObmcReferences][4];
};

struct ObmcParams {
  ObmcComponentParams components[kMaxComponents];
  const ObmcBlock* blocks;  // null: nothing is predicted
  int32_t precision;
  int32_t weight_bits;
  int32_t weights[kMaxObmcReferences];
};

// ---- Upsampling ----

struct UpsampleComponentParams {
  uint32_t first_cta;  // UINT32_MAX: there is no such component
  uint32_t tiles_across;
  int32_t width, height;
  int32_t depth;
  ObmcPlaneParams planes[4];
};

struct UpsampleParams {
  UpsampleComponentParams components[kMaxComponents];
};

}  // namespace cudatransform::cuda
