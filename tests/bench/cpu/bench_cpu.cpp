// The CPU engine's speed: every method serial, with SIMD, with SIMD and oneTBB; compared with
// FFmpeg's AVDCT as a whole job, and a streaming copy of the same bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Quantized S16 coefficients, block layout, raster order, one 8-bit component, quality 85. Each
// case takes turns with the copies and with AVDCT, job by job, and counts by medians: a machine
// that others use as well slows all of them alike. Counters, besides the blocks of a job and the
// bytes a sample that must move:
//   ns/block      time of one 8x8 block
//   GB/s          the bytes that must move over the time of the job
//   ratio         time of the faster copy over the time of the job; 1 is the memory limit
//   x AVDCT       time of AVDCT's job over the time of this one: how many times as fast this one
//   is;
//                 the inverse with coefficients in AVDCT's own order, which favors AVDCT
//   x AVDCT raster  inverse only: with coefficients in raster order, which AVDCT's job must permute
// Wavelets: "serial" is the portable engine, "simd" vectors on one thread, "tbb" vectors on all.
// Their copy, and that of coefficient filters, has as many threads and moves the larger of the
// job's buffers. Counters:
//   samples, bytes/sample, ns/sample, x copy
//                 wavelets: samples of a job; time of one, of any component; time of the job over
//                 that of the copy
//   GB/s, ratio   coefficient filters: as above
// RGB's cases are in rgb.cpp.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/common.h"
#include "tests/bench/cpu/cases.h"
#include "tests/bench/turns.h"
#include "tests/engine/kernel_jobs.h"
#include "transform/device/simd_targets.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::bench {
namespace {

// The last size's picture and coefficients, 192 KiB, stay in a core's own cache.
constexpr FrameSize kSizes[] = {
    {"1080p", 1920, 1080, false}, {"4K", 3840, 2160, false}, {"256x256", 256, 256, true}};
static_assert(1080 % 8 == 0 && 2160 % 8 == 0);

double seconds_of_case = 0.6;  // --seconds=
bool any_failed = false;       // then so does the program

using test::KernelJob;
using Work = std::function<void(Frame&)>;

// One line of the table.
struct Subject {
  FrameSize size;
  KernelJob job;
  Direction direction;  // of the DCT
  Threads threads;
  Work work;
  bool is_copy = false;
  bool is_avdct = false;

