// The JPEG elements' speed, from memory to frames and back, beside GStreamer's own and beside bare
// loops of libjpeg-turbo.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detailed 1080p 4:2:0 pictures of quality 90. All contestants take turns, some seconds each, and
// count by medians: a machine that others use as well slows all of them alike. Counters:
//   ms/frame    between two frames at the sink, so without the start of a pipeline
//   frames/s
//   x jpegdec   how many times as fast as jpegdec with its own settings (decoding)
//   x jpegenc   likewise (encoding)
//   x bare      how many times as fast as libjpeg-turbo's raw-data loop on one thread
// --engine=cuda adds the lines that need a GPU; --seconds=S: of all turns together, 60 by default;
// --frames=N: of each turn, for a quick look. --only=TEXT: contestants with that in their names.
#include <benchmark/benchmark.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/bench/common.h"
#include "tests/bench/jpeg_loops.h"
#include "tests/bench/jpeg_pictures.h"
#include "tests/bench/nvjpeg_loop.h"

namespace cudatransform::bench {
namespace {

constexpr int kPictures = 8;
int frames_of_turn = 40;  // --frames=; times the cores where all of them work
int skipped = 24;         // frames at the start of a turn that are not counted

enum class Job { kDecode, kEncode };

struct Contestant {
  std::string name;
  Job job;
  std::function<double()> turn;  // seconds a frame
  std::vector<double> seconds;
};

std::vector<JpegPicture> pictures;
std::vector<Contestant> contestants;
double all_seconds = 60;
bool with_cuda = false;
std::string only;

GstBuffer* wrap(const std::vector<uint8_t>& bytes) {
  return gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, const_cast<uint8_t*>(bytes.data()),
                                     bytes.size(), 0, bytes.size(), nullptr, nullptr);
}

// A pipeline between an appsrc that never runs dry and a fakesink, kept from turn to turn.
class Pipeline {
 public:
  Pipeline(Job job, const std::string& elements) : job_(job) {
    const std::string line = "appsrc name=source format=time max-bytes=0 ! " + elements +
                             " ! fakesink name=sink sync=false signal-handoffs=true";
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(line.c_str(), &error);
    if (error) throw std::runtime_error(error->message);
    GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline_), "sink");
    g_signal_connect(sink, "handoff",
                     G_CALLBACK(+[](GstElement*, GstBuffer*, GstPad*, Pipeline* self) {
                       self->arrivals_.push_back(Clock::now());
                     }),
                     this);
    gst_object_unref(sink);
    source_ = gst_bin_get_by_name(GST_BIN(pipeline_), "source");
    GstCaps* caps = gst_caps_from_string(
        job == Job::kDecode
            ? "image/jpeg,parsed=true,width=1920,height=1080,framerate=60/1"
            : "video/x-raw,format=I420,width=1920,height=1080,framerate=60/1,colorimetry=1:4:0:0");
    gst_app_src_set_caps(GST_APP_SRC(source_), caps);
    gst_caps_unref(caps);
  }
  ~Pipeline() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(source_);
    gst_object_unref(pipeline_);
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  double turn(int frames) {
    arrivals_.clear();
    arrivals_.reserve(static_cast<size_t>(frames + skipped));
    gst_element_set_state(pipeline_, GST_STATE_PAUSED);  // before, the source takes nothing
    for (int i = 0; i < frames + skipped; ++i) {
      const JpegPicture& picture = pictures[static_cast<size_t>(i) % pictures.size()];
      GstBuffer* buffer = wrap(job_ == Job::kDecode ? picture.file : picture.i420);
      GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(i) * GST_SECOND / 60;
      GST_BUFFER_DURATION(buffer) = GST_SECOND / 60;
      gst_app_src_push_buffer(GST_APP_SRC(source_), buffer);
    }
    gst_app_src_end_of_stream(GST_APP_SRC(source_));
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    wait_for_end();
    // READY keeps contexts and modules.
    gst_element_set_state(pipeline_, GST_STATE_READY);
    if (arrivals_.size() != static_cast<size_t>(frames + skipped))
      throw std::runtime_error("frames are missing");
    return std::chrono::duration<double>(arrivals_.back() -
                                         arrivals_[static_cast<size_t>(skipped) - 1])
               .count() /
           frames;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void wait_for_end() {
    GstBus* bus = gst_element_get_bus(pipeline_);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 120 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    gst_object_unref(bus);
    std::string fault = message ? "" : "no end after two minutes";
    if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      fault = error->message;
      g_error_free(error);
    }
    if (message) gst_message_unref(message);
    if (!fault.empty()) throw std::runtime_error(fault);
  }

  Job job_;
  GstElement* pipeline_ = nullptr;
  GstElement* source_ = nullptr;
  std::vector<Clock::time_point> arrivals_;
};

