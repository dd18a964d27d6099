// The fast kernels for planes of whole blocks. They have no code for edges: even where it never
// runs, it makes the compiler's code for the rest slower.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: forward_row_short() and inverse_row_short() of
// transform/dct8x8/simd_short_rows-inl.h.
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/fast_inverse.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {

CT_FAST_FULL_FORWARD_KERNELS(CT_FAST_FORWARD)

CT_FAST_FULL_INVERSE_KERNELS(CT_FAST_INVERSE)

}  // namespace cudatransform::cuda
