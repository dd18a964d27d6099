// The kernels for Dirac alone, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/dirac/expand.cu"
#include "cuda/dirac/slices.cu"
#include "cuda/dirac/store.cu"
#include "tests/emulator/run.h"

CT_DIRAC_EXPAND_KERNELS(CT_EMULATE)
CT_DIRAC_STORE_KERNELS(CT_EMULATE)
CT_DIRAC_SLICE_KERNELS(CT_EMULATE)
CT_DIRAC_PREDICT_KERNELS(CT_EMULATE)