bool has_element(const char* name) {
  GstElementFactory* factory = gst_element_factory_find(name);
  if (factory) gst_object_unref(factory);
  return factory != nullptr;
}

void add_pipeline(Job job, const std::string& name, const std::string& elements, int frames) {
  // Made at its first turn, kept for the others.
  auto pipeline = std::make_shared<std::unique_ptr<Pipeline>>();
  contestants.push_back({name,
                         job,
                         [=] {
                           if (!*pipeline) *pipeline = std::make_unique<Pipeline>(job, elements);
                           return (*pipeline)->turn(frames);
                         },
                         {}});
}

void add_loop(Job job, const std::string& name, JpegLoop loop) {
  contestants.push_back(
      {name, job, [=] { return time_jpeg_loop(loop, pictures, frames_of_turn); }, {}});
}

// nvJPEG alone, without a pipeline around it.
void add_nvjpeg(const char* name, NvjpegLoop::Backend backend, int batch, int frames) {
  std::string why;
  std::shared_ptr<NvjpegLoop> loop = NvjpegLoop::make(backend, batch, &why);
  if (!loop) {
    std::fprintf(stderr, "bench_jpeg: without %s: %s\n", name, why.c_str());
    return;
  }
  contestants.push_back({name, Job::kDecode, [=] { return loop->time(pictures, frames); }, {}});
}

void add_contestants() {
  const std::string cpu = "backend=cpu n-threads=1", all = "backend=cpu";
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int many = frames_of_turn * std::max(1, cores);
  add_pipeline(Job::kDecode, "jpegdec", "jpegdec", frames_of_turn);
  add_pipeline(Job::kDecode, "jpegdec islow", "jpegdec idct-method=islow", frames_of_turn);
  add_loop(Job::kDecode, "bare loop", JpegLoop::kReadRaw);
  add_loop(Job::kDecode, "bare loop, coefficients", JpegLoop::kReadCoefficients);
  add_pipeline(Job::kDecode, "ours", "jpegcoefdec " + cpu + " ! cudaidct8x8 " + cpu,
               frames_of_turn);
  add_pipeline(Job::kDecode, "ours, an eighth of the size",
               "jpegcoefdec " + cpu + " ! cudaidct8x8 scale=1/8 " + cpu, frames_of_turn);
  add_pipeline(Job::kDecode, "ours, all cores",
               "jpegcoefdec " + all + " ! queue ! cudaidct8x8 " + cpu, many);
  if (with_cuda) {
    const std::string cuda = "backend=cuda";
    const std::string decode = "jpegcoefdec n-threads=" + std::to_string(cores) + " " + cuda;
    const std::string frames = "cudaidct8x8 " + cuda + " ! video/x-raw(memory:CUDAMemory)";
    const std::string coefficients = " ! video/x-dct(memory:CUDAMemory)";
    const std::string by_cpu = decode + " entropy=cpu", by_cuda = "jpegcoefdec " + cuda;
    add_pipeline(Job::kDecode, "ours, CUDA, codes by CPU", by_cpu + " ! " + frames, many);
    add_pipeline(Job::kDecode, "ours, CUDA, codes by CPU, coefficients", by_cpu + coefficients,
                 many);
    add_pipeline(Job::kDecode, "ours, CUDA", by_cuda + " ! " + frames, 4 * many);
    add_pipeline(Job::kDecode, "ours, CUDA, queue", by_cuda + " ! queue ! " + frames, 4 * many);
    add_pipeline(Job::kDecode, "ours, CUDA, coefficients", by_cuda + coefficients, 4 * many);
    if (has_element("nvjpegdec"))
      add_pipeline(Job::kDecode, "nvjpegdec", "nvjpegdec", 5 * frames_of_turn);
    add_nvjpeg("nvJPEG, hardware", NvjpegLoop::Backend::kHardware, 32, many);
    // Batches of 100 and less it leaves to the CPU, one thread.
    add_nvjpeg("nvJPEG, gpu_hybrid", NvjpegLoop::Backend::kGpuHybrid, 128, many);
  }
  add_pipeline(Job::kEncode, "jpegenc", "jpegenc quality=90", frames_of_turn);
  add_pipeline(Job::kEncode, "jpegenc islow", "jpegenc quality=90 idct-method=islow", 40);
  add_loop(Job::kEncode, "bare loop", JpegLoop::kWriteRaw);
  const std::string forward = "cudadct8x8 quality=90 ";
  add_pipeline(Job::kEncode, "ours", forward + cpu + " ! jpegcoefenc " + cpu, frames_of_turn);
  add_pipeline(Job::kEncode, "ours, all cores", forward + cpu + " ! jpegcoefenc " + all, many);
  if (!with_cuda) return;
  const std::string cuda =
      forward +
      "backend=cuda async-depth=4 ! jpegcoefenc backend=cuda n-threads=" + std::to_string(cores);
  add_pipeline(Job::kEncode, "ours, CUDA", cuda + " entropy=cuda", 4 * many);
  add_pipeline(Job::kEncode, "ours, CUDA, optimised", cuda + " entropy=cuda optimize=true",
               4 * many);
  add_pipeline(Job::kEncode, "ours, CUDA, entropy on the CPU", cuda + " entropy=cpu", many);
}

