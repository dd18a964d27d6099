// From a job to its general or teaching kernel, and to that kernel's parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dct8x8/general_params.h"

namespace cudatransform::cuda {

// All parameters of a job that validate() has passed. kInvalidArgument where the coefficients are
// not aligned as the CUDA engine needs them. `sums` is device memory.
Status make_general_params(const Dct8x8Job& job, PictureSums* sums, ForwardParams* params);

// The launch of the kernel that takes any job of the job's method.
struct GeneralLaunch {
  const char* kernel;
  bool teaches;  // a kernel of teaching.cu, not of general.cu
  uint32_t ctas, threads;
};
GeneralLaunch general_launch(const Dct8x8Job& job);

}  // namespace cudatransform::cuda
