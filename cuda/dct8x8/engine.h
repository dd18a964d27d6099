// The CUDA engine's 8x8 DCT, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_kernels(Device& device);

// Jobs' addresses are device addresses, Dct8x8Job::sums is pinned host memory.
const Dct8x8Ops& cuda_dct8x8_ops();

}  // namespace cudatransform
