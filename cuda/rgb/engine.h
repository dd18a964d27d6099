// The CUDA engine's RGB, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>

#include "transform/rgb/rgb.h"

namespace cudatransform {
namespace cuda {

// Which kernels a job gets; bytes are the same. kGeneral is for tests.
enum class RgbKernelChoice { kAuto, kGeneral };

}  // namespace cuda

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_rgb_kernels(Device& device);

// Jobs' addresses are device addresses.
const RgbOps& cuda_rgb_ops(cuda::RgbKernelChoice choice = cuda::RgbKernelChoice::kAuto);

namespace cuda {
// The same for many jobs, which share launches. Returns immediately; the queue signals when all are
// done.
Status submit_rgb_batch(Device& device, Queue& queue, std::span<const RgbJob> jobs);
}  // namespace cuda

}  // namespace cudatransform