// How many times as fast as another; not where that has not run.
void compare(benchmark::State& state, const Contestant& contestant, const char* counter,
             const char* name) {
  for (const Contestant& other : contestants)
    if (other.job == contestant.job && other.name == name)
      state.counters[counter] = median(other.seconds) / median(contestant.seconds);
}

void choose_contestants() {
  std::erase_if(contestants, [](const Contestant& contestant) {
    return contestant.name.find(only) == std::string::npos;
  });
  if (contestants.empty()) throw std::runtime_error("no contestant has that name");
}

void take_turns() {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(all_seconds);
  for (int round = 0; round < 1 || Clock::now() < end; ++round)
    for (Contestant& contestant : contestants) contestant.seconds.push_back(contestant.turn());
}

void report(benchmark::State& state, const Contestant& contestant) {
  const double seconds = median(contestant.seconds);
  for (auto _ : state) state.SetIterationTime(seconds);
  state.counters["ms/frame"] = 1e3 * seconds;
  state.counters["frames/s"] = 1 / seconds;
  const bool decode = contestant.job == Job::kDecode;
  compare(state, contestant, decode ? "x jpegdec" : "x jpegenc", decode ? "jpegdec" : "jpegenc");
  compare(state, contestant, "x bare", "bare loop");
}

void describe_run() {
  size_t bytes = 0;
  for (const JpegPicture& picture : pictures) bytes += picture.file.size();
  benchmark::AddCustomContext("bytes_per_file", std::to_string(bytes / pictures.size()));
  benchmark::AddCustomContext("cores", std::to_string(std::thread::hardware_concurrency()));
  gchar* version = gst_version_string();
  benchmark::AddCustomContext("gstreamer", version);
  g_free(version);
  benchmark::AddCustomContext("cpu", cpu_model());
  benchmark::AddCustomContext("rounds", std::to_string(contestants.front().seconds.size()));
}

bool take_option(std::string_view argument) {
  double frames = 0;
  if (argument == "--engine=cuda")
    with_cuda = true;
  else if (argument.starts_with("--only="))
    only = argument.substr(argument.find('=') + 1);
  else if (has_value(argument, "--frames=", &frames))
    skipped = frames_of_turn = std::max(1, static_cast<int>(frames));
  else
    return has_value(argument, "--seconds=", &all_seconds);
  return true;
}

void run() {
  pictures = make_jpeg_pictures(kPictures);
  add_contestants();
  choose_contestants();
  take_turns();
  describe_run();
  for (const Contestant& contestant : contestants) {
    const std::string name = std::string("engine:jpeg/case:") +
                             (contestant.job == Job::kDecode ? "decode" : "encode") +
                             "/contestant:" + contestant.name;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&](benchmark::State& state) { report(state, contestant); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}

}  // namespace
}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  gst_init(&argc, &argv);
  benchmark::Initialize(&argc, argv);
  bench::take_options(&argc, argv, bench::take_option);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  int status = 0;
  try {
    bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_jpeg: %s\n", error.what());
    status = 1;
  }
  bench::contestants.clear();  // pipelines, before GStreamer goes
  benchmark::Shutdown();
  return status;
}
