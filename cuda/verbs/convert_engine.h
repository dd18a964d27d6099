// The CUDA engine's conversions of coefficients, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/verbs/convert.h"

namespace cudatransform {

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_convert_kernels(Device& device);

// Jobs' addresses are device addresses. They and pitches are multiples of 16.
const ConvertOps& cuda_convert_ops();

}  // namespace cudatransform
