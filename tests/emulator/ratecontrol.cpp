// The kernels of rate control, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/ratecontrol/count.cu"
#include "tests/emulator/run.h"

CT_RATE_TRANSFORM_KERNELS(CT_EMULATE)
CT_RATE_COUNT_KERNELS(CT_EMULATE)
