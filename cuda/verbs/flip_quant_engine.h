// Flips and other tables on the CUDA engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/verbs/flip.h"
#include "transform/verbs/quant.h"

namespace cudatransform {

// Addresses of jobs are device addresses, RequantJob::sums is pinned host memory. Coefficients and
// pitches are aligned to 16 bytes.
const FlipOps& cuda_flip_ops();
// Whether the device has kernels in this build.
Status probe_cuda_flip_kernels(Device& device);
Status probe_cuda_requant_kernels(Device& device);
const RequantOps& cuda_requant_ops();

}  // namespace cudatransform
