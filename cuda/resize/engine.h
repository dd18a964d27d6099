// The CUDA engine's resampling, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/resize/resize.h"

namespace cudatransform {

namespace cuda {
// For tests, kMany: as for many pictures, three of one shape a CTA; kManyLarge: the same in large
// tiles where they fit; kPasses: each pass by itself, where the others have both in one kernel.
enum class ResizeKernelChoice { kAuto, kMany, kManyLarge, kPasses };
}  // namespace cuda

// Whether the device can run these kernels.
Status probe_cuda_resize_kernels(Device& device);

// Jobs' addresses are device addresses, except tables.
const ResizeOps& cuda_resize_ops(cuda::ResizeKernelChoice choice = cuda::ResizeKernelChoice::kAuto);

}  // namespace cudatransform
