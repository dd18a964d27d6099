// The CUDA engine's range conversion, for bench_cuda: names, and groups of cases.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/gpu/measure.h"
#include "transform/range/range.h"

namespace cudatransform::bench {

struct RangeBenchCase {
  // "engine:cuda/case:range/size:8K/depth:8"
  std::string name;
  std::string group;  // the case alone
  int width, height, depth;
  size_t sets;  // of buffers, which launches go round: more than any cache holds
};

std::vector<RangeBenchCase> range_cases();

// Measures the case of a group and the streaming kernels of the same bytes. Compares each output
// with the CPU engine's. Throws when the device fails.
void measure_range_group(const Gpu& gpu, Device& device, const std::vector<RangeBenchCase>& cases,
                         const MeasureOptions& options, Results* results);

}  // namespace cudatransform::bench
