// The GPU's benchmarks: names, jobs, groups of cases, and their measurement.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/dct8x8/engine.h"
#include "tests/bench/gpu/turns.h"
#include "tests/bench/papers/kernels.h"
#include "tests/engine/kernel_jobs.h"

namespace cudatransform::bench {

struct Case {
  // "engine:cuda/case:limit/size:4K/method:float/direction:forward": pairs of key and value.
  std::string name;
  // Cases of a group are measured in turns, with the streaming kernels that they are compared with.
  std::string group;
  test::KernelJob job;
  size_t sets = 1;      // of buffers, which launches go round
  size_t launches = 1;  // in a graph, at least one for each set
  size_t pictures = 1;  // in flight: that many streams
  int repetitions = 30;
  // A streaming kernel over the job's buffers instead of it: an index into stream_variants().
  int stream = -1;
  // Programmatic dependent launch; the streaming kernels never have it.
  bool dependent_launch = false;
  // Launched one by one, with a fence after each as elements do, and not as a graph.
  bool plain = false;
  // The case of the same group that "of I420" compares with, or "".
  std::string baseline;

  // Of the DCT.
  test::DctSpec spec = {};
  // Replaces the kernels that the engine would choose.
  cuda::KernelChoice kernels = cuda::KernelChoice::kAuto;
  // A paper's kernel instead of the job, or null.
  const PaperKernel* paper = nullptr;
  // A case of a paper's tables: compared with the definition before it is timed, or with the bytes
  // of another method; reported like those tables, by means and extremes.
  bool in_paper = false;
  Method exact_as = Method::kReference;
};

// All cases; those of a group are next to each other.
std::vector<Case> all_cases();
// Frames of many sizes on each of the two kernels whose choice cuda/dct8x8/tuning.h decides by
// size.
std::vector<Case> sweep_cases();

// The engine on a stream of its own, and the driver on that stream.
struct Lane {
  Lane();
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void record() const;
  void wait_for(const Lane& other) const;

  test::Engine engine;
  std::unique_ptr<Gpu> gpu;
  CUevent event = nullptr;
};
using Lanes = std::vector<std::unique_ptr<Lane>>;

// Measures the cases of one group, and the streaming kernels and baselines that they need. There is
// one lane at least; the group adds those that it lacks. Outputs are compared with the CPU
// engine's. `outputs` has the checksums of earlier groups, by jobs, and gets those of this one:
// equal jobs must have equal outputs in every group. Throws when the device fails.
void measure_group(Lanes* lanes, const std::vector<Case>& cases, const MeasureOptions& options,
                   std::map<std::string, uint64_t>* outputs, Results* results);

// Runs each case's job once between two markers, for a profiler that counts its kernels'
// instructions; case i is between grids of (i + 1, 1) and (i + 1, 2) CTAs of bench_marker. Throws.
void run_between_markers(const Lanes& lanes, const std::vector<Case>& cases);

}  // namespace cudatransform::bench
