// cudaapvenc's speed: frames of a synthetic scene from memory to access units in memory, by engine
// and memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: bench_apvenc [--frames=N] [--turns=N] [--noise=S] [--only=TEXT] [--more=PROPERTIES]
//                     [WIDTHxHEIGHT:QP ...]
//
// A few frames, of 4:2:2 and 10 bits, are given again and again until N (1000) have been pushed.
// Cases take turns; a line has the median of all turns (3). --noise: its standard deviation (4).
// --only: cases whose names contain the text. Where a case cannot run, its line says so.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/apv/scene.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int frames = 1000, turns = 3;
  double noise = 4;
  std::string only, more;
};

struct Size {
  int width = 0, height = 0, qp = 0;
};

struct Case {
  const char *name, *properties;
  bool in_cuda_memory;
};
constexpr Case kCases[] = {
    {"cpu, one thread", "backend=cpu n-threads=1", false},
    {"cpu", "backend=cpu", false},
    {"cuda from system memory", "backend=cuda", false},
    {"cuda from CUDA memory", "backend=cuda", true},
};

std::string caps_of(const Size& size, bool in_cuda_memory) {
  return std::string("video/x-raw") + (in_cuda_memory ? "(memory:CUDAMemory)" : "") +
         ",format=I422_10LE,framerate=25/1,width=" + std::to_string(size.width) +
         ",height=" + std::to_string(size.height);
}

using Buffers = std::vector<GstBuffer*>;

Buffers draw(const Size& size, double noise) {
  constexpr int kFrames = 4;
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I422_10LE, guint(size.width),
                            guint(size.height));
  cudatransform::test::ApvScene scene(uint32_t(size.width), uint32_t(size.height), noise);
  Buffers buffers;
  for (int i = 0; i < kFrames; i++) {
    buffers.push_back(gst_buffer_new_allocate(nullptr, info.size, nullptr));
    GstVideoFrame frame;
    gst_video_frame_map(&frame, &info, buffers.back(), GST_MAP_WRITE);
    for (int c = 0; c < 3; c++) {
      const std::vector<uint16_t> plane = scene.draw(i, c);
      const size_t row = scene.width_of(c);
      for (size_t y = 0; y < size_t(size.height); y++) {
        std::memcpy(static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, c)) +
                        y * size_t(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, c)),
                    &plane[y * row], 2 * row);
      }
    }
    gst_video_frame_unmap(&frame);
  }
  return buffers;
}

void free_all(Buffers* buffers) {
  for (GstBuffer* buffer : *buffers) gst_buffer_unref(buffer);
  buffers->clear();
}

// Frames in CUDA memory, and the context that they belong to. Empty where there is none.
class Uploaded {
 public:
  Uploaded(const Size& size, const Buffers& from) {
    const std::string line = "appsrc name=src format=time caps=\"" + caps_of(size, false) +
                             "\" ! cudaupload name=upload ! " + caps_of(size, true) +
                             " ! appsink name=sink sync=false";
    pipeline_ = gst_parse_launch_full(line.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, nullptr);
    if (pipeline_ == nullptr) return;
    GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline_), "src");
    GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline_), "sink");
    const bool plays =
        gst_element_set_state(pipeline_, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
    for (GstBuffer* buffer : plays ? from : Buffers()) {
      gst_app_src_push_buffer(GST_APP_SRC(source), gst_buffer_ref(buffer));
      GstSample* sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 10 * GST_SECOND);
      if (sample == nullptr) break;
      buffers.push_back(gst_buffer_ref(gst_sample_get_buffer(sample)));
      gst_sample_unref(sample);
    }
    GstElement* upload = gst_bin_get_by_name(GST_BIN(pipeline_), "upload");
    context = gst_element_get_context(upload, "gst.cuda.context");
    for (GstElement* element : {upload, source, sink}) gst_object_unref(element);
  }
  ~Uploaded() {
    free_all(&buffers);
    if (context != nullptr) gst_context_unref(context);
    if (pipeline_ == nullptr) return;
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(pipeline_);
  }
  Uploaded(const Uploaded&) = delete;
  Uploaded& operator=(const Uploaded&) = delete;

  Buffers buffers;
  GstContext* context = nullptr;

 private:
  GstElement* pipeline_ = nullptr;
};

struct Result {
  double seconds = -1, bytes = 0;  // of a frame; negative: it does not run
};

struct Progress {
  std::vector<Clock::time_point> times;
  gsize bytes = 0;
};

void on_unit(GstElement*, GstBuffer* buffer, GstPad*, gpointer data) {
  auto* progress = static_cast<Progress*>(data);
  progress->times.push_back(Clock::now());
  progress->bytes += gst_buffer_get_size(buffer);
}

