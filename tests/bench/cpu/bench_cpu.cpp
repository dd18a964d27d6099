// The CPU engine's speed: every method serial, with SIMD, with SIMD and oneTBB; beside it FFmpeg's
// AVDCT as a whole job, and a streaming copy of the same bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Quantised S16 coefficients, block layout, raster order, one 8-bit component, quality 85. Each
// case takes turns with the copies and with AVDCT, job by job, and counts by medians: a machine
// that others use as well slows all of them alike. Counters, besides the blocks of a job and the
// bytes a sample that must move:
//   ns/block      time of one 8x8 block
//   GB/s          the bytes that must move over the time of the job
//   ratio         time of the faster copy over the time of the job; 1 is the memory limit
//   x AVDCT       time of AVDCT's job over the time of this one: how many times as fast this one
//   is;
//                 the inverse with coefficients in AVDCT's own order, which favours AVDCT
//   x AVDCT raster  inverse only: with coefficients in raster order, which AVDCT's job must permute
// The wavelets' cases and those of coefficient filters are in kernels.cpp, RGB's in rgb.cpp.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/common.h"
#include "tests/bench/cpu/cases.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/simd_targets.h"

namespace cudatransform::bench {
namespace {

// The last size's picture and coefficients, 192 KiB, stay in a core's own cache.
constexpr FrameSize kSizes[] = {
    {"1080p", 1920, 1080, false}, {"4K", 3840, 2160, false}, {"256x256", 256, 256, true}};
static_assert(1080 % 8 == 0 && 2160 % 8 == 0);

double seconds_of_case = 0.6;  // --seconds=
bool any_failed = false;       // then so does the program

using Work = std::function<void(Frame&)>;

// The last size's frames: neighbours in the list share them.
Frames& frames_of(const FrameSize& size) {
  static std::unique_ptr<Frames> frames;
  if (frames == nullptr || std::strcmp(frames->size().name, size.name) != 0) {
    frames.reset();
    const bool has_avdct = !avdct_version().empty();
    frames = std::make_unique<Frames>(size, has_avdct ? avdct_permutation() : nullptr);
    if (has_avdct) {
      const std::string fault = check_avdct(size, frames->next());
      if (!fault.empty()) throw std::runtime_error(fault);
    }
  }
  return *frames;
}

// Median seconds of each contestant's job, over the frames in turn.
std::vector<double> medians(Frames& frames, const std::vector<Work>& contestants) {
  std::vector<std::function<void()>> jobs;
  for (const Work& work : contestants) jobs.push_back([&frames, &work] { work(frames.next()); });
  const bool resident = frames.size().resident;
  // A job on a resident frame is too short for the clock.
  return medians_of_turns(seconds_of_case, resident ? 50 : 1, jobs, resident);
}

// One line of the table.
struct Subject {
  FrameSize size;
  Direction direction;
  Threads threads;
  Work work;
  bool is_copy = false;
  bool is_avdct = false;
};

void run(benchmark::State& state, const Subject& subject) {
  const FrameSize& size = subject.size;
  const bool inverse = subject.direction == Direction::kInverse;
  std::vector<Work> contestants = {subject.work};
  size_t copies = 0, avdcts = 0;
  if (!subject.is_copy) {
    for (const Stores stores : {Stores::kCached, Stores::kStreamed}) {
      contestants.push_back([&subject, stores](Frame& frame) {
        run_copy(subject.threads, stores, subject.size, subject.direction, frame);
      });
      ++copies;
    }
  }
  if (!subject.is_copy && !subject.is_avdct && !avdct_version().empty()) {
    for (const AvdctOrder order : {AvdctOrder::kOwn, AvdctOrder::kRaster}) {
      if (order == AvdctOrder::kRaster && !inverse) continue;
      contestants.push_back([&subject, order](Frame& frame) {
        run_avdct(subject.threads, subject.size, subject.direction, order, frame);
      });
      ++avdcts;
    }
  }
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds = medians(frames_of(size), contestants);
    state.SetIterationTime(seconds[0]);
  }
  const auto blocks = static_cast<double>(size.blocks());
  state.counters["blocks"] = blocks;
  state.counters["bytes/sample"] = 3;
  state.counters["ns/block"] = 1e9 * seconds[0] / blocks;
  state.counters["GB/s"] = 3e-9 * static_cast<double>(size.samples()) / seconds[0];
  if (copies > 0) state.counters["ratio"] = std::min(seconds[1], seconds[2]) / seconds[0];
  if (avdcts > 0) state.counters["x AVDCT"] = seconds[1 + copies] / seconds[0];
  if (avdcts > 1) state.counters["x AVDCT raster"] = seconds[2 + copies] / seconds[0];
}

// `form`: the keys of the name that only this case has, such as "method:float".
void add(const char* name, const std::string& form, const Subject& subject) {
  const std::string full =
      std::string("engine:cpu/case:") + (subject.size.resident ? "L2/of:" : "") + name +
      "/size:" + subject.size.name + "/" + form +
      "/direction:" + (subject.direction == Direction::kForward ? "forward" : "inverse") +
      "/threads:" + std::to_string(thread_count(subject.threads));
  add_benchmark(
      full, [subject](benchmark::State& state) { run(state, subject); }, &any_failed);
}

bool has_simd(Method method) { return method <= Method::kFloat; }

void add_method(const FrameSize& size, Direction direction, Method method) {
  const std::string form = std::string("method:") + method_name(method);
  const auto engine = [&](const Dct8x8Ops& ops, Threads threads) {
    return Subject{size, direction, threads, [=, &ops](Frame& frame) {
                     run_engine(ops, threads, size, method, direction, frame);
                   }};
  };
  // The cost of the teaching methods is shown once.
  if (!has_simd(method) && std::strcmp(size.name, "4K") != 0) return;
  add("serial", form, engine(portable_dct8x8_ops(), Threads::kOne));
  if (has_simd(method)) add("simd", form, engine(host_dct8x8_ops(), Threads::kOne));
  if (!size.resident) add("tbb", form, engine(host_dct8x8_ops(), Threads::kAll));
}

void add_others(const FrameSize& size, Direction direction, Threads threads) {
  for (const Stores stores : {Stores::kCached, Stores::kStreamed}) {
    Subject copy{size, direction, threads,
                 [=](Frame& frame) { run_copy(threads, stores, size, direction, frame); }};
    copy.is_copy = true;
    add("stream", stores == Stores::kCached ? "stores:cached" : "stores:streamed", copy);
  }
  if (avdct_version().empty()) return;
  for (const AvdctOrder order : {AvdctOrder::kOwn, AvdctOrder::kRaster}) {
    if (order == AvdctOrder::kOwn && direction == Direction::kForward) continue;
    Subject avdct{size, direction, threads,
                  [=](Frame& frame) { run_avdct(threads, size, direction, order, frame); }};
    avdct.is_avdct = true;
    add("avdct", order == AvdctOrder::kOwn ? "order:own" : "order:raster", avdct);
  }
}

void add_all() {
  for (const FrameSize& size : kSizes) {
    for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
      add_others(size, direction, Threads::kOne);
      if (!size.resident) add_others(size, direction, Threads::kAll);
      for (int m = 0; m < kMethodCount; ++m) add_method(size, direction, static_cast<Method>(m));
    }
  }
  for (const FrameSize& size : kSizes) add_kernel_cases(size, &seconds_of_case, &any_failed);
  for (const FrameSize& size : kSizes) add_rgb_cases(size, &seconds_of_case, &any_failed);
}

void describe_run() {
  describe_cpu();
  const std::string version = avdct_version();
  benchmark::AddCustomContext("libavcodec", version.empty() ? "missing" : version);
}

// --seconds=S: how long the contestants of one case take turns, together.
// --target=AVX2: not the best instruction set, but this one.
bool take_option(std::string_view argument, std::string* target) {
  return has_value(argument, "--seconds=", &seconds_of_case) ||
         has_value(argument, "--target=", target);
}

int run(const std::string& target) {
  int64_t mask = 0;
  for (const auto& [name, simd_target] : host_simd_targets())
    if (name == target) mask = simd_target;
  if (mask == 0 && !target.empty()) {
    std::fprintf(stderr, "no instruction set %s here\n", target.c_str());
    return 2;
  }
  if (mask != 0) set_host_simd_targets(mask);
  describe_run();
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  return any_failed ? 1 : 0;
}

}  // namespace
}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  std::string target;
  return bench::run_program(
      "bench_cpu", argc, argv,
      [&](std::string_view argument) { return bench::take_option(argument, &target); },
      [&] { return bench::run(target); });
}
