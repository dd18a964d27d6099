// The transforms' speed in pipelines, compared with the engines' kernels alone and copies alone.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// 4:2:0 frames of 8 bits with a camera's picture, quality 85, in block layout. Contestants take
// turns, each round on another of the host's processors, and count by medians of the turns that had
// a core for themselves; where two are compared, by the median of the quotients, each of two turns
// of the same round. Where fewer than five turns had a core for themselves all of them count. Names
// are key:value pairs. case:
//   chain      cudadct8x8 ! cudaidct8x8, frames and coefficients in CUDA memory; with a queue
//              between them as "threads" says. x kernels: of the speed of the two kernels alone
//   forward    cudadct8x8 alone, to a peer that honors the fence: nothing is waited for
//   system     the chain from system memory to system memory. x copies: of the speed of uploads and
//              downloads of the same bytes alone, both directions simultaneously
//   measured   the chain with measure= as the name says. x unmeasured: of its speed without
//   control    the chain once more. x unmeasured: the noise
//   cpu        the chain on the CPU engine. x kernels: of the engine's speed alone
// Counters:
//   frames/s, us/frame   by the clock, from the first frame in to the last one complete
//   host us/element      time of the processor in the pushing thread for each frame and element,
//                        with what it spins while it waits for a fast GPU
//   shared ...           the same of the turns that shared their core, where there are five
// --engine=cuda|cpu (cuda where there is a GPU); --seconds=S: of all turns together (60);
// --filter=TEXT: names that contain it, and what they are compared with.
//
// Exit status: 0; 1 where anything failed; 2 for arguments that are not understood; 77 for
// --engine=cuda without a GPU.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/common.h"
#include "tests/bench/pipeline/bare.h"
#include "tests/bench/pipeline/line.h"
#include "tests/bench/turns.h"
#if CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"
#endif

namespace cudatransform::bench {
namespace {

constexpr PipeSize kHd = {"1080p", 1920, 1080}, k8K = {"8K", 7680, 4320};

// A quick look takes small rings.
PipeSize sized(PipeSize size, double seconds) {
  if (seconds == 0) size.ring = 3;
  return size;
}
constexpr int kSkipped = 77;
// The length of a contestant's turn: long enough to hide the start and the end, short enough for
// the next one to find the machine in the same state. A virtual processor takes up to half as long
// again for seconds or minutes while another user keeps the other hardware thread of its core busy,
// and a thread that pushes frames without a pause stays on one processor for as long. So each round
// has its own.
constexpr double kTurn = 0.05;

struct Options {
  bool cuda = true;
  bool engine_given = false;
  double seconds = 60;
  std::string filter;
};

using Turn = std::function<Reading(double seconds)>;
struct Contestant {
  std::string name;
  std::function<Turn()> make;
  int elements = 0;             // the divisor of host time; 0: none is reported
  std::string baseline, ratio;  // the other's name, and the quotient's name
  Turn turn;
  Turns turns;
};

int min_frames(const Options& options, const PipeSize& size) {
  if (options.seconds == 0) return 2;
  return options.cuda && size.width < 4000 ? 500 : 50;
}

class Session {
 public:
  explicit Session(const Options& options)
      : options_(options), hd_(sized(kHd, options.seconds)), eight_k_(sized(k8K, options.seconds)) {
    if (options.cuda)
      add_cuda();
    else
      add_cpu();
  }

  void take_turns() {
    choose();
    const double turn = options_.seconds == 0 ? 0 : kTurn;
    for (Contestant& one : contestants_) {
      one.turn = one.make();
      one.turn(turn / 4);  // pools fill, modules load
    }
    rounds_ = take_rounds(options_.seconds, 1, [&](int round) {
      move_to_processor(round);
      for (Contestant& one : contestants_) one.turns.take([&] { return one.turn(turn); });
    });
    std::vector<double> widths;
    for (const Contestant& one : contestants_)
      for (const double width : one.turns.widths()) widths.push_back(width);
    alone_width_ = kAloneWidth * quantile(widths, 0.1);
  }

  void report() {
    describe();
    for (const Contestant& one : contestants_)
      add_benchmark(one.name, [&](benchmark::State& state) { report_one(state, one); });
    benchmark::RunSpecifiedBenchmarks();
  }

