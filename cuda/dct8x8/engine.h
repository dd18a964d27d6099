// The CUDA engine's 8x8 DCT, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>

#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {
namespace cuda {

// Which kernel a job gets. All compute the same values in the same order, so the choice shows in no
// byte; kAuto takes the fastest, the others are for tests and benchmarks.
enum class KernelChoice {
  kAuto,
  kWhole,    // a fast kernel with one thread a block, where the format has one
  kEdged,    // the same, but never one that is for full planes only
  kSplit,    // a split kernel, where the format has one
  kGeneral,  // the general kernel, which takes every format
};

}  // namespace cuda

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_kernels(Device& device);

// Jobs' addresses are device addresses, Dct8x8Job::sums is pinned host memory.
const Dct8x8Ops& cuda_dct8x8_ops(cuda::KernelChoice choice = cuda::KernelChoice::kAuto);

namespace cuda {
// The same for many jobs, which share launches where they are those of JPEG files: islow, 8 bits,
// quantized coefficients in blocks, without measurements. Returns immediately; the queue signals
// when all are done.
Status submit_dct8x8_batch(Device& device, Queue& queue, std::span<const Dct8x8Job> jobs);
}  // namespace cuda

}  // namespace cudatransform
