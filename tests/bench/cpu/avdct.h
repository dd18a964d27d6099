// FFmpeg's public AVDCT as a whole job: its transforms, and plain loops for the rest.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/bench/cpu/jobs.h"

namespace cudatransform::bench {

// The order in which the inverse gets its coefficients: raster like the engine's, so that a loop
// has to permute them, or AVDCT's own, which a decoder gets for free while it parses.
enum class AvdctOrder { kRaster, kOwn };

// "59.37.100", or "" if the benchmark was built without libavcodec: then none of the following may
// be called.
std::string avdct_version();

// The place that AVDCT's inverse wants for the coefficient of natural index i.
const uint8_t* avdct_permutation();

// "", or how AVDCT's results differ from the engine's: levels of the picture by more than one,
// samples by more than two, in either order.
std::string check_avdct(const FrameSize& size, Frame& frame);

void run_avdct(Threads threads, const FrameSize& size, Direction direction, AvdctOrder order,
               Frame& frame);

}  // namespace cudatransform::bench