 private:
  void add_line(const std::string& name, const std::string& elements, const PipeSize& size,
                const char* sink_caps, bool in_cuda, int count, const std::string& baseline = "",
                const std::string& ratio = "") {
    const int least = min_frames(options_, size);
    contestants_.push_back({name,
                            [=] {
                              auto line =
                                  std::make_shared<Line>(elements, size, in_cuda, sink_caps);
                              return [=](double seconds) { return line->run(seconds, least); };
                            },
                            count,
                            baseline,
                            ratio,
                            {},
                            {}});
  }
  template <typename Bare>
  void add_bare(const std::string& name, const PipeSize& size,
                std::function<std::shared_ptr<Bare>()> make) {
    const int least = min_frames(options_, size);
    contestants_.push_back({name,
                            [=] {
                              return [=, bare = make()](double seconds) {
                                return Reading{bare->run(seconds, least), 0};
                              };
                            },
                            0,
                            "",
                            "",
                            {},
                            {}});
  }
  void add_kernels(const std::string& name, const PipeSize& size, Method method, int threads) {
    add_bare<Kernels>(name, size, [=] { return std::make_shared<Kernels>(size, method, threads); });
  }

  void add_cuda();
  void add_cuda_size(const PipeSize& size);
  void add_measured(const PipeSize& size, const std::string& unmeasured);
  void add_cpu();

  // The contestants whose names the filter leaves, their baselines, and those of the baselines.
  void choose() {
    std::set<std::string> wanted;
    const auto want = [&](auto& again, const Contestant& one) -> void {
      wanted.insert(one.name);
      if (!one.baseline.empty()) again(again, find(one.baseline));
    };
    for (const Contestant& one : contestants_)
      if (one.name.find(options_.filter) != std::string::npos) want(want, one);
    std::erase_if(contestants_, [&](const Contestant& one) { return !wanted.count(one.name); });
    if (contestants_.empty()) throw std::runtime_error("no name contains " + options_.filter);
  }

  const Contestant& find(const std::string& name) const {
    return *std::find_if(contestants_.begin(), contestants_.end(),
                         [&](const Contestant& one) { return one.name == name; });
  }

  void report_one(benchmark::State& state, const Contestant& one) const {
    const Turns& turns = one.turns;
    const Reading reading = turns.medians(Core::kAlone, alone_width_).value_or(turns.medians());
    for (auto _ : state) state.SetIterationTime(reading.seconds);
    state.counters["frames/s"] = 1 / reading.seconds;
    count_times(state, one, reading, "");
    if (const auto shared = turns.medians(Core::kShared, alone_width_))
      count_times(state, one, *shared, "shared ");
    if (!one.baseline.empty())
      state.counters[one.ratio] = Turns::quotient(find(one.baseline).turns, turns, alone_width_);
  }

  static void count_times(benchmark::State& state, const Contestant& one, const Reading& reading,
                          const std::string& which) {
    state.counters[which + "us/frame"] = 1e6 * reading.seconds;
    if (one.elements > 0)
      state.counters[which + "host us/element"] = 1e6 * reading.host_seconds / one.elements;
  }

  void describe() const;

