// The kernels of motion compensation, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/obmc/compensate_bytes.cu"
#include "cuda/obmc/general.cu"
#include "cuda/obmc/upsample_bytes.cu"
#include "tests/emulator/run.h"

CT_OBMC_BYTES_KERNELS(CT_EMULATE)
CT_OBMC_GENERAL_COMPENSATE_KERNELS(CT_EMULATE)
CT_OBMC_GENERAL_UPSAMPLE_KERNELS(CT_EMULATE)
