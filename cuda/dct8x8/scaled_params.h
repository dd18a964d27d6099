// Parameters of the scaled inverse's kernels: plain structs, passed to a kernel by value.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/dct8x8/fast_params.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quantizer.h"

namespace cudatransform::cuda {

// Each thread makes one block of 8/scale x 8/scale samples; all of a CTA's blocks are neighbors in
// one row of blocks.
struct ScaledPlaneParams {
  // Coefficients. Groups of eight are consecutive in every layout.
  const uint8_t* coefs;
  int64_t block_step;  // bytes from a block to its right neighbour
  int64_t row_step;    // bytes from a row of blocks to the next
  int64_t group_step;  // bytes from a group of eight to the block's next
  int32_t blocks_w;
  uint32_t first_cta;     // UINT32_MAX: no such plane
  uint32_t ctas_per_row;  // of blocks

  // Samples.
  uint8_t* samples;
  int64_t pitch;
  int32_t width;
  int32_t rows;    // of the component
  int32_t height;  // in memory: rows x row_repeat, or less
  int32_t row_repeat;
  int32_t stride;
  int32_t shift;
  int32_t level_shift;  // added by the inverse,
  int32_t low, high;    // the range of samples with it,
  int32_t bias;         // and subtracted again after rounding (signed samples)
};

struct ScaledParams {
  ScaledPlaneParams planes[kMaxComponents];
  PictureSums* sums;  // device memory; kMeasureZeros only
  Order order;
  SampleType sample_type;
  // By component.
  InverseTable tables[kMaxComponents];
  FastInverseTable islow_tables[kMaxComponents];  // of the fast islow kernels of 1/2 and 1/4 alone
};
static_assert(sizeof(ScaledParams) <= 4096, "kernel parameters of drivers before CUDA 12.1");

}  // namespace cudatransform::cuda
