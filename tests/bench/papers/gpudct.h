// GPUDCT: inverse transforms of random and of a JPEG file's levels, timed and judged.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/papers/jobs.h"

namespace cudatransform::bench {

// The steps of GPUDCT's ladder: our methods, the benchmark's kernels, and two further steps of
// ours.
struct GpudctStep {
  const char* name;
  Method method;
  bool is_kernel = false;  // for the CUDA engine alone; `method` means nothing
};
inline constexpr GpudctStep kGpudctSteps[] = {
    {"naive", Method::kNaive},         {"lut", Method::kNaive, true},
    {"separable", Method::kSeparable}, {"decomposed", Method::kDecomposed},
    {"no_shared", Method::kShuffle},   {"next", Method::kNaive, true},
    {"next16", Method::kNaive, true},  {"float", Method::kFloat},
    {"islow", Method::kIslow},         {"ifast", Method::kIfast},
    {"reference", Method::kReference}};

struct GpudctTimes {
  Times times;
  double samples;
};

// Random levels and tables of 16 bits, a plane of side x side samples. Throws, as all here.
GpudctTimes run_random(Runner runner, const GpudctStep& step, int side, double seconds);

// Against the definition in double precision, by component; without ties: see
// tests/conformance/inverse_judge.h.
struct GpudctErrors {
  std::vector<double> samples, sse, sse_without_ties;
};
GpudctErrors judge_jpeg(Runner runner, const GpudctStep& step, const std::string& path);

}  // namespace cudatransform::bench
