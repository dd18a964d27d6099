// The kernels that convert coefficients, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/verbs/convert.cu"
#include "tests/emulator/run.h"

#define CT_EMULATE_CONVERSION(name, From, To) CT_EMULATE(convert_##name)
CT_CONVERT_KERNELS(CT_EMULATE_CONVERSION)
