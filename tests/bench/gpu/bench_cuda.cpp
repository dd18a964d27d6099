// The CUDA engine's speed compared with streaming kernels that move the same bytes, as a table and
// JSON.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Names are key:value pairs. case:
//   stream   the streaming kernels: every variant; the fastest of a size and direction is the limit
//   limit    quantized int16, one 8-bit plane, block layout, raster order; with "layout" or "order"
//            as they say
//   psnr     the same forward, and the inverse inside for measure=psnr
//   chain    the same, launched with programmatic dependent launch; the streaming kernel is not
//   plain    limit and planes, launched one by one as elements do: with programmatic dependent
//            launch and an event behind each launch; the streaming kernel is in a graph
//   kernels  limit with one thread a block, the same with code for edges, with several, and by the
//            kernel for every format, whichever the engine would choose
//   L2       the same on one set of buffers, compared with a streaming kernel on one set
//   ladder   every method as a whole job
//   gpudct   GPUDCT's ladder: "step" as there; naive, separable, decomposed and no_shared are
//            methods
//   hong     Hong's "algorithm" and "variant": see papers/hong.cu
//   whitepaper  its 16-bit kernel, "short"
//   planes   a 4:2:0 frame, three planes in one job
//   format   pixel formats
//   scaled   inverses at 1/2, 1/4, 1/8 of the size
//   dwt      wavelets: four levels of a 4:2:0 frame of 8 bits (32K: of one plane), int16, all
//            quantizers at "index", "pictures" in flight, each in a stream of its own; so is the
//            streaming kernel
//   rgb      planes to RGB and back: "sampling", "packing" of pixels
//   resize   RGB to a square of "side" pixels by "filter", "pictures" in a job; several are
//            launched as in plain
//   range    limited range to full range: planes of 4:2:0
//   convert  coefficients "from" one format and layout "to" another
//   flip     coefficients transposed, in one "layout"; quant: with other tables
// Counters:
//   ns/block, blocks   time of an 8x8 block of coefficients; how many a job has
//   ns/sample, samples the same of wavelets and conversions, by visible samples, and of RGB, by
//                      pixels
//   GB/s, bytes/sample bytes that must move: visible samples and all coefficients, each once
//   ratio              time of the fastest streaming kernel of the same bytes over the time
//   limit GB/s         that of the streaming kernel (which one: the label)
//   spread             the middle half of the repetitions over the median
//   of I420            GB/s over that of I420 with the same method, at the same size
//   ms avg, min, max; GiB/s avg, min, max; psnr; max error
//                      of a paper's cases, as their tables have it: of a launch; bytes that are
//                      read, over that time; against the definition, with no psnr where all is
//                      equal
//   instr/sample       where --instructions=FILE knows it: see ncu_instructions.py
//
// A graph, or a run of launches one by one, has many launches, round sets of buffers larger than
// any cache; its time over the number of launches is one reading. Graphs of all cases of a size and
// direction take turns, and medians count. --benchmark_filter= chooses what is measured; streaming
// kernels and I420 come along where a chosen case is compared with them. --benchmark_repetitions
// repeats a figure and not the measurement: run the program again instead.
//
// Exit status: 0; 1 where any case failed, among others for not writing its output; 2 for arguments
// that are not understood; 77 without a GPU.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>

#include "cuda/dct8x8/tuning.h"
#include "cuda/device/cuda_device.h"
#include "tests/bench/common.h"
#include "tests/bench/gpu/cases.h"
#include "tests/bench/gpu/telemetry.h"

