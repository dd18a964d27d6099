// The CPU engine's conversions of coefficients, for bench_cpu.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/bench/cpu/frames.h"

namespace cudatransform::bench {

// Registers the cases of one size. `*seconds`, of each case, is known when they run; a case that
// fails sets `*failed`.
void add_convert_cases(const FrameSize& size, const double* seconds, bool* failed);

}  // namespace cudatransform::bench
