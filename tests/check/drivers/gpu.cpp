// Tests that need a GPU: both engines give the same bytes, frames may live in either memory at
// every place, foreign contexts, tee and appsink, contexts of the application.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/app/gstappsink.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr GstVideoFormat kFormats[] = {
    GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_I420,
    GST_VIDEO_FORMAT_YV12,      GST_VIDEO_FORMAT_NV12,      GST_VIDEO_FORMAT_NV21,
    GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_I420_12LE,
    GST_VIDEO_FORMAT_Y42B,      GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_I422_12LE,
    GST_VIDEO_FORMAT_Y444,      GST_VIDEO_FORMAT_Y444_10LE, GST_VIDEO_FORMAT_Y444_12LE,
    GST_VIDEO_FORMAT_Y41B,      GST_VIDEO_FORMAT_GBR,       GST_VIDEO_FORMAT_YVU9,
};

constexpr const char* kCodings[] = {
    "video/x-dct,quantized=true,layout=block,order=raster",
    "video/x-dct,quantized=true,layout=block,order=zigzag",
    "video/x-dct,quantized=true,layout=plane",
    "video/x-dct,quantized=false,format=S32LE,layout=block,order=zigzag",
    "video/x-dct,quantized=false,format=S32LE,layout=plane",
    "video/x-dct,quantized=false,format=F32LE,layout=block,order=raster",
};

struct Result {
  GstBuffer* buffer;
  GstCaps* caps;

  void free() const {
    gst_buffer_unref(buffer);
    gst_caps_unref(caps);
  }
};

// One buffer through one line; the result in system memory.
Result run_one(const std::string& line, GstCaps* caps, GstBuffer* in) {
  g_autoptr(GstHarness) h = new_harness(line);
  gst_harness_set_src_caps(h, gst_caps_ref(caps));
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
  Result result;
  result.buffer = gst_harness_pull(h);
  result.caps = gst_pad_get_current_caps(h->sinkpad);
  return result;
}

std::string line_of(const char* element, const char* backend, const char* method,
                    const std::string& caps, const char* extra = "") {
  return std::string(element) + " backend=" + backend + " method=" + method + " " + extra +
         " ! capsfilter caps=\"" + caps + "\"";
}

// The number of coefficients that differ, and by how much at most (in units of the format).
void compare_coefficients(const Result& a, const Result& b, int* different, double* largest) {
  GstDctInfo info;
  fail_unless(gst_dct_info_from_caps(&info, a.caps, nullptr));
  fail_unless(gst_caps_is_equal(a.caps, b.caps));
  const std::vector<guint8> bytes_a = bytes_of(a.buffer);
  const std::vector<guint8> bytes_b = bytes_of(b.buffer);
  for (guint c = 0; c < info.n_components; c++)
    for (guint by = 0; by < info.components[c].blocks_h; by++)
      for (guint bx = 0; bx < info.components[c].blocks_w; bx++)
        for (guint k = 0; k < 64; k++) {
          const double x = coefficient_at(info, a.buffer, bytes_a, c, bx, by, k % 8, k / 8);
          const double y = coefficient_at(info, b.buffer, bytes_b, c, bx, by, k % 8, k / 8);
          *different += x != y;
          *largest = MAX(*largest, std::fabs(x - y));
        }
}

