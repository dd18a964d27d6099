// The checks of a job that every verb of the CUDA engine makes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/picture_check.h"
#include "transform/verbs/coefs.h"

namespace cudatransform::cuda {

// The kernels load and store 16 bytes at a time, and reach the eight rows of a block of planes by
// 32 bits.
template <typename Job>
Status check_alignment(const Job& job) {
  constexpr uintptr_t kUnit = 16;
  for (int c = 0; c < job.components; ++c)
    for (const CoefArray* array : {&job.from[c], &job.to[c]}) {
      if ((reinterpret_cast<uintptr_t>(array->data) | static_cast<uintptr_t>(array->pitch)) %
              kUnit !=
          0)
        return job_error("coefficients of component " + text(c) +
                         ": the CUDA engine needs address and pitch in multiples of " +
                         text(kUnit));
      if (array->pitch > INT32_MAX / 8)
        return job_error("coefficients of component " + text(c) + ": a pitch of " +
                         text(array->pitch) + " is too large for the CUDA engine, whose most is " +
                         text(INT32_MAX / 8));
    }
  return {};
}

}  // namespace cudatransform::cuda
