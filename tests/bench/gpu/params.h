// The parameters of streaming kernels and of papers' kernels: plain structs, passed by value.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dct8x8/quantizer.h"

namespace cudatransform::bench {

// Counts of 16-byte units. Tile t reads units t x in_tile .. + in_tile - 1, up to the last one, and
// writes likewise.
struct StreamParams {
  const void* in;
  void* out;
  uint32_t in_units, out_units;
  uint32_t in_tile, out_tile;
  uint32_t tiles;
};

// One plane of whole 8x8 blocks: 8-bit samples, 16-bit coefficients in raster order.
struct PaperParams {
  uint8_t* samples;
  int16_t* coefs;
  float* scratch;        // 64 for each block, where a kernel wants them
  int32_t sample_pitch;  // bytes
  int32_t coef_pitch;    // coefficients, of a row of samples; plane layout
  uint32_t blocks_w;     // blocks lie one behind the other in block layout
  uint32_t blocks;
  ForwardTable forward;  // ifast's
  InverseTable inverse;  // of floats
};

}  // namespace cudatransform::bench
