// The alignment that a job's coefficients have to have, in words.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8/geometry.h"

#include <string>

namespace cudatransform::cuda {

Status check_coef_alignment(const Dct8x8Job& job, int c) {
  if (is_aligned(job.coefs[c].data, job.coefs[c].pitch, kCoefAlignment)) return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "coefficients of component " + std::to_string(c) +
                           ": the CUDA engine needs address and pitch in multiples of " +
                           std::to_string(kCoefAlignment));
}

}  // namespace cudatransform::cuda
