// Parameters of the kernels that list the coefficients of a frame and count its candidates'
// symbols.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/dct8x8/params.h"
#include "jpeg/encode_scan.h"

namespace cudatransform::cuda {

inline constexpr unsigned kRateCandidates = 8;

// ---- Tuning, measured on sm_90 ----

inline constexpr unsigned kRateThreads = 256;  // of a CTA that counts
inline constexpr int kRateCtas = 3;            // that an SM should hold
// More CTAs than any device runs together only add their counts more often: four for each of 132
// SMs.
inline constexpr uint32_t kMaxCountCtas = 4 * 132;

// ---- Units ----

// Blocks that follow each other in a component. A warp counts one unit at a time.
inline constexpr unsigned kUnitBlocks = 16;
inline constexpr unsigned kUnitsOfCta = kFusedBlocks / kUnitBlocks;  // that transforms
inline constexpr unsigned kUnitItems = kUnitBlocks * 63;             // there is room for

// The AC coefficients that any candidate may have a quantized coefficient for, block by block and
// in zigzag order, and all DC coefficients. An item is a word or two: see items.cuh.
struct RateLists {
  // Number b of unit u is at kUnitBlocks u + b.
  uint32_t* dc;      // int32_t or float
  uint32_t* before;  // the block of the component that is coded before this one; kNoBlock: none
  uint32_t* sizes;   // items of each unit
  uint32_t* items;   // number i of unit u is at kUnitItems u + i
};
inline constexpr uint32_t kNoBlock = UINT32_MAX;

struct RateTransformParams {
  FrameParams frame;  // of which coefficients are not used
  JpegScanLayout layout;
  RateLists lists;
  uint16_t finest[kMaxComponents][64];  // the least divisors of all candidates, in natural order
  int32_t dead_zone;                    // as in DecidedParams
};

struct RatePlane {
  uint32_t blocks;
  uint32_t pair;  // of tables
  uint32_t first_unit, units;
  uint32_t first_cta, ctas;  // no CTA has units of two planes; UINT32_MAX: no such plane
};

struct RateCountParams {
  RateLists lists;
  RatePlane planes[kMaxComponents];
  uint32_t dummies;          // blocks that fill up MCUs, all of the first component
  JpegSymbolCounts* counts;  // one for each candidate; of zeros, before and afterwards
  uint32_t* finished;        // zero, before and afterwards
  JpegSymbolCounts*
      host_counts;  // where the last CTA writes them, in the host's memory; aligned to 16
  uint32_t candidates;
  int32_t dead_zone;
  // In natural order. Where there are fewer candidates, the last one is repeated.
  uint16_t tables[kRateCandidates][kMaxComponents][64];
};
static_assert(sizeof(RateTransformParams) <= 4096 && sizeof(RateCountParams) <= 4096,
              "kernel parameters of drivers before CUDA 12.1");

}  // namespace cudatransform::cuda
