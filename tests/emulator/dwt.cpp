// The wavelets' kernels, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/dwt/fast_forward.cu"
#undef CT_KERNEL
#include "cuda/dwt/fast_inverse.cu"
#undef CT_KERNEL
#include "cuda/dwt/fused_forward.cu"
#undef CT_KERNEL
#include "cuda/dwt/fused_inverse.cu"
#undef CT_KERNEL
#include "cuda/dwt/separable.cu"
#include "tests/emulator/run.h"

CT_DWT_FAST_FORWARD_KERNELS(CT_EMULATE)
CT_DWT_FAST_INVERSE_KERNELS(CT_EMULATE)
CT_DWT_TWO_LEVELS_KERNELS(CT_EMULATE)
CT_DWT_FUSED_FORWARD_KERNELS(CT_EMULATE)
CT_DWT_FUSED_INVERSE_KERNELS(CT_EMULATE)
CT_DWT_PASS_KERNELS(CT_EMULATE)
