// FFmpeg's public AVDCT as a whole job: its transforms, and plain loops for what it leaves out.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/bench/cpu/jobs.h"

namespace cudatransform::bench {

// In which order the inverse finds its coefficients: raster as the engine's, so that a loop has to
// permute them, or as AVDCT's inverse wants them, which a decoder gets for nothing while it parses.
enum class AvdctOrder { kRaster, kOwn };

// "59.37.100", or "" where the benchmark was built without libavcodec: then nothing below may be
// called.
std::string avdct_version();

// Where AVDCT's inverse wants the coefficient of natural index i.
const uint8_t* avdct_permutation();

// "" or how AVDCT's results differ from the engine's: levels of the picture by more than one,
// samples by more than two, in either order.
std::string check_avdct(const FrameSize& size, Frame& frame);

void run_avdct(Threads threads, const FrameSize& size, Direction direction, AvdctOrder order,
               Frame& frame);

}  // namespace cudatransform::bench
