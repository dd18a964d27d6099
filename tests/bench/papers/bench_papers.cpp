// Measures on this machine the cases of three papers: the program behind tools/papers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Names are key:value pairs; engine: is cpu or cuda. case:
//   whitepaper  the picture quantized by the whitepaper's table and decoded again, at 1, 2, 4 and 8
//               times its size; on the CPU plain C++ on one thread, which is "gold"
//   hong        the forward DCT of a plane; form: serial, tbb, simd, simd+tbb
//   gpudct      the inverse with dequantization of random quantized coefficients, on all cores
//   judge       the inverse of the JPEG file's quantized coefficients, against the definition
// Counters, times in ms:
//   forward, inverse (whitepaper)  medians; sse and "sse gold" over samples: squared errors
//                                  against the source and against gold's picture
//   ms, share, error (hong)        median; part of the rows that was timed; largest error
//   ms avg, min, max, samples      gpudct
//   sse0, ties0, samples0 ...      judge: by component; ties: either neighbor of a tie is right
// A case that lacks a requirement (a GPU, a file) fails and names it.
//
// Exit status: 0, also where cases have failed: they say why; 2 for arguments that are not
// understood.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "tests/bench/common.h"
#include "tests/bench/cpu/frames.h"
#include "tests/bench/papers/jobs.h"

namespace cudatransform::bench {
namespace {

void describe_run() {
  describe_cpu();
  std::string why;
  const test::Engine* cuda = find_engine(Runner::kCuda, &why);
  benchmark::AddCustomContext("device", cuda == nullptr ? "" : cuda->device->name());
  benchmark::AddCustomContext("no_cuda", why);
}

bool take_option(std::string_view argument, PaperOptions* options) {
  return has_value(argument, "--picture=", &options->picture) ||
         has_value(argument, "--jpeg=", &options->jpeg) ||
         has_value(argument, "--seconds=", &options->seconds) ||
         has_value(argument, "--budget=", &options->budget) ||
         has_value(argument, "--shrink=", &options->shrink);
}

int run(const PaperOptions& options) {
  if (!(options.shrink >= 1 && options.shrink <= 128)) {
    std::fprintf(stderr, "--shrink= takes 1 to 128\n");
    return 2;
  }
  describe_run();
  add_whitepaper_cases(options);
  add_hong_cases(options);
  add_gpudct_cases(options);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

void print_help() {
  std::printf(
      "bench_papers [--picture=FILE.pgm] [--jpeg=FILE.jpg] [--seconds=S] [--budget=S] "
      "[--shrink=N]\n             [--benchmark_...]\n\n"
      "  --picture=FILE.pgm  for case:whitepaper, 8-bit gray\n"
      "  --jpeg=FILE.jpg     for case:judge\n"
      "  --seconds=S         how long a case is repeated; default 0.5\n"
      "  --budget=S          how long one turn may take before a part is timed; default 60\n"
      "  --shrink=N          planes without a picture get sides of 1/N\n\n");
  benchmark::PrintDefaultHelp();
}

}  // namespace

void add_case(const std::string& name, const std::function<void(benchmark::State&)>& work) {
  add_benchmark(name, [work](benchmark::State& state) {
    for (auto _ : state) state.SetIterationTime(1e-9);
    work(state);
  });
}

}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  bench::PaperOptions options;
  return bench::run_program(
      "bench_papers", argc, argv,
      [&](std::string_view argument) { return bench::take_option(argument, &options); },
      [&] { return bench::run(options); }, bench::print_help);
}
