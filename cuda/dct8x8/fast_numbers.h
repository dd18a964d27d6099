// The fast kernels by number, and the fat binaries that have them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/dct8x8/fast_params.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform::cuda {

class KernelFamily;

const KernelFamily& fast_kernels();

// The number among fast_kernels() of the kernel for a job that fast kernels take, and its image.
uint32_t fast_kernel_number(const Dct8x8Job& job, Planes planes, bool split, bool timed);
const void* fast_image(const Dct8x8Job& job, Planes planes, bool split);

}  // namespace cudatransform::cuda
