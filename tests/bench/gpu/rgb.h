// The CUDA engine's RGB, for bench_cuda: names, and groups of cases.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/gpu/measure.h"
#include "transform/rgb/rgb.h"

namespace cudatransform::bench {

struct RgbSize {
  const char* name;
  int width, height;
  size_t sets;  // of buffers, which launches go round: more than any cache holds
};

struct RgbBenchCase {
  // "engine:cuda/case:rgb/size:8K/sampling:420/packing:RGB/direction:inverse"
  std::string name;
  std::string group;  // of cases that share their buffers and are measured in turns
  RgbSize size;
  RgbSubsampling chroma;
  RgbPacking packing;
  Direction direction;
};

// All cases; those of a group are next to each other.
std::vector<RgbBenchCase> rgb_cases();

// Measures the cases of one group and the streaming kernels of the same bytes. Compares each output
// with the CPU engine's. Throws when the device fails.
void measure_rgb_group(const Gpu& gpu, Device& device, const std::vector<RgbBenchCase>& cases,
                       const MeasureOptions& options, Results* results);

}  // namespace cudatransform::bench
