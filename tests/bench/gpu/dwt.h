// The CUDA engine's wavelet transforms, for bench_cuda: names, and groups of cases.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/gpu/measure.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::bench {

// 8 bits, four levels, S16 coefficients: one plane for the largest size, else 4:2:0.
struct DwtSize {
  const char* name;
  int width, height;
  bool grey;
  size_t sets;  // of buffers, which launches go round: more than any cache holds
};

struct DwtCase {
  // "engine:cuda/case:dwt/size:8K/wavelet:dd97/index:8/direction:inverse/pictures:8"
  std::string name;
  std::string group;  // of cases that share their buffers and are measured in turns
  DwtSize size;
  Wavelet wavelet;
  int index;  // of all quantisers
  Direction direction;
  DwtMethod method;
  size_t pictures;  // in flight: that many streams
};

// All cases; those of a group are next to each other.
std::vector<DwtCase> dwt_cases();

// Measures the cases of one group and the streaming kernels of the same bytes, which have as many
// streams. Compares each output with the CPU engine's. Throws when the device fails.
void measure_dwt_group(const std::vector<DwtCase>& cases, const MeasureOptions& options,
                       Results* results);

}  // namespace cudatransform::bench
