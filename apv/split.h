// Which chains of a frame a device decodes, and which the CPU's threads at the same time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "apv/frame.h"

namespace cudatransform {

// The chains of a frame that a device decodes, by the bytes of the longest one.
inline constexpr uint32_t kNoApvChains = 0, kAllApvChains = UINT32_MAX;

// For a frame that has a device and so many threads for itself. The device takes as long as its
// longest chain, the threads as all of theirs: they get the longest ones, as many as let both end
// at about the same time.
uint32_t split_apv_chains(const ApvFrame& frame, int threads);

}  // namespace cudatransform
