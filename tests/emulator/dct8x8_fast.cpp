// The fast kernels of the 8x8 DCT, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/dct8x8/fast_forward.cu"
#undef CT_KERNEL
#include "cuda/dct8x8/fast_decided.cu"
#undef CT_KERNEL
#include "cuda/dct8x8/fast_inverse.cu"
#undef CT_KERNEL
#include "cuda/dct8x8/fast_full.cu"
#undef CT_FORWARD
#undef CT_INVERSE
#include "cuda/dct8x8/fast_wide.cu"
#undef CT_FORWARD
#undef CT_INVERSE
#include "cuda/dct8x8/fast_split.cu"
#include "tests/emulator/run.h"

CT_FAST_FORWARD_KERNELS(CT_EMULATE)
CT_FAST_DECIDED_FORWARD_KERNELS(CT_EMULATE)
CT_FAST_INVERSE_KERNELS(CT_EMULATE)
CT_FAST_FULL_FORWARD_KERNELS(CT_EMULATE)
CT_FAST_FULL_INVERSE_KERNELS(CT_EMULATE)
CT_FAST_WIDE_FORWARD_KERNELS(CT_EMULATE)
CT_FAST_WIDE_INVERSE_KERNELS(CT_EMULATE)
CT_FAST_SPLIT_FORWARD_KERNELS(CT_EMULATE)
CT_FAST_SPLIT_INVERSE_KERNELS(CT_EMULATE)
CT_FAST_SPLIT_PLANE_KERNELS(CT_EMULATE)
