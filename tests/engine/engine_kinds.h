// One engine of each kind of device, for work that all engines of a kind do alike.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/engine/engines.h"

namespace cudatransform::test {

// The first of the host and of CUDA, whichever were chosen.
inline std::vector<const Engine*> engine_of_each_kind() {
  std::vector<const Engine*> all;
  bool seen[2] = {};
  for (const Engine& engine : engines()) {
    if (seen[engine.is_cuda ? 1 : 0]) continue;
    seen[engine.is_cuda ? 1 : 0] = true;
    all.push_back(&engine);
  }
  return all;
}

}  // namespace cudatransform::test
