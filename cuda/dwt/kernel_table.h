// Which number and which image a wavelet kernel has.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/device/kernel_family.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::cuda {

// The words are those of kernels.h. The fast kernels have values on both sides, or samples.
enum class KernelKind { kRows, kColumns, kFused, kFastValues, kFastSamples, kTwoLevels };

const KernelFamily& dwt_kernels();

// The number within dwt_kernels(); their count, where there is no such kernel. haar-shift has
// haar's. Passes have one pair.
uint32_t dwt_kernel_number(KernelKind kind, Wavelet wavelet, Direction direction, int coef_bytes,
                           int pairs);

bool has_two_level_kernel(Wavelet wavelet);

// The fat binary that has it.
const void* dwt_image(KernelKind kind, Direction direction);

}  // namespace cudatransform::cuda
