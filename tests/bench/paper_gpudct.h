// GPUDCT: inverse transforms of random and of a JPEG file's levels, timed and judged.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/paper_jobs.h"

namespace cudatransform::bench {

// The steps of GPUDCT's ladder that a method of ours stands for, and our own ends of it.
struct GpudctStep {
  const char* name;
  Method method;
};
inline constexpr GpudctStep kGpudctSteps[] = {
    {"naive", Method::kNaive},           {"separable", Method::kSeparable},
    {"decomposed", Method::kDecomposed}, {"no_shared", Method::kShuffle},
    {"float", Method::kFloat},           {"islow", Method::kIslow},
    {"ifast", Method::kIfast},           {"reference", Method::kReference}};

struct GpudctTimes {
  Times times;
  double samples;
};

// Random levels and tables of 16 bits, a plane of side x side samples. Throws, as all here.
GpudctTimes run_random(Runner runner, Method method, int side, double seconds);
// The levels and tables of a file.
GpudctTimes run_jpeg(Runner runner, Method method, const std::string& path, double seconds);

// Against the definition in double precision, by component; without ties: see
// tests/conformance/inverse_judge.h.
struct GpudctErrors {
  std::vector<double> samples, sse, sse_without_ties;
};
GpudctErrors judge_jpeg(Runner runner, Method method, const std::string& path);

}  // namespace cudatransform::bench
