// The streaming copy that the CPU engine is compared with: the same bytes, and nothing else done.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/bench/cpu/jobs.h"

namespace cudatransform::bench {

// Ordinary stores read each line that they write into the cache first; streamed ones do not, but
// leave nothing there for the next reader.
enum class Stores { kCached, kStreamed };

// Forward: every sample is read and written as 16 bits where the coefficients go. Inverse: every
// coefficient is read and its low 8 bits are written where the samples go.
void run_copy(Threads threads, Stores stores, const FrameSize& size, Direction direction,
              Frame& frame);

}  // namespace cudatransform::bench
