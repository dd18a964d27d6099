// Without libjpeg there is nothing to compare RGB with.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu/rgb.h"

namespace cudatransform::bench {

void add_rgb_cases(const FrameSize&, const double*, bool*) {}

}  // namespace cudatransform::bench
