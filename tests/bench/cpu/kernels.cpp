// Jobs of tests/engine/kernel_jobs.h on the CPU, compared with copies.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Wavelets: "serial" is the portable engine, "simd" vectors on one thread, "tbb" vectors on all.
// The copy has as many threads, takes turns with the job, and moves the larger of its buffers: all
// coefficients. Counters:
//   GB/s          the bytes that must move over the time of the job
//   ratio         coefficient filters: time of the copy over that of the job
//   samples, bytes/sample, ns/sample, x copy
//                 wavelets: samples of a job; time of one, of any component; time of the job over
//                 that of the copy
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/common.h"
#include "tests/bench/cpu/cases.h"
#include "tests/engine/kernel_jobs.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::bench {
namespace {

using test::KernelJob;

// Sets of a job's buffers that no cache holds, or one for a resident size.
struct KernelFrames {
  struct Set {
    Buffer<uint8_t> in, out, spare;  // spare: of copies, where the input and the output differ
  };

  KernelFrames(const KernelJob& job, const FrameSize& size)
      : bytes(std::max(job.in_size, job.out_size)),
        from_input(job.in_size >= job.out_size),
        to_output(job.in_size == job.out_size) {
    const std::vector<uint8_t> input = job.input();
    const size_t moved = job.in_size + job.out_size;
    sets.resize(size.resident ? 1 : frames_beyond_caches(moved));
    for (Set& set : sets) {
      set = {allocate<uint8_t>(job.in_size), allocate<uint8_t>(job.out_size),
             allocate<uint8_t>(to_output ? 1 : bytes)};
      std::copy(input.begin(), input.end(), set.in.get());
    }
  }

  Set& next() { return sets[position++ % sets.size()]; }

  void copy(Threads threads) {
    constexpr size_t kPiece = size_t{1} << 17;
    Set& set = next();
    const uint8_t* from = (from_input ? set.in : set.out).get();
    uint8_t* to = (to_output ? set.out : set.spare).get();
    for_block_rows(threads, int((bytes + kPiece - 1) / kPiece), [&](int i) {
      const size_t first = kPiece * size_t(i);
      std::memcpy(to + first, from + first, std::min(kPiece, bytes - first));
    });
  }

  std::vector<Set> sets;
  size_t position = 0;
  const size_t bytes;  // of a copy
  const bool from_input, to_output;
};

// Those of the last job: neighbours in the list share them.
KernelFrames& frames_of(const KernelJob& job, const FrameSize& size) {
  static std::unique_ptr<KernelFrames> frames;
  static std::string known;
  const std::string key = job.kind + size.name + job.keys;
  if (key != known) {
    frames.reset();
    frames = std::make_unique<KernelFrames>(job, size);
    known = key;
  }
  return *frames;
}

test::Engine engine_of(const std::string& of, Threads threads) {
  const std::shared_ptr<Device> shared(std::shared_ptr<Device>(), &device(threads));
  test::Engine engine = test::host_engine(shared);
  if (of == "serial") engine.dwt_ops = &portable_dwt_ops();
  return engine;
}

void run_case(benchmark::State& state, const FrameSize& size, const KernelJob& job,
              const test::Engine& engine, Threads threads, double seconds_of_case) {
  KernelFrames& frames = frames_of(job, size);
  const auto work = [&] {
    KernelFrames::Set& set = frames.next();
    const Status status = job.submit(engine, set.in.get(), set.out.get(), nullptr);
    if (!status.ok()) throw std::runtime_error(status.message);
  };
  const auto copy = [&] { frames.copy(threads); };
  std::vector<double> seconds;
  for (auto _ : state) {
    // A job on a resident frame is too short for the clock.
    seconds =
        medians_of_turns(seconds_of_case, size.resident ? 20 : 1, {work, copy}, size.resident);
    state.SetIterationTime(seconds[0]);
  }
  if (job.kind != "dwt") {
    state.counters["GB/s"] = 1e-9 * double(job.in_bytes + job.out_bytes) / seconds[0];
    state.counters["ratio"] = seconds[1] / seconds[0];
    return;
  }
  const auto samples = double(job.samples);
  state.counters["samples"] = samples;
  state.counters["bytes/sample"] = 3;  // without the coefficients of padding
  state.counters["ns/sample"] = 1e9 * seconds[0] / samples;
  state.counters["GB/s"] = 3e-9 * samples / seconds[0];
  state.counters["x copy"] = seconds[0] / seconds[1];
}

}  // namespace

void add_kernel_cases(const FrameSize& size, const double* seconds, bool* failed) {
  const test::KernelSize kernel_size = {size.name, size.width, size.height};
  const auto add = [&](const std::string& of, const KernelJob& job, Threads threads) {
    const std::string name = "engine:cpu/case:" + job.kind + (of.empty() ? "" : "/of:" + of) +
                             "/size:" + size.name + "/" + job.keys +
                             "/threads:" + std::to_string(thread_count(threads));
    const test::Engine engine = engine_of(of, threads);
    add_benchmark(
        name,
        [=](benchmark::State& state) { run_case(state, size, job, engine, threads, *seconds); },
        failed);
  };
  for (int w = 0; w < kWaveletCount; ++w)
    for (const int index : {0, 8})
      for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
        test::DwtKernel kernel = {static_cast<Wavelet>(w), index, direction};
        kernel.row_alignment = 1;
        const KernelJob job = dwt_job(kernel_size, kernel);
        // The cost of the portable engine is shown once.
        if (index == 0 && std::strcmp(size.name, "4K") != 0) add("serial", job, Threads::kOne);
        add("simd", job, Threads::kOne);
        if (!size.resident) add("tbb", job, Threads::kAll);
      }
  for (const KernelJob& job : test::filter_jobs(kernel_size)) add("", job, Threads::kOne);
}

}  // namespace cudatransform::bench
