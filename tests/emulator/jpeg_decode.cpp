// The kernels that decode JPEG scans, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/jpeg/decode.cu"
#include "tests/emulator/run.h"

CT_JPEG_SYNC_KERNELS(CT_EMULATE)
CT_JPEG_WRITE_KERNELS(CT_EMULATE)
