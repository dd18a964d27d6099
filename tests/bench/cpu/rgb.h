// The CPU engine's RGB, for bench_cpu.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/bench/cpu/frames.h"

namespace cudatransform::bench {

// Registers them; none without libjpeg. As add_dwt_cases().
void add_rgb_cases(const FrameSize& size, const double* seconds, bool* failed);

}  // namespace cudatransform::bench
