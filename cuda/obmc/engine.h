// The CUDA engine's motion compensation, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/obmc/obmc.h"

namespace cudatransform {
namespace cuda {

// Which kernels a job gets; bytes are the same. kGeneral is for tests.
enum class ObmcKernelChoice { kAuto, kGeneral };

}  // namespace cuda

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_obmc_kernels(Device& device);

// Jobs' addresses are device addresses, except the blocks.
const ObmcOps& cuda_obmc_ops(cuda::ObmcKernelChoice choice = cuda::ObmcKernelChoice::kAuto);

}  // namespace cudatransform