  Options options_;
  PipeSize hd_, eight_k_;
  std::vector<Contestant> contestants_;
  int rounds_ = 0;
  double alone_width_ = 0;
};

// The part between the elements.
const char* between(bool queue) {
  return queue ? " ! queue max-size-buffers=8 max-size-bytes=0 max-size-time=0 ! " : " ! ";
}

std::string depth(int frames) { return " async-depth=" + std::to_string(frames); }

constexpr const char* kDevice = "video/x-raw(memory:CUDAMemory)";

void Session::add_cuda_size(const PipeSize& size) {
  const std::string at = std::string("/size:") + size.name;
  for (const char* method : {"float", "islow"}) {
    const std::string with = std::string(" backend=cuda method=") + method;
    const std::string kernels = "case:kernels" + at + "/method:" + method;
    add_kernels(kernels, size, std::strcmp(method, "float") == 0 ? Method::kFloat : Method::kIslow,
                0);
    for (const int frames : {1, 2, 4}) {
      for (const bool queue : {false, true}) {
        const std::string name = "case:chain" + at + "/method:" + method +
                                 "/depth:" + std::to_string(frames) +
                                 "/threads:" + (queue ? "two" : "one");
        add_line(name,
                 "cudadct8x8" + with + depth(frames) + between(queue) + "cudaidct8x8" + with +
                     depth(frames),
                 size, kDevice, true, queue ? 0 : 2, kernels, "x kernels");
        if (std::strcmp(method, "float") == 0 && frames == 4 && !queue) add_measured(size, name);
      }
    }
  }
  const std::string with = " backend=cuda method=float async-depth=4";
  add_line("case:forward" + at + "/method:float", "cudadct8x8" + with, size,
           "video/x-dct(memory:CUDAMemory)", true, 1);
}

// `unmeasured`: the name of the same chain without measure=.
void Session::add_measured(const PipeSize& size, const std::string& unmeasured) {
  const std::string with = " backend=cuda method=float async-depth=4";
  const std::string at = std::string("/size:") + size.name;
  add_line("case:measured" + at + "/measure:psnr+time",
           "cudadct8x8 measure=psnr+time" + with + " ! cudaidct8x8 measure=psnr+time" + with, size,
           kDevice, true, 2, unmeasured, "x unmeasured");
  add_line("case:measured" + at + "/measure:psnr+time/reference:kept",
           "cudadct8x8 keep-reference=true measure=psnr+time" + with +
               " ! cudaidct8x8 measure=psnr+time" + with,
           size, kDevice, true, 2, unmeasured, "x unmeasured");
  add_line("case:control" + at, "cudadct8x8" + with + " ! cudaidct8x8" + with, size, kDevice, true,
           2, unmeasured, "x unmeasured");
}

void Session::add_cuda() {
  for (const PipeSize& size : {hd_, eight_k_}) add_cuda_size(size);
  const std::string at = std::string("/size:") + hd_.name;
  for (const int frames : {1, 2, 4}) {
    const std::string copies = "case:copies" + at + "/depth:" + std::to_string(frames);
    add_bare<Copies>(copies, hd_,
                     [size = hd_, frames] { return std::make_shared<Copies>(size, frames); });
    const std::string with = " backend=cuda method=float" + depth(frames);
    for (const bool queue : {false, true})
      add_line("case:system" + at + "/depth:" + std::to_string(frames) +
                   "/threads:" + (queue ? "two" : "one"),
               "cudadct8x8" + with + between(queue) + "cudaidct8x8" + with, hd_, "video/x-raw",
               false, queue ? 0 : 2, copies, "x copies");
  }
}

void Session::add_cpu() {
  for (const int threads : {1, 2}) {
    for (const char* method : {"float", "islow"}) {
      const std::string rest =
          std::string("/size:1080p/method:") + method + "/n-threads:" + std::to_string(threads);
      add_kernels("case:kernels" + rest, hd_,
                  std::strcmp(method, "float") == 0 ? Method::kFloat : Method::kIslow, threads);
      const std::string with =
          std::string(" backend=cpu method=") + method + " n-threads=" + std::to_string(threads);
      add_line("case:cpu" + rest, "cudadct8x8" + with + " ! cudaidct8x8" + with, hd_, "video/x-raw",
               false, 0, "case:kernels" + rest, "x kernels");
    }
  }
}

void Session::describe() const {
  gchar* version = gst_version_string();
  benchmark::AddCustomContext("gstreamer", version);
  g_free(version);
  describe_machine();
  benchmark::AddCustomContext("engine", options_.cuda ? "cuda" : "cpu");
  benchmark::AddCustomContext("rounds", std::to_string(rounds_));
#if CT_HAVE_CUDA
  std::unique_ptr<Device> device;
  if (options_.cuda && make_primary_cuda_device(0, &device).ok()) {
    benchmark::AddCustomContext("gpu", device->name());
    benchmark::AddCustomContext("driver", line_of("/proc/driver/nvidia/version", "NVRM version: "));
  }
#endif
}

bool has_gpu() {
#if CT_HAVE_CUDA
  int count = 0;
  return probe_cuda_driver(&count).ok();
#else
  return false;
#endif
}

bool take_option(std::string_view argument, Options* options) {
  if (argument == "--engine=cuda")
    options->engine_given = options->cuda = true;
  else if (argument == "--engine=cpu")
    options->cuda = false;
  else
    return has_value(argument, "--seconds=", &options->seconds) ||
           has_value(argument, "--filter=", &options->filter);
  return true;
}

int run(const Options& wanted) {
  Options options = wanted;
  if (options.cuda && !has_gpu()) {
    if (options.engine_given) {
      const bool required = g_strcmp0(g_getenv("CUDATRANSFORM_REQUIRE_GPU"), "1") == 0;
      std::fprintf(stderr, "bench_pipeline: no usable GPU\n");
      return required ? 1 : kSkipped;
    }
    options.cuda = false;
  }
  Session session(options);
  session.take_turns();
  session.report();
  return 0;
}

}  // namespace
}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  gst_init(&argc, &argv);
  bench::Options options;
  return bench::run_program(
      "bench_pipeline", argc, argv,
      [&](std::string_view argument) { return bench::take_option(argument, &options); },
      [&] { return bench::run(options); });
}
