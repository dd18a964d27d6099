// Pipelines with an application at both ends that writes to memory as early and reads it as late as
// it may, for tests that lose one wait.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/check/fakecuda/fakecuda.h"

namespace testing {

struct Scene {
  enum Input {
    kPinned,        // raw frames in pinned memory, as the element proposes
    kPageable,      // in ordinary memory
    kCuda,          // in CUDA memory, on a stream of the application's
    kFiles,         // JPEG
    kCoefficients,  // in CUDA memory, with a fence of the application's
  };
  const char* name;
  const char* line;
  Input input;
  bool knows_fence;  // the application at the end waits for coefficients' fences
  // Waits whose loss the test must notice, each as a part of a line that it prints.
  std::vector<const char*> caught;
  // Waits of the host that others make superfluous, likewise.
  std::vector<const char*> covered = {};
};

// The results of a scene's run.
struct SceneResult {
  FakecudaOrder order;
  unsigned long long hash;  // of all output
  int waits;                // of a few frames in the middle; each can be lost in turn
};

// Runs in a separate process, which ends with an exit status other than 0 if frames do not arrive.
// `lost`: the wait of the middle that does nothing; -1: none.
SceneResult run_scene(const Scene& scene, int lost);

}  // namespace testing
