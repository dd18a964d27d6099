// Rows of blocks of APV's transforms, in portable C++ or vectors: what the CPU engine calls.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/apv/arithmetic.h"
#include "transform/apv/forward_arithmetic.h"

namespace cudatransform {

// ---- Inverse ----

// Of the 64 coefficients of all blocks of a tile.
struct ApvFactors {
  alignas(64) int32_t factor[64];
  alignas(64) int16_t low[64], high[64];
};

struct ApvBlocks {
  const int16_t* coefs;  // of the first block; the others follow
  const ApvFactors* factors;
  uint16_t* samples;  // of the first block
  ptrdiff_t pitch;    // bytes
  int32_t count;      // whole blocks, side by side
  int depth, shift;
};

using ApvBlocksFunction = void (*)(const ApvBlocks& blocks);

void portable_apv_blocks(const ApvBlocks& blocks);
// The best for this CPU.
ApvBlocksFunction vector_apv_blocks();

// ---- Forward ----

struct ApvForwardRow {
  const uint8_t* samples;  // of the first block
  SampleType type;
  ptrdiff_t pitch;  // bytes
  int32_t count;    // whole blocks, side by side
  int depth, shift;
  const ApvQuantizer* quantizer;  // null: none
  int16_t* coefs;                 // of the first block; the others follow
};

using ApvForwardFunction = void (*)(const ApvForwardRow& row);

void portable_apv_forward(const ApvForwardRow& row);
// The best for this CPU.
ApvForwardFunction vector_apv_forward();

}  // namespace cudatransform
