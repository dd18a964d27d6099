// Parameters of the kernels that convert coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/divider.h"
#include "cuda/verbs/steps.h"
#include "transform/verbs/coefs.h"

namespace cudatransform::cuda {

// A CTA has a tile: blocks beside each other. Each thread has two eights of their coefficients.
inline constexpr int32_t kConvertBlocks = 64;
inline constexpr unsigned kConvertThreads = kConvertBlocks * 8 / 2;

struct ConvertPlane {
  uint8_t *from, *to;
  VerbSteps from_steps, to_steps;
  int32_t blocks_w, blocks_h;
  uint32_t first;  // of its tiles
  uint32_t across;
  Divider by_across;
};

struct ConvertParams {
  ConvertPlane planes[kMostCoefArrays];
  int32_t components;
  CoefArrangement from, to;
  alignas(16) uint16_t divisors[kMostCoefArrays][64];  // of a component, in natural order
  alignas(16) uint8_t natural_of_zigzag[64];
  alignas(16) uint8_t zigzag_of_natural[64];
  unsigned long long* saturated;  // null: not counted
};

}  // namespace cudatransform::cuda
