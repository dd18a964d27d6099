// Measures on this machine the cases of three papers: the program behind tools/papers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Names are key:value pairs; engine: is cpu or cuda. case:
//   whitepaper  the picture quantised by the whitepaper's table and decoded again, at 1, 2, 4 and 8
//               times its size; on the CPU plain C++ on one thread, which is "gold"
//   hong        the forward DCT of a plane; form: serial, tbb, simd, simd+tbb
//   gpudct      the inverse with dequantisation of random levels, on all cores
//   judge       the inverse of the JPEG file's levels, against the definition
// Counters, times in ms:
//   forward, inverse (whitepaper)  medians; sse and "sse gold" over samples: squared errors
//                                  against the source and against gold's picture
//   ms, share, error (hong)        median; part of the rows that was timed; largest error
//   ms avg, min, max, samples      gpudct
//   sse0, ties0, samples0 ...      judge: by component; ties: either neighbour of a tie is right
// A case that lacks a requirement (a card, a file) fails and names it.
//
// Exit status: 0, also where cases have failed: they say why; 2 for arguments that are not
// understood.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/bench/common.h"
#include "tests/bench/cpu/frames.h"
#include "tests/bench/papers/jobs.h"
#include "tests/conformance/test_data.h"

namespace cudatransform::bench {
namespace {

struct Options {
  std::string picture, jpeg;
  double seconds = 0.5;  // of a case's repetitions
  double budget = 60;    // seconds that one turn may take
  double shrink = 1;     // divides the sides of planes without a picture
};

using Work = std::function<void(benchmark::State&)>;

void add(const std::string& name, const Work& work) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [work](benchmark::State& state) {
                                 for (auto _ : state) state.SetIterationTime(1e-9);
                                 try {
                                   work(state);
                                 } catch (const std::exception& error) {
                                   state.SkipWithError(error.what());
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1);
}

const char* engine_key(Runner runner) { return runner == Runner::kCuda ? "cuda" : "cpu"; }

const test::BytePlane& picture_of(const Options& options) {
  static test::BytePlane picture;
  if (!picture.samples.empty()) return picture;
  std::string error;
  if (options.picture.empty()) throw std::runtime_error("no picture: give --picture=FILE.pgm");
  if (!test::read_pgm(options.picture, &picture, &error)) throw std::runtime_error(error);
  return picture;
}

void add_whitepaper(const Options& options) {
  for (const int factor : {1, 2, 4, 8})
    for (const Runner runner : {Runner::kSerial, Runner::kCuda})
      for (const Method method :
           {Method::kMatrix, Method::kDecomposed, Method::kFloat, Method::kIfast}) {
        const std::string name = std::string("engine:") + engine_key(runner) +
                                 "/case:whitepaper/size:" + std::to_string(512 * factor) +
                                 "/method:" + method_name(method);
        add(name, [=](benchmark::State& state) {
          const WhitepaperResult result =
              run_whitepaper(runner, method, picture_of(options), factor, options.seconds);
          state.counters["width"] = result.width;
          state.counters["height"] = result.height;
          state.counters["samples"] = static_cast<double>(result.width) * result.height;
          state.counters["sse"] = result.sse;
          state.counters["sse gold"] = result.sse_gold;
          state.counters["forward"] = 1e3 * result.forward.median();
          state.counters["inverse"] = 1e3 * result.inverse.median();
        });
      }
}

int shrunk(int side, const Options& options) {
  return static_cast<int>(side / options.shrink / 8) * 8;
}

void add_hong(const Options& options) {
  constexpr const char* kForms[] = {"serial", "tbb", "simd", "simd+tbb"};
  for (const int side : {1024, 2048, 4096})
    for (const HongAlgorithm algorithm : kHongAlgorithms)
      for (const Runner runner : {Runner::kSerial, Runner::kTbb, Runner::kSimd, Runner::kSimdTbb}) {
        if (!hong_exists(algorithm, runner)) continue;
        const std::string name = "engine:cpu/case:hong/size:" + std::to_string(side) +
                                 "/algorithm:" + hong_name(algorithm) +
                                 "/form:" + kForms[static_cast<size_t>(runner)];
        add(name, [=](benchmark::State& state) {
          const HongResult result =
              run_hong(algorithm, runner, shrunk(side, options), options.seconds, options.budget);
          state.counters["width"] = shrunk(side, options);
          state.counters["ms"] = 1e3 * result.times.median();
          state.counters["share"] = result.share;
          state.counters["error"] = result.error;
        });
      }
}

void report(benchmark::State& state, const GpudctTimes& result) {
  state.counters["samples"] = result.samples;
  state.counters["ms avg"] = 1e3 * result.times.mean();
  state.counters["ms min"] = 1e3 * result.times.least();
  state.counters["ms max"] = 1e3 * result.times.most();
}

void add_gpudct(const Options& options) {
  for (const Runner runner : {Runner::kSimdTbb, Runner::kCuda})
    for (const GpudctStep& step : kGpudctSteps) {
      if (step.is_kernel && runner != Runner::kCuda) continue;
      const std::string engine = std::string("engine:") + engine_key(runner);
      const std::string of = std::string("/step:") + step.name;
      // bench_cuda times the kernels of the steps; this checks their output.
      const bool random = runner != Runner::kCuda || step.method <= Method::kFloat;
      if (random && step.method != Method::kReference) {
        const int side = shrunk(runner == Runner::kCuda ? 32768 : 4096, options);
        add(engine + "/case:gpudct" + of, [=](benchmark::State& state) {
          report(state, run_random(runner, step, side, options.seconds));
        });
      }
      add(engine + "/case:judge" + of, [=](benchmark::State& state) {
        if (options.jpeg.empty()) throw std::runtime_error("no file: give --jpeg=FILE.jpg");
        const GpudctErrors errors = judge_jpeg(runner, step, options.jpeg);
        for (size_t c = 0; c < errors.samples.size(); ++c) {
          const std::string number = std::to_string(c);
          state.counters["samples" + number] = errors.samples[c];
          state.counters["sse" + number] = errors.sse[c];
          state.counters["ties" + number] = errors.sse_without_ties[c];
        }
      });
    }
}

void describe_run() {
  describe_cpu();
  std::string why;
  const test::Engine* cuda = find_engine(Runner::kCuda, &why);
  benchmark::AddCustomContext("device", cuda == nullptr ? "" : cuda->device->name());
  benchmark::AddCustomContext("no_cuda", why);
}

bool take_option(std::string_view argument, Options* options) {
  return has_value(argument, "--picture=", &options->picture) ||
         has_value(argument, "--jpeg=", &options->jpeg) ||
         has_value(argument, "--seconds=", &options->seconds) ||
         has_value(argument, "--budget=", &options->budget) ||
         has_value(argument, "--shrink=", &options->shrink);
}

int run(const Options& options) {
  if (!(options.shrink >= 1 && options.shrink <= 128)) {
    std::fprintf(stderr, "--shrink= takes 1 to 128\n");
    return 2;
  }
  describe_run();
  add_whitepaper(options);
  add_hong(options);
  add_gpudct(options);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

void print_help() {
  std::printf(
      "bench_papers [--picture=FILE.pgm] [--jpeg=FILE.jpg] [--seconds=S] [--budget=S] "
      "[--shrink=N]\n             [--benchmark_...]\n\n"
      "  --picture=FILE.pgm  for case:whitepaper, 8-bit grey\n"
      "  --jpeg=FILE.jpg     for case:judge\n"
      "  --seconds=S         how long a case is repeated; default 0.5\n"
      "  --budget=S          how long one turn may take before a part is timed; default 60\n"
      "  --shrink=N          planes without a picture get sides of 1/N\n\n");
  benchmark::PrintDefaultHelp();
}

}  // namespace
}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  bench::Options options;
  return bench::run_program(
      "bench_papers", argc, argv,
      [&](std::string_view argument) { return bench::take_option(argument, &options); },
      [&] { return bench::run(options); }, bench::print_help);
}
