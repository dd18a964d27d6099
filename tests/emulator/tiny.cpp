// The tiny transform's kernel, for the emulator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include "tests/emulator/run.h"
#include "tests/tiny/tiny.cu"

namespace cudatransform::cuda {
using ::tiny_xor;
}
CT_EMULATE(tiny_xor)
