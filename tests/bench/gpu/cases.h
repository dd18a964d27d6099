// The list of the GPU's benchmarks: names, jobs, and groups of cases.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "cuda/dct8x8/fast_plan.h"
#include "tests/bench/gpu/frames.h"
#include "tests/bench/papers/kernels.h"

namespace cudatransform::bench {

struct Case {
  // "engine:cuda/case:limit/size:4K/method:float/direction:forward": pairs of key and value.
  std::string name;
  // Cases of a group are measured in turns, with the streaming kernels that they are compared with.
  std::string group;
  JobSpec spec;
  size_t sets = 1;      // of buffers, which launches go round
  size_t launches = 1;  // in a graph, at least one for each set
  int repetitions = 60;
  // A streaming kernel over the spec's buffers instead of the job: an index into stream_variants().
  int stream = -1;
  // A paper's kernel instead of the job, or null.
  const PaperKernel* paper = nullptr;
  // A case of a paper's tables: compared with the definition before it is timed, or with the bytes
  // of another method; reported like those tables, by means and extremes.
  bool in_paper = false;
  Method exact_as = Method::kReference;
  // Programmatic dependent launch.
  bool dependent_launch = false;
  // Launched one by one, with a fence after each as elements do, and not as a graph.
  bool plain = false;
  // Replaces the kernels that the engine would choose.
  cuda::KernelChoice kernels = cuda::KernelChoice::kAuto;
  // The case of the same group that "of I420" compares with, or "".
  std::string baseline;
};

// All cases; those of a group are next to each other.
std::vector<Case> all_cases();

}  // namespace cudatransform::bench
