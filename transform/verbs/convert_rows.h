// The functions on rows of blocks that the CPU engine's conversions are made of.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/verbs/coefs.h"

namespace cudatransform {

// A row of blocks, on one side of a conversion.
struct CoefRow {
  CoefArrangement arrangement;
  uint8_t* data;      // the first coefficient
  ptrdiff_t pitch;    // kPlane: bytes from one row of coefficients to the next
  ptrdiff_t to_band;  // kBand: bytes from one frequency to the next
};

// Converts `blocks` blocks by `divisors`, in natural order, and returns how many numbers it has
// saturated.
using ConvertRow = uint64_t (*)(const CoefRow& from, const CoefRow& to, int32_t blocks,
                                const uint16_t divisors[64]);

// By ConversionNumber, for the CPU at hand.
const ConvertRow* convert_rows();

}  // namespace cudatransform
