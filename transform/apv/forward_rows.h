// Rows of blocks of APV's forward transform, in portable C++ or vectors: what the CPU engine calls.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/apv/forward_arithmetic.h"

namespace cudatransform {

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