// The two engines on the same frame, there and back. The integer methods agree to the last bit;
// the floating ones within 1.
void check_engines(GstVideoFormat format, const char* method, const char* coding) {
  const GstVideoInfo info = video_info(format, 75, 43);
  const int depth = static_cast<int>(GST_VIDEO_INFO_COMP_DEPTH(&info, 0));
  const bool integer = depth == 8 && (g_str_equal(method, "islow") || g_str_equal(method, "ifast"));
  g_autoptr(GstBuffer) frame = make_frame(info);
  g_autoptr(GstCaps) raw_caps = video_caps(info);
  const Result cpu = run_one(line_of("cudadct8x8", "cpu", method, coding), raw_caps, frame);
  const Result gpu = run_one(line_of("cudadct8x8", "cuda", method, coding), raw_caps, frame);
  int different = 0;
  double largest = 0;
  compare_coefficients(cpu, gpu, &different, &largest);
  const double allowed = integer ? 0 : std::strstr(coding, "F32LE") ? 0.01 * (1 << (depth - 8)) : 1;
  fail_unless(largest <= allowed, "%s %s %s: %d coefficients differ, by up to %g",
              gst_video_format_to_string(format), method, coding, different, largest);

  g_autofree gchar* raw_string = gst_caps_to_string(raw_caps);
  const Result cpu_raw =
      run_one(line_of("cudaidct8x8", "cpu", method, raw_string), cpu.caps, cpu.buffer);
  const Result gpu_raw =
      run_one(line_of("cudaidct8x8", "cuda", method, raw_string), cpu.caps, cpu.buffer);
  const int difference = largest_difference(info, cpu_raw.buffer, gpu_raw.buffer);
  fail_unless(difference <= (integer ? 0 : 1), "%s %s %s: samples differ by %d",
              gst_video_format_to_string(format), method, coding, difference);
  for (const Result& r : {cpu, gpu, cpu_raw, gpu_raw}) r.free();
}

CHECK_LOOP_TEST(test_engines_agree, 0, G_N_ELEMENTS(kFormats)) {
  const GstVideoFormat format = kFormats[__i__];
  for (const char* coding : kCodings)
    for (const char* method : {"islow", "ifast", "float"}) check_engines(format, method, coding);
}

CHECK_TEST(test_teaching_methods_agree) {
  for (GstVideoFormat format : {GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12})
    for (const char* method :
         {"reference", "naive", "matrix", "separable", "decomposed", "shuffle"})
      for (const char* coding : {kCodings[0], kCodings[2], kCodings[5]})
        check_engines(format, method, coding);
}

// Scaled inverses: libjpeg's arithmetic to the bit, the others within 1.
CHECK_LOOP_TEST(test_scaled_engines_agree, 0, G_N_ELEMENTS(kFormats)) {
  const GstVideoInfo info = video_info(kFormats[__i__], 75, 43);
  const bool deep = GST_VIDEO_INFO_COMP_DEPTH(&info, 0) > 8;
  g_autoptr(GstBuffer) frame = make_frame(info);
  g_autoptr(GstCaps) raw_caps = video_caps(info);
  const std::string raw_format =
      std::string("video/x-raw,format=") + gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info));
  for (const char* coding : kCodings) {
    const Result dct = run_one(line_of("cudadct8x8", "cpu", "islow", coding), raw_caps, frame);
    for (const char* method : {"islow", "float", "reference"})
      for (const char* scale : {"scale=half", "scale=quarter", "scale=eighth"}) {
        const Result cpu =
            run_one(line_of("cudaidct8x8", "cpu", method, raw_format, scale), dct.caps, dct.buffer);
        const Result gpu = run_one(line_of("cudaidct8x8", "cuda", method, raw_format, scale),
                                   dct.caps, dct.buffer);
        GstVideoInfo scaled;
        fail_unless(gst_caps_is_equal(cpu.caps, gpu.caps));
        fail_unless(gst_video_info_from_caps(&scaled, cpu.caps));
        const int difference = largest_difference(scaled, cpu.buffer, gpu.buffer);
        fail_unless(difference <= (deep || !g_str_equal(method, "islow") ? 1 : 0),
                    "%s %s %s %s: samples differ by %d", raw_format.c_str(), coding, method, scale,
                    difference);
        cpu.free();
        gpu.free();
      }
    dct.free();
  }
}

// ---- Either memory, at every place ----

const char* memory_of(bool cuda) { return cuda ? "(memory:CUDAMemory)" : ""; }

// A frame in CUDA memory made by our own inverse on the device: unquantized coefficients there.
std::string device_source(const GstVideoInfo& info) {
  return std::string("cudadct8x8 backend=cuda method=float ! ") +
         "video/x-dct(memory:CUDAMemory),quantized=false,format=F32LE ! "
         "cudaidct8x8 backend=cuda method=float ! video/x-raw(memory:CUDAMemory),format=" +
         gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)) + " ! ";
}

