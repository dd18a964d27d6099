// Parameters of the general and the teaching kernels: plain structs, passed to a kernel by value.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/divider.h"
#include "cuda/dct8x8/tuning.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quantizer.h"

namespace cudatransform::cuda {

struct SampleParams {
  uint8_t* data;
  int64_t pitch;
  int32_t width;
  int32_t rows;    // of the component
  int32_t height;  // in memory: rows x row_repeat, or less
  int32_t stride;
  int32_t shift;
  int32_t bias;  // taken off after rounding: the level shift of signed samples, else 0
  int32_t row_repeat;
  SampleType type;
};

// Groups of eight coefficients are consecutive in every layout: a row of a block, or an eighth of
// its zigzag sequence.
struct CoefParams {
  uint8_t* data;
  int64_t block_step;  // bytes from a block to its right neighbour
  int64_t row_step;    // bytes from a row of blocks to the next
  int64_t group_step;  // bytes from a group of eight to the block's next
};

struct PlaneParams {
  SampleParams samples;
  SampleParams reference;  // inverse with kMeasureSse
  CoefParams coefs;
  uint32_t blocks_w;
  Divider by_blocks_w;
  uint32_t blocks;      // of this plane
  uint32_t first_cta;   // no CTA has blocks of two planes; UINT32_MAX: no such plane
  int32_t level_shift;  // added by the inverse
  int32_t low, high;    // the range of samples that it is added to
};

struct FrameParams {
  PlaneParams planes[kMaxComponents];
  PictureSums* sums;  // device memory
  uint32_t measure;
  CoefType type;
  Order order;
  int32_t peak;  // 2^depth - 1
};

// Tables are by component, not by CoefPlane::table. The forward kernels need the inverse's too when
// they measure.
struct ForwardParams {
  FrameParams frame;
  ForwardTable tables[kMaxComponents];
  InverseTable inverse_tables[kMaxComponents];
};
struct InverseParams {
  FrameParams frame;
  InverseTable tables[kMaxComponents];
};
// Where levels are decided. The tables are islow's for every method: see decision.h.
struct DecidedParams {
  ForwardParams forward;
  int32_t dead_zone;  // thousandths
  uint32_t rd_weight;
  uint32_t chroma;  // a bit for each component
};
inline uint32_t chroma_bits(const Dct8x8Job& job) {
  uint32_t bits = 0;
  for (int c = 0; c < job.components; ++c) bits |= uint32_t(job.coefs[c].chroma) << c;
  return bits;
}
static_assert(sizeof(DecidedParams) <= 4096, "kernel parameters of drivers before CUDA 12.1");

}  // namespace cudatransform::cuda
