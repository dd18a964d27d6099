// The CPU engine's 8x8 DCT, on a host device (transform/device/host_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {

// The CPU engine: Highway (run-time dispatch) for islow, ifast and float, plain C++ for the rest,
// oneTBB over block rows.
const Dct8x8Ops& host_dct8x8_ops();

// The same in portable C++ alone, one block at a time: the SIMD code is tested against it. Its
// arithmetic is the GPU's, except for `float` at full size.
const Dct8x8Ops& portable_dct8x8_ops();

}  // namespace cudatransform
