// The CPU as a Device, and the CPU engine's transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {

// `threads` 0: one per core. Work is finished when a call returns; fences are done.
std::unique_ptr<Device> make_host_device(int threads);

// The CPU engine: Highway (run-time dispatch) for islow, ifast and float, plain C++ for the rest,
// oneTBB over block rows.
const Dct8x8Ops& host_dct8x8_ops();

// The same in portable C++ alone, one block at a time: what the SIMD code is tested against and the
// very arithmetic that the GPU runs.
const Dct8x8Ops& portable_dct8x8_ops();

// The instruction sets that host_dct8x8_ops() was compiled for and this CPU has, best first: name
// and Highway's bit for it.
std::vector<std::pair<std::string, int64_t>> host_simd_targets();

// For tests: later jobs of the whole process use only instruction sets in `mask`; 0 lifts the
// restriction. Not to be called while a job runs.
void set_host_simd_targets(int64_t mask);

}  // namespace cudatransform
