// The CUDA engine's RGB, ranges, coefficient filters and wavelets, for bench_cuda: names, and
// groups of cases.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/gpu/turns.h"
#include "tests/engine/kernel_jobs.h"

namespace cudatransform::bench {

struct KernelCase {
  // "engine:cuda/case:dwt/size:8K/wavelet:dd97/index:8/direction:inverse/pictures:8"
  std::string name;
  std::string group;  // of cases that share their buffers and are measured in turns
  test::KernelJob job;
  size_t sets;          // of buffers, which launches go round: more than any cache holds
  size_t pictures = 1;  // in flight: that many streams
  bool overlaps =
      false;  // launches may, by programmatic dependent launch; the streaming kernels' not
};

// All cases; those of a group are next to each other.
std::vector<KernelCase> kernel_cases();

// Measures the cases of one group and the streaming kernels of the same bytes, which have as many
// streams. Compares each output with the CPU engine's. Throws when the device fails.
void measure_kernel_group(const std::vector<KernelCase>& cases, const MeasureOptions& options,
                          Results* results);

}  // namespace cudatransform::bench
