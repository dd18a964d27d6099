// The vector code for a job, chosen by its method.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/simd.h"

namespace cudatransform {

RowFunction simd_row_function(const Dct8x8Job& job) {
  if (job.scale == 8) return nullptr;  // nothing to transform
  switch (job.method) {
    case Method::kIslow:
      return simd_islow_row_function(job);
    case Method::kIfast:
      return simd_ifast_row_function(job);
    case Method::kFloat:
      return simd_float_row_function(job);
    default:
      return nullptr;
  }
}

}  // namespace cudatransform
