// The kernels of RGB and of range conversions, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/range/expand.cu"
#include "cuda/rgb/forward.cu"
#include "cuda/rgb/general.cu"
#include "cuda/rgb/inverse.cu"
#include "tests/emulator/run.h"

CT_RANGE_KERNELS(CT_EMULATE)
CT_RGB_INVERSE_KERNELS(CT_EMULATE)
CT_RGB_FORWARD_KERNELS(CT_EMULATE)
CT_RGB_GENERAL_KERNELS(CT_EMULATE)
