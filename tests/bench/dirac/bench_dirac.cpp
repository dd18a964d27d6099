// cudadiracdec's speed: whole streams of Dirac and VC-2 from memory to frames, by engine and
// memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// bench_dirac [--pictures=N] [--turns=N] [--engine=cpu|cuda|all] [--only=REGEX] [--benchmark_...]
//             STREAM.drc...
//
// stderr reports every run when it ends. --only: cases whose names match. No case is a failure.
// make_dirac makes streams of a given rate. A stream is given again and again, as sequences may be
// joined, until N pictures (500) have been requested. Cases with the same stream take turns.
// Counters:
//   ms/frame          between two frames at the sink, so without the start of a pipeline
//   frames/s
//   threads           that read codes
//   STAGE             microseconds a picture: of one thread for codes, of the engine for the rest
#include <benchmark/benchmark.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/common.h"
#include "tests/bench/turns.h"

namespace {

using Clock = std::chrono::steady_clock;

int pictures_wanted = 500, rounds_wanted = 3;
std::regex only("");  // any
constexpr const char* kStages[] = {"motion-decode", "residual-decode", "wavelet", "upsample",
                                   "motion-render"};

struct Stream {
  std::string name;
  std::vector<char> bytes;
  int pictures = 0;  // of one pass
};

struct Result {
  double seconds = 0;                    // a frame
  std::map<std::string, double> stages;  // microseconds a picture
  guint64 frames = 0, on_cuda = 0;
};

struct Contestant {
  const Stream* stream;
  std::string name, decoder;
  std::vector<Result> results;
  std::string error;
};

struct Arrivals {
  guint64 count = 0;
  Clock::time_point first, last;
};

Result play(const Stream& stream, const std::string& decoder, int passes) {
  const std::string line = "appsrc name=source max-bytes=8000000 block=true caps=video/x-dirac ! " +
                           decoder + " ! fakesink name=sink sync=false signal-handoffs=true";
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line.c_str(), &error);
  if (error != nullptr) throw std::runtime_error(error->message);
  GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstElement* ours = gst_bin_get_by_name(GST_BIN(pipeline), "ours");
  Arrivals arrivals;
  g_signal_connect(sink, "handoff", G_CALLBACK(+[](GstElement*, GstBuffer*, GstPad*, Arrivals* to) {
                     to->last = Clock::now();
                     if (to->count++ == 0) to->first = to->last;
                   }),
                   &arrivals);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (int i = 0; i < passes; ++i) {
    GstBuffer* buffer = gst_buffer_new_wrapped_full(
        GST_MEMORY_FLAG_READONLY, const_cast<char*>(stream.bytes.data()), stream.bytes.size(), 0,
        stream.bytes.size(), nullptr, nullptr);
    if (gst_app_src_push_buffer(GST_APP_SRC(source), buffer) != GST_FLOW_OK) break;
  }
  gst_app_src_end_of_stream(GST_APP_SRC(source));
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, 600 * GST_SECOND, GstMessageType(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  const bool ended = message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  Result result;
  GstStructure* stats = nullptr;
  g_object_get(ours, "stats", &stats, nullptr);
  gst_structure_get_uint64(stats, "cuda-pictures", &result.on_cuda);
  for (const char* stage : kStages) {
    GstClockTime mean = GST_CLOCK_TIME_NONE;  // not measured
    gst_structure_get_uint64(stats, (std::string(stage) + "-time-mean").c_str(), &mean);
    result.stages[stage] = GST_CLOCK_TIME_IS_VALID(mean) ? static_cast<double>(mean) / 1000 : -1;
  }
  gst_structure_free(stats);
  result.frames = arrivals.count;
  if (arrivals.count > 1)
    result.seconds = std::chrono::duration<double>(arrivals.last - arrivals.first).count() /
                     static_cast<double>(arrivals.count - 1);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  std::string why = stream.name + " did not play to its end";
  if (message != nullptr && !ended) {
    gchar* debug = nullptr;
    gst_message_parse_error(message, &error, &debug);
    why = error->message + std::string(": ") + (debug != nullptr ? debug : "");
    g_free(debug);
    g_error_free(error);
  }
  if (message != nullptr) gst_message_unref(message);
  gst_object_unref(bus);
  gst_object_unref(ours);
  gst_object_unref(sink);
  gst_object_unref(source);
  gst_object_unref(pipeline);
  if (!ended || arrivals.count < 2) throw std::runtime_error(why);
  return result;
}

Stream read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  Stream stream = {std::filesystem::path(path).stem().string(),
                   {std::istreambuf_iterator<char>(file), {}}};
  if (stream.bytes.empty()) throw std::runtime_error(std::string("cannot read ") + path);
  stream.pictures = static_cast<int>(play(stream, "cudadiracdec name=ours backend=cpu", 1).frames);
  return stream;
}

