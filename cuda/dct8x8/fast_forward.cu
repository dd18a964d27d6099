// The fast forward kernels for 16-bit quantized coefficients, one thread per 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: forward_row_short() of transform/dct8x8/simd_short_rows-inl.h.
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {

CT_FAST_FORWARD_KERNELS(CT_FAST_FORWARD)

}  // namespace cudatransform::cuda