namespace cudatransform::bench {
namespace {

constexpr int kFailed = 1, kUsage = 2, kSkipped = 77;

struct Options {
  bool quick = false;
  bool sweep = false;        // instead of the cases: what tuning.h should have
  bool list = false;         // --benchmark_list_tests: needs no GPU
  std::string instructions;  // file: lines of "NAME,NUMBER"
  std::string profile;       // file: is written, with lines of "NAME,SAMPLES"
};

// Google Benchmark chooses, names and prints; its own times have no meaning. So it runs twice: once
// to find the cases that --benchmark_filter leaves, and once over the results.
struct Session {
  std::vector<Case> cases;
  bool choosing = true;
  std::set<std::string> chosen;
  Results results;
  std::map<std::string, double> instructions;
  bool failed = false;
};

// The figures of the papers' tables.
void report_paper(benchmark::UserCounters& counters, const Result& result) {
  const auto add = [&](const std::string& which, double ms_of, double rate_of) {
    counters["ms " + which] = 1e3 * ms_of;
    counters["GiB/s " + which] = static_cast<double>(result.read_bytes) / rate_of / (1 << 30);
  };
  const Times& times = result.times;
  add("avg", times.mean(), times.mean());
  add("min", times.least(), times.most());
  add("max", times.most(), times.least());
  counters["max error"] = result.exactness->max_error;
  if (std::isfinite(result.exactness->psnr)) counters["psnr"] = result.exactness->psnr;
}

// Null, and the error is printed, if there is no figure.
const Result* result_of(benchmark::State& state, Session& session, const std::string& name) {
  const auto found = session.results.find(name);
  const std::string error = found == session.results.end() ? "not measured" : found->second.error;
  if (error.empty()) return &found->second;
  session.failed = true;
  state.SkipWithError(error.c_str());
  return nullptr;
}

void report(benchmark::State& state, Session& session, const Case& one) {
  const Result* there = result_of(state, session, one.name);
  if (there == nullptr) return;
  const Result& result = *there;
  for (auto _ : state) state.SetIterationTime(result.seconds);
  const auto rate = [](const Result& of, double seconds) {
    return 1e-9 * static_cast<double>(of.bytes) / seconds;
  };
  auto& counters = state.counters;
  const auto samples = static_cast<double>(result.samples);
  const auto blocks = static_cast<double>(result.blocks);
  if (result.blocks > 0) {
    counters["ns/block"] = 1e9 * result.seconds / blocks;
    counters["blocks"] = blocks;
  } else {
    counters["ns/sample"] = 1e9 * result.seconds / samples;
    counters["samples"] = samples;
  }
  counters["GB/s"] = rate(result, result.seconds);
  counters["bytes/sample"] = static_cast<double>(result.bytes) / samples;
  counters["spread"] = result.spread;
  if (one.stream < 0) {
    counters["ratio"] = result.limit_seconds / result.seconds;
    counters["limit GB/s"] = rate(result, result.limit_seconds);
    state.SetLabel(result.limit_name);
  }
  if (one.in_paper) report_paper(counters, result);
  if (const auto base = session.results.find(one.baseline); base != session.results.end()) {
    if (base->second.error.empty())
      counters["of I420"] = rate(result, result.seconds) / rate(base->second, base->second.seconds);
  }
  if (const auto known = session.instructions.find(one.name); known != session.instructions.end())
    counters["instr/sample"] = known->second;
}

// Whether a number of tuning.h fits: no frame would gain more than a run's noise by the other
// kernel. Up to this many blocks several threads share one.
void print_proposal(const Session& session, const char* name, uint32_t there, const char* direction,
                    const std::vector<const char*>& methods) {
  constexpr double kNoise = 1.04;
  bool fits = true;
  std::printf("%s = %u\n", name, there);
  for (const Case& one : session.cases) {
    const size_t at = one.name.find("/kernels:split");
    const auto has = [&](const std::string& text) { return one.name.find(text) != one.name.npos; };
    const bool is_method = std::any_of(methods.begin(), methods.end(), [&](const char* method) {
      return has(std::string("method:") + method + "/");
    });
    if (at == std::string::npos || !has(direction) || !is_method) continue;
    const auto split = session.results.find(one.name);
    const auto whole = session.results.find(one.name.substr(0, at) + "/kernels:whole");
    if (split == session.results.end() || whole == session.results.end()) continue;
    const auto blocks = static_cast<double>(split->second.blocks);
    const double gain = whole->second.seconds / split->second.seconds;
    const bool is_wrong = blocks <= there ? 1 / gain > kNoise : gain > kNoise;
    std::printf("  %-52s %8.0f blocks: split is %.2f times as fast%s\n",
                one.name.substr(0, at).c_str(), blocks, gain, is_wrong ? ": wrong" : "");
    fits = fits && !is_wrong;
  }
  std::printf("  %s\n", fits ? "fits" : "to be changed");
}

int print_sweep(const Session& session) {
  for (const auto& [name, result] : session.results)
    if (!result.error.empty()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), result.error.c_str());
      return kFailed;
    }
  print_proposal(session, "kMaxSplitForward", cuda::kMaxSplitForward, "direction:forward",
                 {"float", "islow"});
  print_proposal(session, "kMaxSplitInverseFloat", cuda::kMaxSplitInverseFloat, "direction:inverse",
                 {"float"});
  print_proposal(session, "kMaxSplitInverseIslow", cuda::kMaxSplitInverseIslow, "direction:inverse",
                 {"islow"});
  return 0;
}