void add_contestants(const Stream& stream, const std::string& engine,
                     std::vector<Contestant>* all) {
  const auto add = [&](const std::string& name, const std::string& decoder) {
    if (!std::regex_search(stream.name + "/" + name, only)) return;
    all->push_back({&stream, name, "cudadiracdec name=ours " + decoder, {}, ""});
  };
  if (engine != "cuda") {
    add("engine:cpu/threads:1", "backend=cpu n-threads=1");
    add("engine:cpu/threads:all", "backend=cpu");
  }
  if (engine == "cpu") return;
  add("engine:cuda/memory:system", "backend=cuda ! video/x-raw");
  add("engine:cuda/memory:cuda", "backend=cuda ! video/x-raw(memory:CUDAMemory)");
  add("engine:cuda/memory:cuda/threads:1",
      "backend=cuda n-threads=1 ! video/x-raw(memory:CUDAMemory)");
}

void measure(Contestant& contestant) {
  const Stream& stream = *contestant.stream;
  const int passes = (pictures_wanted + stream.pictures - 1) / stream.pictures;
  try {
    contestant.results.push_back(play(stream, contestant.decoder, std::max(passes, 1)));
    std::fprintf(stderr, "%s/%s: %.1f frames/s\n", stream.name.c_str(), contestant.name.c_str(),
                 1 / contestant.results.back().seconds);
  } catch (const std::exception& error) {
    contestant.error = error.what();
    std::fprintf(stderr, "%s, %s: %s\n", stream.name.c_str(), contestant.name.c_str(),
                 error.what());
  }
}

void report(benchmark::State& state, Contestant& contestant) {
  std::vector<Result>& results = contestant.results;
  if (results.empty()) return state.SkipWithError(contestant.error.c_str());
  std::sort(results.begin(), results.end(),
            [](const Result& a, const Result& b) { return a.seconds < b.seconds; });
  const Result& median = results[results.size() / 2];
  for ([[maybe_unused]] auto _ : state) state.SetIterationTime(median.seconds);
  state.counters["frames/s"] = 1 / median.seconds;
  state.counters["on_cuda"] = static_cast<double>(median.on_cuda);
  for (const auto& [stage, microseconds] : median.stages) state.counters[stage] = microseconds;
}

int run(const std::vector<std::string>& paths, const std::string& engine) {
  if (paths.empty()) {
    std::fprintf(stderr, "bench_dirac: name the streams to decode\n");
    return 2;
  }
  std::vector<Stream> streams;
  std::vector<Contestant> contestants;
  for (const std::string& path : paths) streams.push_back(read(path.c_str()));
  for (const Stream& stream : streams) add_contestants(stream, engine, &contestants);
  cudatransform::bench::take_rounds(0, rounds_wanted, [&](int) {
    for (Contestant& contestant : contestants) measure(contestant);
  });
  for (Contestant& contestant : contestants) {
    cudatransform::bench::add_benchmark(
        "stream:" + contestant.stream->name + "/" + contestant.name,
        [&contestant](benchmark::State& state) { report(state, contestant); });
  }
  cudatransform::bench::describe_machine();
  return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  using cudatransform::bench::has_value;
  gst_init(&argc, &argv);
  std::string engine = "all", pattern;
  double number = 0;
  std::vector<std::string> paths;
  const auto take = [&](std::string_view argument) {
    if (has_value(argument, "--pictures=", &number)) {
      pictures_wanted = static_cast<int>(number);
    } else if (has_value(argument, "--turns=", &number)) {
      rounds_wanted = static_cast<int>(number);
    } else if (has_value(argument, "--only=", &pattern)) {
      only = std::regex(pattern);
    } else if (!argument.starts_with("--")) {
      paths.emplace_back(argument);
    } else {
      return has_value(argument, "--engine=", &engine);
    }
    return true;
  };
  return cudatransform::bench::run_program("bench_dirac", argc, argv, take,
                                           [&] { return run(paths, engine); });
}