  bool is_dct() const { return job.kind == "dct"; }
};

// Those of the last job: neighbors in the list share them.
Frames& frames_of(const Subject& subject) {
  static std::unique_ptr<Frames> frames;
  static std::string known;
  const KernelJob& job = subject.job;
  const std::string key =
      job.kind + subject.size.name + (subject.is_dct() ? job.buffers : job.keys);
  if (key != known) {
    known.clear();
    frames.reset();
    frames = std::make_unique<Frames>(job, subject.size);
    if (subject.is_dct() && !avdct_version().empty())
      for (Frame& frame : frames->all())
        if (const std::string fault = prepare_avdct(subject.size, subject.direction, frame);
            !fault.empty())
          throw std::runtime_error(fault);
    known = key;
  }
  return *frames;
}

// All coefficients, or whatever else is the larger of the job's buffers.
void copy_bytes(const Subject& subject, Frame& frame) {
  constexpr size_t kPiece = size_t{1} << 17;
  const size_t in = subject.job.in_size, out = subject.job.out_size, bytes = std::max(in, out);
  const uint8_t* from = (in >= out ? frame.in : frame.out).get();
  uint8_t* to = (in == out ? frame.out : frame.spare).get();
  for_block_rows(subject.threads, int((bytes + kPiece - 1) / kPiece), [&](int i) {
    const size_t first = kPiece * size_t(i);
    std::memcpy(to + first, from + first, std::min(kPiece, bytes - first));
  });
}

// What takes turns with a subject.
struct Others {
  std::vector<Work> copies, avdcts;
};
Others others_of(const Subject& subject) {
  Others others;
  if (subject.is_copy) return others;
  if (!subject.is_dct()) {
    others.copies.push_back([&subject](Frame& frame) { copy_bytes(subject, frame); });
    return others;
  }
  for (const Stores stores : {Stores::kCached, Stores::kStreamed})
    others.copies.push_back([&subject, stores](Frame& frame) {
      run_copy(subject.threads, stores, subject.size, subject.direction, frame);
    });
  if (subject.is_avdct || avdct_version().empty()) return others;
  for (const AvdctOrder order : {AvdctOrder::kOwn, AvdctOrder::kRaster})
    if (order == AvdctOrder::kOwn || subject.direction == Direction::kInverse)
      others.avdcts.push_back([&subject, order](Frame& frame) {
        run_avdct(subject.threads, subject.size, subject.direction, order, frame);
      });
  return others;
}

void run(benchmark::State& state, const Subject& subject) {
  const FrameSize& size = subject.size;
  const Others others = others_of(subject);
  std::vector<Work> contestants = {subject.work};
  contestants.insert(contestants.end(), others.copies.begin(), others.copies.end());
  contestants.insert(contestants.end(), others.avdcts.begin(), others.avdcts.end());
  std::vector<double> seconds;
  for (auto _ : state) {
    Frames& frames = frames_of(subject);
    std::vector<std::function<void()>> jobs;
    for (const Work& work : contestants) jobs.push_back([&frames, &work] { work(frames.next()); });
    // A job on a resident frame is too short for the clock.
    const int in_a_row = !size.resident ? 1 : subject.is_dct() ? 50 : 20;
    seconds = medians_of_turns(seconds_of_case, in_a_row, jobs, size.resident);
    state.SetIterationTime(seconds[0]);
  }
  auto& counters = state.counters;
  const size_t copies = others.copies.size(), avdcts = others.avdcts.size();
  const auto samples = double(subject.job.samples), blocks = double(subject.job.blocks);
  const bool is_filter = !subject.is_dct() && subject.job.kind != "dwt";
  // Of wavelets, without the coefficients of padding.
  const double bytes =
      is_filter ? double(subject.job.in_bytes + subject.job.out_bytes) : 3 * samples;
  counters["GB/s"] = 1e-9 * bytes / seconds[0];
  if (!is_filter) counters["bytes/sample"] = 3;
  if (subject.is_dct()) {
    counters["blocks"] = blocks;
    counters["ns/block"] = 1e9 * seconds[0] / blocks;
  } else if (!is_filter) {
    counters["samples"] = samples;
    counters["ns/sample"] = 1e9 * seconds[0] / samples;
    counters["x copy"] = seconds[0] / seconds[1];
    return;
  }
  if (copies > 0)
    counters["ratio"] =
        *std::min_element(seconds.begin() + 1, seconds.begin() + 1 + ptrdiff_t(copies)) /
        seconds[0];
  if (avdcts > 0) counters["x AVDCT"] = seconds[1 + copies] / seconds[0];
  if (avdcts > 1) counters["x AVDCT raster"] = seconds[2 + copies] / seconds[0];
}

// `of`: how the job is run. `keys`: those that only this case has.
void add(const std::string& kind, const std::string& of, const std::string& keys,
         const Subject& subject) {
  const std::string name = "engine:cpu/case:" + kind + (of.empty() ? "" : "/of:" + of) +
                           "/size:" + subject.size.name + "/" + keys +
                           "/threads:" + std::to_string(thread_count(subject.threads));
  add_benchmark(
      name, [subject](benchmark::State& state) { run(state, subject); }, &any_failed);
}

// The work of a job on the engine: "serial" is the portable one.
Work engine_work(const KernelJob& job, const std::string& of, Threads threads) {
  const std::shared_ptr<Device> shared(std::shared_ptr<Device>(), &device(threads));
  test::Engine engine = test::host_engine(shared);
  if (of == "serial") {
    engine.ops = &portable_dct8x8_ops();
    engine.dwt_ops = &portable_dwt_ops();
  }
  return [=](Frame& frame) {
    require(job.submit(engine, {frame.in.get(), frame.out.get()}, nullptr));
  };
}

// ---- The DCT ----

Subject dct_subject(const FrameSize& size, Direction direction, Method method, Threads threads) {
  test::DctSpec spec;
  spec.width = size.width;
  spec.height = size.height;
  spec.direction = direction;
  spec.method = method;
  return {size, dct_job(spec), direction, threads, {}};
}

void add_dct(const std::string& of, const std::string& form, const Subject& subject) {
  const std::string keys =
      form + "/direction:" + (subject.direction == Direction::kForward ? "forward" : "inverse");
  if (subject.size.resident)
    add("L2", of, keys, subject);
  else
    add(of, "", keys, subject);
}

bool has_simd(Method method) { return method <= Method::kFloat; }

void add_method(const FrameSize& size, Direction direction, Method method) {
  const auto add_as = [&](const char* of, Threads threads) {
    Subject subject = dct_subject(size, direction, method, threads);
    subject.work = engine_work(subject.job, of, threads);
    add_dct(of, std::string("method:") + method_name(method), subject);
  };
  // The cost of the teaching methods is shown once.
  if (!has_simd(method) && std::strcmp(size.name, "4K") != 0) return;
  add_as("serial", Threads::kOne);
  if (has_simd(method)) add_as("simd", Threads::kOne);
  if (!size.resident) add_as("tbb", Threads::kAll);
}

void add_others(const FrameSize& size, Direction direction, Threads threads) {
  for (const Stores stores : {Stores::kCached, Stores::kStreamed}) {
    Subject copy = dct_subject(size, direction, Method::kIslow, threads);
    copy.work = [=](Frame& frame) { run_copy(threads, stores, size, direction, frame); };
    copy.is_copy = true;
    add_dct("stream", stores == Stores::kCached ? "stores:cached" : "stores:streamed", copy);
  }
  if (avdct_version().empty()) return;
  for (const AvdctOrder order : {AvdctOrder::kOwn, AvdctOrder::kRaster}) {
    if (order == AvdctOrder::kOwn && direction == Direction::kForward) continue;
    Subject avdct = dct_subject(size, direction, Method::kIslow, threads);
    avdct.work = [=](Frame& frame) { run_avdct(threads, size, direction, order, frame); };
    avdct.is_avdct = true;
    add_dct("avdct", order == AvdctOrder::kOwn ? "order:own" : "order:raster", avdct);
  }
}

// ---- Wavelets and coefficient filters ----

void add_kernels(const FrameSize& size) {
  const test::KernelSize kernel_size = {size.name, size.width, size.height};
  const auto add_as = [&](const std::string& of, const KernelJob& job, Threads threads) {
    add(job.kind, of, job.keys,
        {size, job, Direction::kForward, threads, engine_work(job, of, threads)});
  };
  for (int w = 0; w < kWaveletCount; ++w)
    for (const int index : {0, 8})
      for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
        test::DwtKernel kernel = {static_cast<Wavelet>(w), index, direction};
        kernel.row_alignment = 1;
        const KernelJob job = dwt_job(kernel_size, kernel);
        // The cost of the portable engine is shown once.
        if (index == 0 && std::strcmp(size.name, "4K") != 0) add_as("serial", job, Threads::kOne);
        add_as("simd", job, Threads::kOne);
        if (!size.resident) add_as("tbb", job, Threads::kAll);
      }
  for (const KernelJob& job : test::filter_jobs(kernel_size)) add_as("", job, Threads::kOne);
}

void add_all() {
  for (const FrameSize& size : kSizes) {
    for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
      add_others(size, direction, Threads::kOne);
      if (!size.resident) add_others(size, direction, Threads::kAll);
      for (int m = 0; m < kMethodCount; ++m) add_method(size, direction, static_cast<Method>(m));
    }
  }
  for (const FrameSize& size : kSizes) add_kernels(size);
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
