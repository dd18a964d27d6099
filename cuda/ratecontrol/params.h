// Parameters of the kernels that count the symbols of a frame's candidates.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/dct8x8/general_params.h"
#include "jpeg/encode_scan.h"

namespace cudatransform::cuda {

inline constexpr unsigned kRateCandidates = 8;

struct RateParams {
  FrameParams frame;  // of which coefficients are not used
  // Before they are quantised: number i of block b of CTA c is at (64 c + i) kFusedThreads + b.
  uint32_t* coefficients;  // int32_t or float, as the method has them
  JpegScanLayout layout;
  const ForwardTable* tables;  // kMaxComponents for each candidate
  JpegSymbolCounts* counts;    // one for each candidate, of zeros
  uint32_t candidates;
  int32_t dead_zone;  // as in DecidedParams
};
static_assert(sizeof(RateParams) <= 4096, "kernel parameters of drivers before CUDA 12.1");

}  // namespace cudatransform::cuda
