// The CUDA engine's rotated and mirrored pixels, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/transpose/transpose.h"

namespace cudatransform {

// Whether the device can run these kernels.
Status probe_cuda_transpose_kernels(Device& device);

// Jobs' addresses are device addresses.
const TransposeOps& cuda_transpose_ops();

}  // namespace cudatransform
