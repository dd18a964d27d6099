// The general, the decided and the teaching kernels of the 8x8 DCT, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/dct8x8/general.cu"
#undef CT_KERNEL
#undef CT_FORWARD
#undef CT_INVERSE
#include "cuda/dct8x8/decided.cu"
#include "cuda/dct8x8/teaching.cu"
#include "tests/emulator/run.h"

CT_GENERAL_FORWARD_KERNELS(CT_EMULATE)
CT_GENERAL_INVERSE_KERNELS(CT_EMULATE)
CT_DECIDED_FORWARD_KERNELS(CT_EMULATE)
CT_TEACHING_FORWARD_KERNELS(CT_EMULATE)
CT_TEACHING_INVERSE_KERNELS(CT_EMULATE)
