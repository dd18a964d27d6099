// cudaapvdec's speed: streams of APV from memory to frames, by engine, place of the entropy decoder
// and memory; and the latency of a single frame.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: bench_apv [--frames=N] [--turns=N] [--only=TEXT] STREAM.apv...
//
// make_apv makes streams of a given rate. A stream is given again and again until N frames (1000)
// have been pushed. Cases of a stream take turns; a line has the median of all turns (3). --only:
// cases whose names contain the text. Where a case cannot run, its line says so.
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "apv/access_unit.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Stream {
  std::string name;
  std::vector<char> bytes;
  std::vector<std::pair<size_t, size_t>> units;  // begin and size
};

struct Case {
  const char* name;
  const char* decoder;
  const char* caps;
  bool one_at_a_time;
};
constexpr Case kCases[] = {
    {"cpu, one thread", "backend=cpu n-threads=1", "video/x-raw", false},
    {"cpu", "backend=cpu", "video/x-raw", false},
    {"cuda to CUDA memory", "backend=cuda", "video/x-raw(memory:CUDAMemory)", false},
    {"cuda to system memory", "backend=cuda", "video/x-raw", false},
    {"cuda, codes by cpu, to CUDA memory", "backend=cuda entropy-backend=cpu",
     "video/x-raw(memory:CUDAMemory)", false},
    {"cpu, one at a time", "backend=cpu", "video/x-raw", true},
    {"cuda, codes by cpu, one at a time", "backend=cuda entropy-backend=cpu",
     "video/x-raw(memory:CUDAMemory)", true},
    {"cuda, codes too, one at a time", "backend=cuda entropy-backend=cuda",
     "video/x-raw(memory:CUDAMemory)", true},
    {"cuda, one at a time", "backend=cuda", "video/x-raw(memory:CUDAMemory)", true},
};

class Run {
 public:
  Run(const Stream& stream, const Case& of) : stream_(stream), case_(of) {
    const std::string line =
        "appsrc name=src format=time max-bytes=0 max-buffers=64 block=true "
        "caps=\"video/x-apv,alignment=(string)au,framerate=25/1\" ! cudaapvdec " +
        std::string(of.decoder) + " qos=false ! capsfilter caps=" + of.caps +
        " ! fakesink name=sink sync=false signal-handoffs=true";
    pipeline_ = gst_parse_launch(line.c_str(), nullptr);
    if (pipeline_ == nullptr) return;
    source_ = gst_bin_get_by_name(GST_BIN(pipeline_), "src");
    GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline_), "sink");
    g_signal_connect(sink, "handoff", G_CALLBACK(on_frame), this);
    gst_object_unref(sink);
  }
  ~Run() {
    if (pipeline_ == nullptr) return;
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(source_);
    gst_object_unref(pipeline_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Seconds a frame, without the start; negative where there is none.
  double measure(int frames) {
    if (pipeline_ == nullptr ||
        gst_element_set_state(pipeline_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
      return -1;
    const int warm = std::min(frames / 2, 64);
    for (int i = 0; i < frames; i++) {
      gst_app_src_push_buffer(GST_APP_SRC(source_), unit(i));
      if (case_.one_at_a_time && !wait_for(i + 1)) return -1;
    }
    gst_app_src_end_of_stream(GST_APP_SRC(source_));
    if (!wait_for(frames)) return -1;
    const std::chrono::duration<double> took = times_.back() - times_[static_cast<size_t>(warm)];
    return took.count() / (frames - 1 - warm);
  }

 private:
  static void on_frame(GstElement*, GstBuffer*, GstPad*, gpointer self) {
    auto* run = static_cast<Run*>(self);
    const std::lock_guard lock(run->mutex_);
    run->times_.push_back(Clock::now());
    run->came_.notify_one();
  }
  bool wait_for(int frames) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::seconds(20),
                          [&] { return times_.size() >= static_cast<size_t>(frames); });
  }
  GstBuffer* unit(int number) {
    const auto& [begin, size] = stream_.units[static_cast<size_t>(number) % stream_.units.size()];
    auto* data = const_cast<char*>(&stream_.bytes[begin]);
    GstBuffer* buffer = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, data, size, 0, size,
                                                    nullptr, nullptr);
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * 40 * GST_MSECOND;
    return buffer;
  }

  const Stream& stream_;
  const Case& case_;
  GstElement *pipeline_ = nullptr, *source_ = nullptr;
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Clock::time_point> times_;
};

Stream read_stream(const char* path) {
  Stream stream;
  stream.name = path;
  std::ifstream file(path, std::ios::binary);
  stream.bytes.assign(std::istreambuf_iterator<char>(file), {});
  const auto* data = reinterpret_cast<const uint8_t*>(stream.bytes.data());
  cudatransform::ApvSplitter splitter;
  for (size_t at = 0; at < stream.bytes.size();) {
    const cudatransform::ApvSpan span =
        splitter.next({data + at, stream.bytes.size() - at}, true, UINT32_MAX);
    if (span.size > 0) stream.units.emplace_back(at + span.skipped, span.size);
    at += span.skipped + span.size;
  }
  return stream;
}

void measure(const Stream& stream, int frames, int turns, const char* only) {
  std::printf("%s, %.0f bytes a frame\n", stream.name.c_str(),
              double(stream.bytes.size()) / double(stream.units.size()));
  std::vector<std::vector<double>> seconds(std::size(kCases));
  for (int turn = 0; turn < turns; turn++)
    for (size_t i = 0; i < std::size(kCases); i++)
      if (std::strstr(kCases[i].name, only) != nullptr)
        seconds[i].push_back(
            Run(stream, kCases[i]).measure(kCases[i].one_at_a_time ? frames / 10 + 4 : frames));
  for (size_t i = 0; i < std::size(kCases); i++) {
    if (seconds[i].empty()) continue;
    std::sort(seconds[i].begin(), seconds[i].end());
    const double median = seconds[i][seconds[i].size() / 2];
    if (median <= 0)
      std::printf("  %-40s does not run here\n", kCases[i].name);
    else
      std::printf("  %-40s %9.1f frames/s %8.3f ms\n", kCases[i].name, 1 / median, 1e3 * median);
  }
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  int frames = 1000, turns = 3;
  const char* only = "";
  for (int i = 1; i < argc; i++) {
    if (std::strncmp(argv[i], "--frames=", 9) == 0) {
      frames = std::max(std::atoi(argv[i] + 9), 4);
    } else if (std::strncmp(argv[i], "--turns=", 8) == 0) {
      turns = std::max(std::atoi(argv[i] + 8), 1);
    } else if (std::strncmp(argv[i], "--only=", 7) == 0) {
      only = argv[i] + 7;
    } else {
      const Stream stream = read_stream(argv[i]);
      if (stream.units.empty()) return 1;
      measure(stream, frames, turns, only);
    }
  }
  return 0;
}
