// The vector code of the CPU engine: which there is, and which of it runs.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <hwy/highway.h>

#include "transform/dct8x8_rows.h"
#include "transform/host_device.h"

namespace cudatransform {

RowFunction simd_row_function(const Dct8x8Job&) { return nullptr; }

std::vector<std::pair<std::string, int64_t>> host_simd_targets() {
  std::vector<std::pair<std::string, int64_t>> targets;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    targets.emplace_back(hwy::TargetName(target), target);
  }
  return targets;
}

void set_host_simd_targets(int64_t mask) {
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace cudatransform
