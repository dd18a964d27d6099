// The CUDA engine's verbs on coefficients, for bench_cuda: names, and groups of cases.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/gpu/measure.h"
#include "transform/verbs/convert.h"
#include "transform/verbs/flip.h"

namespace cudatransform::bench {

struct ConvertSize {
  const char* name;
  int width, height;
  size_t sets;  // of buffers, which launches go round: more than any cache holds
};

enum class BenchVerb { kConvert, kFlip, kQuant };

struct ConvertBenchCase {
  // "engine:cuda/case:convert/size:8K/from:S16-block/to:F16-band",
  // "engine:cuda/case:flip/size:8K/layout:S16-block/turn:90r",
  // "engine:cuda/case:quant/size:8K/layout:S16-block"
  std::string name;
  std::string group;
  ConvertSize size;
  CoefKinds from, to;
  BenchVerb verb = BenchVerb::kConvert;
  Turn turn;  // of a flip
};

// All cases, of one component of 8 bits, each in a group of its own.
std::vector<ConvertBenchCase> convert_cases();

// Measures the case of a group and the streaming kernels of the same bytes. Compares its output
// with the CPU engine's. Throws when the device fails.
void measure_convert_group(const Gpu& gpu, Device& device,
                           const std::vector<ConvertBenchCase>& cases,
                           const MeasureOptions& options, Results* results);

}  // namespace cudatransform::bench
