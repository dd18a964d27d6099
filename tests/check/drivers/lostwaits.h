// Pipelines with an application at both ends that writes to memory as soon as it may and reads it
// no later than it may, for tests of what happens when one wait is lost.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/check/fakecuda/fakecuda.h"

namespace testing {

struct Scene {
  enum Input {
    kPinned,        // raw frames in page-locked memory, as the element proposes
    kPageable,      // in ordinary memory
    kCuda,          // in CUDA memory, on a stream of the application's
    kFiles,         // JPEG
    kCoefficients,  // in CUDA memory, with a fence of the application's
  };
  const char* name;
  const char* line;
  Input input;
  bool knows_fence;  // the application at the end waits for coefficients' fences
  // What has to be noticed, each a part of a line that the test prints for some wait.
  std::vector<const char*> caught;
  // Waits of the host that others make superfluous, likewise.
  std::vector<const char*> covered = {};
};

// What a run of a scene has found.
struct SceneResult {
  FakecudaOrder order;
  unsigned long long hash;  // of all that came out
  int waits;                // that can be lost, each in turn: of a few frames in the middle
};

// In a process of its own, which ends with an exit status other than 0 where frames do not arrive.
// `lost`: the wait of the middle that does nothing; -1: none.
SceneResult run_scene(const Scene& scene, int lost);

}  // namespace testing
