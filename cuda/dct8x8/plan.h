// From a job to what kernels are told and to which kernel is told it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/dct8x8/params.h"

namespace cudatransform::cuda {

// Whether the method has a fused kernel; the others run between repack kernels.
bool is_fused(Method method);

// All parameters of a job that validate() has passed. kInvalidArgument where the coefficients are
// not aligned as the CUDA engine needs them. `sums` is device memory.
Status make_params(const Dct8x8Job& job, PictureSums* sums, ForwardParams* params);

// CTAs that a fused kernel needs for the frame, and blocks of all its planes.
uint32_t fused_ctas(const Dct8x8Job& job);
uint32_t total_blocks(const Dct8x8Job& job);

// Vector loads and stores of coefficients are this wide.
inline constexpr uintptr_t kCoefAlignment = 16;
// Whether rows `pitch` bytes apart from `data` on are all aligned.
bool is_aligned(const void* data, ptrdiff_t pitch, uintptr_t alignment);

// n / d as kernels compute it.
Divider make_divider(uint32_t d);

// The general kernel for a job of a fused method: "forward_islow_general_s16" ...
std::string general_kernel_name(const Dct8x8Job& job);

}  // namespace cudatransform::cuda