CHECK_TEST(test_memory_places) {
  for (GstVideoFormat format : {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_Y444,
                                GST_VIDEO_FORMAT_GBR, GST_VIDEO_FORMAT_P010_10LE}) {
    for (int places = 0; places < 8; places++) {
      const bool in = places & 1, dct = places & 2, out = places & 4;
      const GstVideoInfo info = video_info(format, 67, 45);
      g_autoptr(GstCaps) caps = video_caps(info);
      g_autoptr(GstBuffer) frame = make_frame(info);
      const std::string format_name = gst_video_format_to_string(format);
      const std::string line = (in ? device_source(info) : std::string()) +
                               "cudadct8x8 backend=cuda method=float quality=100 ! video/x-dct" +
                               memory_of(dct) +
                               " ! cudaidct8x8 backend=cuda method=float ! "
                               "capsfilter caps=\"video/x-raw" +
                               memory_of(out) + ",format=" + format_name + "\"";
      const Result result = run_one(line, caps, frame);
      // Device frames of odd height cannot be read through a plain map on GStreamer 1.22: their
      // planes are mapped one by one.
      if (!out) {
        const int difference = largest_difference(info, frame, result.buffer);
        fail_unless(difference <= 5, "%s: samples differ by %d", line.c_str(), difference);
      }
      result.free();
    }
  }
}

// ---- tee, queue, appsink: bytes that peers without fences read ----

struct Collected {
  std::vector<std::vector<guint8>> frames;
};

GstFlowReturn collect(GstAppSink* sink, gpointer data) {
  g_autoptr(GstSample) sample = gst_app_sink_pull_sample(sink);
  static_cast<Collected*>(data)->frames.push_back(bytes_of(gst_sample_get_buffer(sample)));
  return GST_FLOW_OK;
}

// Runs a pipeline with appsinks "a" and "b"; returns their samples.
void run_tee(const std::string& line, Collected* a, Collected* b) {
  g_autoptr(GstElement) pipeline = launch(line);
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = collect;
  for (auto [name, collected] : {std::pair{"a", a}, std::pair{"b", b}}) {
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), name);
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, collected, nullptr);
  }
  const std::string failure = run_to_eos(pipeline);
  fail_unless(failure.empty(), "%s: %s", line.c_str(), failure.c_str());
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

CHECK_TEST(test_tee_queue_appsink) {
  constexpr int kFrames = 60;
  const auto line = [&](const char* backend, const char* memory) {
    return std::string("videotestsrc pattern=ball num-buffers=") + std::to_string(kFrames) +
           " ! video/x-raw,format=I420,width=640,height=360 ! cudadct8x8 backend=" + backend +
           " ! video/x-dct" + memory +
           " ! tee name=t t. ! queue ! appsink name=a sync=false t. ! queue ! cudaidct8x8 "
           "backend=" +
           backend + " ! video/x-raw ! appsink name=b sync=false";
  };
  Collected cpu_dct, cpu_raw;
  run_tee(line("cpu", ""), &cpu_dct, &cpu_raw);
  fail_unless_equals_uint64(cpu_dct.frames.size(), kFrames);
  for (const char* memory : {"", "(memory:CUDAMemory)"}) {
    Collected gpu_dct, gpu_raw;
    run_tee(line("cuda", memory), &gpu_dct, &gpu_raw);
    fail_unless_equals_uint64(gpu_dct.frames.size(), kFrames);
    fail_unless(gpu_raw.frames == cpu_raw.frames, "frames through %s differ", memory);
    // Rows on the device are pitched, so that only packed ones compare byte by byte.
    if (*memory == '\0') fail_unless(gpu_dct.frames == cpu_dct.frames, "coefficients differ");
  }
}

