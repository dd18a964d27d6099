// Measures a group of cases in turns and checks their output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/gpu/cases.h"

namespace cudatransform::bench {

// The result of one case.
struct Result {
  std::string error;   // why there is no figure, or why it cannot be trusted
  double seconds = 0;  // median of one job, or of one launch of a streaming kernel
  double spread = 0;   // the middle half of the repetitions, from end to end, over the median
  size_t bytes = 0;    // that must move
  size_t samples = 0, blocks = 0;
  // For cases in a paper's tables: the extremes and the mean of all repetitions, and the accuracy.
  double least_seconds = 0, mean_seconds = 0, most_seconds = 0;
  size_t read_bytes = 0;
  std::optional<Exactness> exactness;
  double limit_seconds = 0;  // of the best streaming kernel of the same bytes; 0 of one itself
  std::string limit_name;
};
using Results = std::map<std::string, Result>;  // by the case's name

struct MeasureOptions {
  bool quick = false;              // few repetitions
  std::function<void()> sample{};  // called now and then while the device is busy
};

// Measures the cases of one group, and the streaming kernels and baselines that they need.
// `outputs` has the checksums of earlier groups by output_key(), and gets those of this one: equal
// jobs must have equal outputs in every group. Throws when the device fails.
void measure_group(const Gpu& gpu, Device& device, const std::vector<Case>& cases,
                   const MeasureOptions& options, std::map<std::string, uint64_t>* outputs,
                   Results* results);

// Runs each case's job once between two markers, for a profiler that counts its kernels'
// instructions; case i is between grids of (i + 1, 1) and (i + 1, 2) CTAs of bench_marker. Throws.
void run_between_markers(const Gpu& gpu, Device& device, const std::vector<Case>& cases);

}  // namespace cudatransform::bench
