// From a job to its general or teaching kernel, and to that kernel's parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dct8x8/general_params.h"

namespace cudatransform::cuda {

// All parameters of a job that validate() has passed. kInvalidArgument where the coefficients are
// not aligned as the CUDA engine needs them. `sums` is device memory. Jobs that round take no more
// than params->forward.
Status make_general_params(const Dct8x8Job& job, PictureSums* sums, DecidedParams* params);

// The launch of the kernel that takes any job of the job's method and quantizer.
enum class GeneralFamily { kGeneral, kDecided, kTeaching };  // general.cu, decided.cu, teaching.cu
struct GeneralLaunch {
  const char* kernel;
  GeneralFamily family;
  uint32_t ctas, threads;
};
GeneralLaunch general_launch(const Dct8x8Job& job);

}  // namespace cudatransform::cuda
