// Measures a group of cases in turns and checks their output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/bench/gpu/cases.h"
#include "tests/bench/gpu/turns.h"

namespace cudatransform::bench {

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
