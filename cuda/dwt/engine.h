// The CUDA engine's wavelet transforms, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/dwt/dwt.h"

namespace cudatransform {

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_dwt_kernels(Device& device);

// Jobs' addresses are device addresses, DwtJob::sums is pinned host memory.
const DwtOps& cuda_dwt_ops();

}  // namespace cudatransform
