// The kernels that code JPEG scans, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "cuda/jpeg/encode.cu"
#include "tests/emulator/run.h"

CT_JPEG_ENCODE_KERNELS(CT_EMULATE)