// Frames that race through a long chain of queues: ignoring a fence shows as garbage.
CHECK_TEST(test_race) {
  Collected cpu, gpu, unused;
  const auto line = [](const char* backend) {
    std::string text =
        "videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=1 num-buffers=80 ! "
        "video/x-raw,format=I420,width=1280,height=720 ! tee name=s ";
    text += "s. ! queue ! appsink name=b sync=false s. ! queue";
    for (int i = 0; i < 3; i++) {
      text += std::string(" ! cudadct8x8 measure=psnr keep-reference=true backend=") + backend +
              " ! queue max-size-buffers=2 ! cudaidct8x8 measure=psnr backend=" + backend +
              " ! queue max-size-buffers=2";
    }
    return text + " ! video/x-raw ! appsink name=a sync=false";
  };
  run_tee(line("cpu"), &cpu, &unused);
  unused.frames.clear();
  run_tee(line("cuda"), &gpu, &unused);
  fail_unless_equals_uint64(gpu.frames.size(), 80);
  for (size_t i = 0; i < 80; i++)
    fail_unless(gpu.frames[i] == cpu.frames[i], "frame %d differs", static_cast<int>(i));
}

// ---- Contexts ----

// Coefficients of one pipeline's context go through an element of another's.
CHECK_TEST(test_foreign_context) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  g_autoptr(GstCaps) caps = video_caps(info);
  g_autoptr(GstBuffer) frame = make_frame(info);
  // Kept alive while its buffer is used.
  g_autoptr(GstHarness) first = gst_harness_new_parse(
      "cudadct8x8 backend=cuda quality=100 ! capsfilter caps=video/x-dct(memory:CUDAMemory)");
  gst_harness_set_src_caps(first, gst_caps_ref(caps));
  gst_harness_push(first, gst_buffer_ref(frame));
  g_autoptr(GstBuffer) coefficients = gst_harness_pull(first);
  g_autoptr(GstCaps) dct_caps = gst_pad_get_current_caps(first->sinkpad);
  for (int i = 0; i < 3; i++) {
    const Result result =
        run_one("cudaidct8x8 backend=cuda ! capsfilter caps=video/x-raw", dct_caps, coefficients);
    fail_unless(largest_difference(info, frame, result.buffer) <= 3);
    result.free();
  }
  // And on the CPU, which reads device memory through a map.
  g_autoptr(GstCaps) system_caps = gst_caps_copy(dct_caps);
  gst_caps_set_features(system_caps, 0, nullptr);
  const Result result = run_one("cudaidct8x8 backend=cpu", system_caps, coefficients);
  fail_unless(largest_difference(info, frame, result.buffer) <= 3);
  result.free();
}

// The GstCudaContext that an element answers a context query with.
gpointer context_of(GstElement* pipeline, const char* name) {
  g_autoptr(GstElement) e = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(e, "src");
  g_autoptr(GstQuery) query = gst_query_new_context("gst.cuda.context");
  fail_unless(gst_pad_query(pad, query), "%s answers no context query", name);
  GstContext* context = nullptr;
  gst_query_parse_context(query, &context);
  const GstStructure* s = gst_context_get_structure(context);
  gpointer object = nullptr;
  for (int i = 0; i < gst_structure_n_fields(s); i++) {
    const GValue* value =
        gst_structure_get_value(s, gst_structure_nth_field_name(s, static_cast<guint>(i)));
    if (G_VALUE_HOLDS_OBJECT(value)) object = g_value_get_object(value);
  }
  fail_unless(object != nullptr);
  return object;
}

// Two elements of a pipeline end with the same context.
CHECK_TEST(test_context_is_shared) {
  g_autoptr(GstElement) pipeline = gst_parse_launch(
      "videotestsrc num-buffers=2 ! cudadct8x8 name=f backend=cuda ! queue ! cudaidct8x8 name=i "
      "backend=cuda ! fakesink",
      nullptr);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int(gst_element_get_state(pipeline, nullptr, nullptr, 20 * GST_SECOND),
                         GST_STATE_CHANGE_SUCCESS);
  fail_unless(context_of(pipeline, "f") == context_of(pipeline, "i"));
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = testing::require_cuda_or_skip()) return status;
  return testing::run(argc, argv);
}