Result run(const Case& of, const Size& size, const Options& options, const Buffers& buffers,
           GstContext* context) {
  if (buffers.empty()) return {};
  const std::string line =
      "appsrc name=src format=time max-bytes=0 max-buffers=32 block=true "
      "caps=\"" +
      caps_of(size, of.in_cuda_memory) + "\" ! cudaapvenc " + of.properties +
      " qp=" + std::to_string(size.qp) + " " + options.more +
      " ! fakesink name=sink sync=false signal-handoffs=true";
  GstElement* pipeline = gst_parse_launch(line.c_str(), nullptr);
  if (pipeline == nullptr) return {};
  if (context != nullptr) gst_element_set_context(pipeline, context);
  GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline), "src");
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  Progress progress;
  g_signal_connect(sink, "handoff", G_CALLBACK(on_unit), &progress);
  Result result;
  if (gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) {
    for (int i = 0; i < options.frames; i++) {
      GstBuffer* buffer = gst_buffer_copy(buffers[size_t(i) % buffers.size()]);
      GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(i) * 40 * GST_MSECOND;
      if (gst_app_src_push_buffer(GST_APP_SRC(source), buffer) != GST_FLOW_OK) break;
    }
    gst_app_src_end_of_stream(GST_APP_SRC(source));
    GstBus* bus = gst_element_get_bus(pipeline);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 120 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    const size_t units = progress.times.size(), warm = units / 4;
    if (message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS && units > warm + 1) {
      const std::chrono::duration<double> took = progress.times.back() - progress.times[warm];
      result.seconds = took.count() / double(units - 1 - warm);
      result.bytes = double(progress.bytes) / double(units);
    }
    if (message != nullptr) gst_message_unref(message);
    gst_object_unref(bus);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  for (GstElement* element : {source, sink, pipeline}) gst_object_unref(element);
  return result;
}

void measure(const Size& size, const Options& options) {
  Buffers drawn = draw(size, options.noise);
  {
    const Uploaded uploaded(size, drawn);
    std::vector<Result> results[std::size(kCases)];
    for (int turn = 0; turn < options.turns; turn++) {
      for (size_t i = 0; i < std::size(kCases); i++) {
        const Case& of = kCases[i];
        if (std::strstr(of.name, options.only.c_str()) == nullptr) continue;
        results[i].push_back(run(of, size, options, of.in_cuda_memory ? uploaded.buffers : drawn,
                                 of.in_cuda_memory ? uploaded.context : nullptr));
      }
    }
    std::printf("%dx%d, qp %d\n", size.width, size.height, size.qp);
    for (size_t i = 0; i < std::size(kCases); i++) {
      if (results[i].empty()) continue;
      std::sort(results[i].begin(), results[i].end(),
                [](const Result& a, const Result& b) { return a.seconds < b.seconds; });
      const Result& median = results[i][results[i].size() / 2];
      if (median.seconds <= 0)
        std::printf("  %-28s does not run here\n", kCases[i].name);
      else
        std::printf("  %-28s %9.1f frames/s %8.3f ms %10.0f bytes\n", kCases[i].name,
                    1 / median.seconds, 1e3 * median.seconds, median.bytes);
    }
  }
  free_all(&drawn);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  Options options;
  std::vector<Size> sizes;
  for (int i = 1; i < argc; i++) {
    const std::string text = argv[i];
    const auto value = [&](const char* name) -> const char* {
      return text.rfind(name, 0) == 0 ? argv[i] + std::strlen(name) : nullptr;
    };
    Size size;
    if (const char* frames = value("--frames=")) {
      options.frames = std::max(std::atoi(frames), 4);
    } else if (const char* turns = value("--turns=")) {
      options.turns = std::max(std::atoi(turns), 1);
    } else if (const char* noise = value("--noise=")) {
      options.noise = std::atof(noise);
    } else if (const char* only = value("--only=")) {
      options.only = only;
    } else if (const char* more = value("--more=")) {
      options.more = more;
    } else if (std::sscanf(argv[i], "%dx%d:%d", &size.width, &size.height, &size.qp) == 3) {
      sizes.push_back(size);
    } else {
      std::fprintf(stderr, "expected WIDTHxHEIGHT:QP, not %s\n", argv[i]);
      return 2;
    }
  }
  if (sizes.empty())
    sizes = {{1920, 1080, 20}, {3840, 2160, 20}, {3840, 2160, 32}, {7680, 4320, 32}};
  for (const Size& size : sizes) measure(size, options);
  return 0;
}
