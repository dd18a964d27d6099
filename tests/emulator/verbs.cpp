// The kernels of the verbs on coefficients, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/verbs/flip.cu"
#include "cuda/verbs/quant.cu"
#include "tests/emulator/run.h"

CT_FLIP_KERNELS(CT_EMULATE)
CT_QUANT_KERNELS(CT_EMULATE)
