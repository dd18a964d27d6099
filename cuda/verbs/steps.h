// Where the coefficients of a component lie, eight by eight, in steps of bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/verbs/coefs.h"

namespace cudatransform::cuda {

// From one row of blocks to the next; from one block to the next; from eight coefficients of a
// block that follow each other in memory to its next eight, or in bands from one coefficient of a
// block to the next. Such a step has 31 bits but in bands.
struct VerbSteps {
  int64_t down, lane;
  int32_t across;
};

inline VerbSteps steps_of(const CoefArray& array, CoefNumber number, CoefArrangement lie) {
  const int32_t bytes = bytes_of(number);
  const int64_t pitch = array.pitch;
  if (lie == CoefArrangement::kPlane) return {8 * pitch, pitch, 8 * bytes};
  if (lie == CoefArrangement::kBand) return {pitch, array.blocks_h * pitch, bytes};
  return {pitch, 8 * bytes, 64 * bytes};
}

}  // namespace cudatransform::cuda
