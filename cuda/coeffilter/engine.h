// The CUDA engine's coefficient filters, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/coeffilter/convert.h"
#include "transform/coeffilter/flip.h"
#include "transform/coeffilter/quant.h"

namespace cudatransform {

// Addresses of jobs are device addresses, RequantJob::sums is pinned host memory. Coefficients and
// pitches are aligned to 16 bytes.
const FlipOps& cuda_flip_ops();
// Whether the device has kernels in this build.
Status probe_cuda_flip_kernels(Device& device);
Status probe_cuda_requant_kernels(Device& device);
const RequantOps& cuda_requant_ops();

// ---- Conversions ----

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_convert_kernels(Device& device);

// Jobs' addresses are device addresses. They and pitches are multiples of 16.
const ConvertOps& cuda_convert_ops();

}  // namespace cudatransform
