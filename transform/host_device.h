// The CPU as a Device, and the CPU engine's transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "transform/dct8x8.h"

namespace cudatransform {

// `threads` 0: one per core. Work is finished when a call returns; fences are done.
std::unique_ptr<Device> make_host_device(int threads);

// The CPU engine: Highway (run-time dispatch) for islow, ifast and float, plain C++ for the rest,
// oneTBB over block rows.
const Dct8x8Ops& host_dct8x8_ops();

// The same in portable C++ alone, one block at a time: what the SIMD code is tested against and the
// very arithmetic that the GPU runs.
const Dct8x8Ops& portable_dct8x8_ops();

}  // namespace cudatransform
