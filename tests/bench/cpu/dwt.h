// The CPU engine's wavelet transforms, for bench_cpu.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/bench/cpu/frames.h"

namespace cudatransform::bench {

// Registers them. `seconds` is how long a case takes, and `failed` becomes true where one fails.
void add_dwt_cases(const FrameSize& size, const double* seconds, bool* failed);

}  // namespace cudatransform::bench
