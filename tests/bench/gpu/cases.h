// The GPU's benchmarks: names, jobs, groups of cases, and their measurement.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cuda/dct8x8/plan.h"
#include "tests/bench/gpu/frames.h"
#include "tests/bench/gpu/turns.h"
#include "tests/bench/papers/kernels.h"
#include "tests/engine/kernel_jobs.h"

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

// Measures the cases of one group, and the streaming kernels and baselines that they need.
// `outputs` has the checksums of earlier groups by output_key(), and gets those of this one: equal
// jobs must have equal outputs in every group. Throws when the device fails.
void measure_group(const Gpu& gpu, Device& device, const std::vector<Case>& cases,
                   const MeasureOptions& options, std::map<std::string, uint64_t>* outputs,
                   Results* results);

// Runs each case's job once between two markers, for a profiler that counts its kernels'
// instructions; case i is between grids of (i + 1, 1) and (i + 1, 2) CTAs of bench_marker. Throws.
void run_between_markers(const Gpu& gpu, Device& device, const std::vector<Case>& cases);

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
