// Stands in for AVDCT where libavcodec is missing: no version, so no cases.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>

#include "tests/bench/cpu/avdct.h"

namespace cudatransform::bench {

std::string avdct_version() { return ""; }
const uint8_t* avdct_permutation() { return nullptr; }
std::string check_avdct(const FrameSize&, Frame&) { return "built without libavcodec"; }
void run_avdct(Threads, const FrameSize&, Direction, AvdctOrder, Frame&) {
  throw std::runtime_error("built without libavcodec");
}

}  // namespace cudatransform::bench
