// The scaled kernels of the 8x8 DCT, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/dct8x8/scaled.cu"
#include "tests/emulator/run.h"

CT_SCALED_FAST_KERNELS(CT_EMULATE)
CT_SCALED_GENERAL_KERNELS(CT_EMULATE)
CT_SCALED_ZEROS_KERNELS(CT_EMULATE)