void register_cases(Session* session) {
  for (const Case& one : session->cases)
    benchmark::RegisterBenchmark(one.name.c_str(),
                                 [session, &one](benchmark::State& state) {
                                   if (!session->choosing) return report(state, *session, one);
                                   session->chosen.insert(one.name);
                                   for (auto _ : state) state.SetIterationTime(1);
                                 })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

void choose(Session* session) {
  Silent silent;
  benchmark::RunSpecifiedBenchmarks(&silent);
  session->choosing = false;
}

// The chosen cases, with the baselines that they need, by group.
std::vector<std::vector<Case>> chosen_groups(const Session& session) {
  std::set<std::string> wanted = session.chosen;
  for (const Case& one : session.cases)
    if (session.chosen.count(one.name) != 0 && !one.baseline.empty()) wanted.insert(one.baseline);
  std::vector<std::vector<Case>> groups;
  for (const Case& one : session.cases) {
    if (wanted.count(one.name) == 0) continue;
    if (groups.empty() || groups.back()[0].group != one.group) groups.emplace_back();
    groups.back().push_back(one);
  }
  return groups;
}

void measure(Lanes* lanes, const Options& options, Telemetry* telemetry, Session* session) {
  MeasureOptions how;
  how.quick = options.quick;
  how.sample = [telemetry] { telemetry->sample(); };
  std::map<std::string, uint64_t> outputs;
  for (const std::vector<Case>& group : chosen_groups(*session)) {
    std::fprintf(stderr, "measuring: %s, %zu cases\n", group[0].group.c_str(), group.size());
    try {
      measure_group(lanes, group, how, &outputs, &session->results);
    } catch (const std::exception& error) {
      // Too little memory spoils one group only; any other fault shows in the other groups, too.
      for (const Case& one : group) session->results[one.name].error = error.what();
    }
  }
}

int profile(const Lanes& lanes, const std::string& path, const Session& session) {
  std::vector<Case> jobs;
  std::ofstream file(path);
  for (const std::vector<Case>& group : chosen_groups(session)) {
    for (const Case& one : group) {
      if (one.stream >= 0 || one.dependent_launch || session.chosen.count(one.name) == 0) continue;
      jobs.push_back(one);
      file << one.name << ',' << one.job.samples << '\n';
    }
  }
  if (!file.flush()) {
    std::fprintf(stderr, "%s cannot be written\n", path.c_str());
    return kFailed;
  }
  run_between_markers(lanes, jobs);
  return 0;
}

bool read_instructions(const std::string& path, std::map<std::string, double>* instructions) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "%s cannot be read\n", path.c_str());
    return false;
  }
  for (std::string line; std::getline(file, line);) {
    const size_t comma = line.rfind(',');
    char* end = nullptr;
    const double number =
        comma == std::string::npos ? 0 : std::strtod(line.c_str() + comma + 1, &end);
    if (!(number > 0) || *end != '\0') {
      std::fprintf(stderr, "%s: \"%s\" is not NAME,NUMBER\n", path.c_str(), line.c_str());
      return false;
    }
    (*instructions)[line.substr(0, comma)] = number;
  }
  return true;
}

bool take_option(std::string_view argument, Options* options) {
  if (argument == "--benchmark_list_tests" || argument == "--benchmark_list_tests=true")
    options->list = true;  // and Google Benchmark's
  if (argument == "--quick") return options->quick = true;
  if (argument == "--sweep") return options->sweep = true;
  return has_value(argument, "--instructions=", &options->instructions) ||
         has_value(argument, "--profile=", &options->profile);
}

void print_help() {
  std::printf(
      "bench_cuda [--quick] [--sweep] [--instructions=FILE] [--profile=FILE] "
      "[--benchmark_...]\n\n"
      "  --quick               few repetitions: figures to look at, not to quote\n"
      "  --sweep               prints what cuda/dct8x8/tuning.h should have for this GPU: the "
      "sizes\n"
      "                        of frames up to which several threads share a block\n"
      "  --instructions=FILE   lines of NAME,NUMBER: instructions a sample of benchmarks\n"
      "  --profile=FILE        measures nothing, but runs every chosen job once for a profiler;\n"
      "                        see ncu_instructions.py\n\n");
  benchmark::PrintDefaultHelp();
}

int run(const Options& options, Session* session) {
  if (!options.instructions.empty() &&
      !read_instructions(options.instructions, &session->instructions))
    return kUsage;
  session->cases = options.sweep ? sweep_cases() : all_cases();
  register_cases(session);
  if (options.list) {
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
  std::unique_ptr<Device> device;
  if (const Status status = make_primary_cuda_device(0, &device); !status.ok()) {
    std::fprintf(stderr, "no CUDA engine: %s\n", status.message.c_str());
    return std::getenv("CUDATRANSFORM_REQUIRE_GPU") != nullptr ? kFailed : kSkipped;
  }
  Lanes lanes;
  lanes.push_back(std::make_unique<Lane>());
  choose(session);
  if (session->chosen.empty()) return kFailed;  // Google Benchmark has said so
  if (!options.profile.empty()) return profile(lanes, options.profile, *session);
  Telemetry telemetry(*lanes[0]->gpu);
  measure(&lanes, options, &telemetry, session);
  if (options.sweep) return print_sweep(*session);
  for (const auto& [key, value] : telemetry.context(device->name()))
    benchmark::AddCustomContext(key, value);
  benchmark::RunSpecifiedBenchmarks();
  return session->failed ? kFailed : 0;
}

}  // namespace
}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  bench::Options options;
  bench::Session session;
  return bench::run_program(
      "bench_cuda", argc, argv,
      [&](std::string_view argument) { return bench::take_option(argument, &options); },
      [&] { return bench::run(options, &session); }, bench::print_help);
}
