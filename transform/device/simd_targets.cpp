// Which instruction sets there are, and which of them are used.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/simd_targets.h"
// After simd_targets.h, which selects the targets.
#include <hwy/highway.h>

namespace cudatransform {

std::vector<std::pair<std::string, int64_t>> host_simd_targets() {
  std::vector<std::pair<std::string, int64_t>> targets;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    targets.emplace_back(hwy::TargetName(target), target);
  }
  return targets;
}

void set_host_simd_targets(int64_t mask) {
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().DeInit();  // the next dispatch chooses again
}

}  // namespace cudatransform
