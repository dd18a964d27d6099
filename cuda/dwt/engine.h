// The CUDA engine's wavelet transforms, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/dwt/dwt.h"

namespace cudatransform {
namespace cuda {

// Which kernels the levels of a job get; bytes are the same. Others than kAuto are for tests.
enum class DwtKernelChoice {
  kAuto,
  kSeparable,  // as DwtMethod::kSeparableSlab
  kOnePair,    // fused, with one column of each band in a lane, as any width and alignment allows
  kTwoPairs,   // fused, with two where they fit, and none of the fast kernels
  kFourPairs,  // fast kernels with four wherever they fit, and walks of eight, for small levels too
};

}  // namespace cuda

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_dwt_kernels(Device& device);

// Jobs' addresses are device addresses, DwtJob::sums is pinned host memory.
const DwtOps& cuda_dwt_ops(cuda::DwtKernelChoice choice = cuda::DwtKernelChoice::kAuto);

}  // namespace cudatransform
