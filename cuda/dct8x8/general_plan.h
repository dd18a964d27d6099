// From a job to what the general, the repack and the teaching kernels are told, and to the general
// kernel that is told it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dct8x8/general_params.h"

namespace cudatransform::cuda {

// All parameters of a job that validate() has passed. kInvalidArgument where the coefficients are
// not aligned as the CUDA engine needs them. `sums` is device memory.
Status make_general_params(const Dct8x8Job& job, PictureSums* sums, ForwardParams* params);

// CTAs of the general kernel for a job.
uint32_t general_ctas(const Dct8x8Job& job);

// The name of the general kernel for a job of a fused method.
const char* general_kernel_name(const Dct8x8Job& job);

}  // namespace cudatransform::cuda
