// The CUDA paths of the elements on a driver without a GPU: the choice of memory, shared contexts,
// allocations, and leaks. Kernels do nothing there.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/drivers/fakedriver.h"

namespace {

using namespace testing;  // the helpers are half of every line here

CHECK_TEST(test_auto_takes_the_gpu) {
  g_autoptr(GstElement) pipeline = launch(both("auto"));
  gst_element_set_state(pipeline, GST_STATE_READY);
  for (const char* name : {"f", "i"}) {
    g_autoptr(GstElement) e = gst_bin_get_by_name(GST_BIN(pipeline), name);
    g_autoptr(GstStructure) stats = stats_of(e);
    fail_unless_equals_string(gst_structure_get_string(stats, "backend"), "cuda");
    fail_unless_equals_string(gst_structure_get_string(stats, "device"), "Fake GPU");
  }
  const Outcome outcome = run_to_end(pipeline);
  fail_unless(outcome.error.empty(), "%s", outcome.error.c_str());
  fail_unless_equals_int(outcome.infos, 0);
}

bool has_cuda_memory(GstCaps* caps) {
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory");
}

// Whether the caps of the element's pad, and of the pipeline's end, are in CUDA memory.
void check_memory(GstHarness* h, const char* line, bool dct_on_device, bool raw_on_device) {
  g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(h->element), "f");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(f, "src");
  g_autoptr(GstCaps) dct = gst_pad_get_current_caps(pad);
  g_autoptr(GstCaps) raw = gst_pad_get_current_caps(h->sinkpad);
  fail_unless(has_cuda_memory(dct) == dct_on_device, "%s: coefficients", line);
  fail_unless(has_cuda_memory(raw) == raw_on_device, "%s: frames", line);
}

// Coefficients stay on the device if the peer accepts them; raw output is in the input's memory.
CHECK_TEST(test_memory_is_chosen) {
  const struct {
    const char* line;
    bool dct_on_device, raw_on_device;
  } cases[] = {
      {"cudadct8x8 name=f ! cudaidct8x8", true, true},
      {"cudadct8x8 name=f ! cudaidct8x8 ! capsfilter caps=video/x-raw", true, false},
      {"cudadct8x8 name=f ! video/x-dct ! cudaidct8x8", false, false},
      {"cudadct8x8 name=f ! video/x-dct(memory:CUDAMemory) ! cudaidct8x8", true, true},
      {"cudadct8x8 name=f ! tee ! queue ! cudaidct8x8", true, true},
      {"cudadct8x8 name=f ! cudaidct8x8 backend=cpu", false, false},
      {"cudadct8x8 name=f backend=cpu ! cudaidct8x8", false, false},
  };
  for (const auto& c : cases) {
    const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_Y42B, 40, 24);
    g_autoptr(GstHarness) h = harness_of(c.line, info);
    gst_buffer_unref(passed(h, make_frame(info)));
    check_memory(h, c.line, c.dct_on_device, c.raw_on_device);
  }
}

// Frames that lose a plane in this GStreamer go to system memory, unless the peer insists.
CHECK_TEST(test_lost_planes_are_avoided) {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  for (int height : {45, 46}) {
    const bool lost = minor <= 22 ? height == 45 : minor == 24 && micro < 4 && height == 46;
    for (const char* end : {"", " ! capsfilter caps=video/x-raw(memory:CUDAMemory)",
                            " ! capsfilter caps=video/x-raw(ANY),format=NV12"}) {
      const std::string line = std::string("cudadct8x8 name=f ! cudaidct8x8") + end;
      const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 40, height);
      g_autoptr(GstHarness) h = harness_of(line, info);
      gst_buffer_unref(passed(h, make_frame(info)));
      check_memory(h, line.c_str(), true, *end != '\0' || !lost);
    }
  }
}

// A frame in CUDA memory, from the pool that the element proposes.
GstBuffer* cuda_frame(GstHarness* h, const GstVideoInfo& info, GstBufferPool** pool) {
  if (*pool == nullptr) {
    g_autoptr(GstCaps) caps = video_caps(info);
    gst_caps_set_features(caps, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
    gst_harness_set_src_caps(h, gst_caps_ref(caps));
    g_autoptr(GstQuery) query = gst_query_new_allocation(caps, TRUE);
    fail_unless(gst_pad_peer_query(h->srcpad, query));
    fail_unless(gst_query_get_n_allocation_pools(query) > 0, "no pool was proposed");
    guint size = 0, min = 0, max = 0;
    gst_query_parse_nth_allocation_pool(query, 0, pool, &size, &min, &max);
    GstStructure* config = gst_buffer_pool_get_config(*pool);
    gst_buffer_pool_config_set_params(config, caps, size, min, max);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    fail_unless(gst_buffer_pool_set_config(*pool, config));
    fail_unless(gst_buffer_pool_set_active(*pool, TRUE));
  }
  return acquire(*pool);
}

CHECK_TEST(test_frames_in_cuda_memory) {
  const struct {
    const char* line;
    bool dct_on_device;
  } cases[] = {{"cudadct8x8 name=f ! cudaidct8x8", true},
               {"cudadct8x8 name=f ! video/x-dct ! cudaidct8x8", false}};
  for (const auto& c : cases) {
    for (GstVideoFormat format : {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12,
                                  GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_GBR}) {
      g_autoptr(GstHarness) h = gst_harness_new_parse(c.line);
      g_autoptr(GstBufferPool) pool = nullptr;
      const GstVideoInfo info = video_info(format, 67, 46);
      for (int i = 0; i < 4; i++) {
        gst_buffer_unref(passed(h, cuda_frame(h, info, &pool)));
      }
      check_memory(h, c.line, c.dct_on_device, c.dct_on_device);
      gst_buffer_pool_set_active(pool, FALSE);
    }
  }
}

// Gray frames never travel in CUDA memory, which would abort in gstcuda; their coefficients may.
CHECK_TEST(test_gray) {
  for (const char* format : {"GRAY8", "GRAY16_LE", "Y41B", "YUV9", "YVU9"}) {
    const Outcome outcome =
        run_line(std::string("videotestsrc num-buffers=2 ! video/x-raw,format=") + format +
                 ",width=33,height=17 ! cudadct8x8 ! video/x-dct(memory:CUDAMemory) ! cudaidct8x8 "
                 "! fakesink");
    fail_unless(outcome.error.empty(), "%s: %s", format, outcome.error.c_str());
  }
}

CHECK_TEST(test_contexts_are_shared) {
  g_autoptr(GstElement) pipeline = launch(both("cuda", 100));
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  gst_element_get_state(pipeline, nullptr, nullptr, 10 * GST_SECOND);
  const int contexts = counts().contexts;
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless_equals_int(contexts, 1);
}

// The elements use a context that the application sets, here one from another pipeline.
CHECK_TEST(test_context_of_the_application) {
  g_autoptr(GstElement) first = launch(both("cuda", 100));
  gst_element_set_state(first, GST_STATE_PAUSED);
  gst_element_get_state(first, nullptr, nullptr, 10 * GST_SECOND);
  GstContext* context = gst_element_get_context(first, "gst.cuda.context");
  fail_unless(context != nullptr, "the pipeline has no context to share");
  for (int i = 0; i < 2; i++) {
    g_autoptr(GstElement) second = launch(both("cuda"));
    gst_element_set_context(second, context);
    gst_element_set_state(second, GST_STATE_READY);
    fail_unless_equals_int(counts().contexts, 1);
    fail_unless(run_to_end(second).error.empty());
  }
  gst_context_unref(context);
  gst_element_set_state(first, GST_STATE_NULL);
}

CHECK_TEST(test_no_such_device) {
  const Outcome outcome =
      run_line("videotestsrc num-buffers=1 ! cudadct8x8 backend=cuda cuda-device-id=7 ! fakesink");
  fail_unless(outcome.domain == GST_RESOURCE_ERROR);
  fail_unless_equals_int(outcome.code, GST_RESOURCE_ERROR_NOT_FOUND);
  fail_unless(outcome.error.find("7") != std::string::npos, "%s", outcome.error.c_str());
}

// Coefficients of another device are copied, with or without a common context.
CHECK_TEST(test_two_devices) {
  g_setenv("FAKECUDA_DEVICES", "2", TRUE);
  const Outcome outcome = run_line(
      "videotestsrc num-buffers=5 ! cudadct8x8 cuda-device-id=0 ! queue ! cudaidct8x8 "
      "cuda-device-id=1 ! fakesink");
  g_unsetenv("FAKECUDA_DEVICES");
  fail_unless(outcome.error.empty(), "%s", outcome.error.c_str());
}

// How often a thread slept while the host waited for a few frames.
int sleeps_in_frames(GstHarness* h, const GstVideoInfo& info) {
  const FakecudaCounts before = counts();
  for (int i = 0; i < 5; i++) {
    gst_buffer_unref(passed(h, make_frame(info)));
  }
  const FakecudaCounts after = counts();
  fail_unless(after.waits - before.waits >= 5);
  return after.sleeps - before.sleeps;
}

// Threads sleep for a slow GPU, spin for a fast one, and find out which one they have.
CHECK_TEST(test_long_waits_sleep) {
  g_setenv("FAKECUDA_LAG", "1000000000", TRUE);  // done when a thread waits
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 40, 24);
  g_autoptr(GstHarness) h =
      harness_of("cudadct8x8 backend=cuda ! capsfilter caps=video/x-dct", info);
  const auto run_in = [&] {
    for (int i = 0; i < 4; i++) sleeps_in_frames(h, info);
  };
  run_in();  // first calls may take long
  const bool waits_are_short = !under_valgrind();
  if (waits_are_short) fail_unless_equals_int(sleeps_in_frames(h, info), 0);
  g_setenv("FAKECUDA_WAIT", "1000", TRUE);
  const int sleeps = sleeps_in_frames(h, info);
  fail_unless(sleeps >= 4, "%d of 5 frames slept for", sleeps);
  g_unsetenv("FAKECUDA_WAIT");
  fail_unless(sleeps_in_frames(h, info) >= 4);  // a short wait may be an exception
  run_in();
  if (waits_are_short) fail_unless_equals_int(sleeps_in_frames(h, info), 0);
  g_unsetenv("FAKECUDA_LAG");
}

// Slow events: messages come later, but all of them before EOS.
CHECK_TEST(test_measuring_never_waits) {
  g_setenv("FAKECUDA_LAG", "7", TRUE);
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "cudadct8x8 backend=cuda method=reference measure=psnr+time+zeros post-messages=true ! "
      "capsfilter caps=video/x-dct(memory:CUDAMemory)");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 40, 24);
  gst_harness_set_src_caps(h, video_caps(info));
  guint64 expected = 0;
  for (guint i = 0; i < 20; i++) {
    GstBuffer* in = make_frame(info);
    GST_BUFFER_PTS(in) = i;
    gst_harness_push(h, in);
    gst_buffer_unref(gst_harness_pull(h));
  }
  gst_harness_push_event(h, gst_event_new_eos());
  while (GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) {
    const GstStructure* s = gst_message_get_structure(message);
    if (g_strcmp0(gst_structure_get_string(s, "type"), "frame") == 0) {
      guint64 timestamp = G_MAXUINT64, kernel_time = 0;
      gst_structure_get_uint64(s, "timestamp", &timestamp);
      gst_structure_get_uint64(s, "kernel-time", &kernel_time);
      fail_unless_equals_uint64(timestamp, expected);
      fail_unless_equals_uint64(kernel_time, 1500000);
      expected++;
    }
    gst_message_unref(message);
  }
  fail_unless_equals_uint64(expected, 20);
  g_unsetenv("FAKECUDA_LAG");
  gst_element_set_bus(h->element, nullptr);
}

// No allocation per frame: once the pools are full, the count no longer changes.
CHECK_LOOP_TEST(test_no_allocation_per_frame, 0, 3) {
  static const char* const scales[] = {"full", "half", "eighth"};
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  g_autoptr(GstHarness) h = harness_of(
      std::string("cudadct8x8 backend=cuda measure=psnr+time ! cudaidct8x8 backend=cuda scale=") +
          scales[__i__],
      info);
  int after_some = 0, launches = 0;
  for (int i = 0; i < 60; i++) {
    if (i == 10) after_some = counts().allocations;
    if (i == 10) launches = counts().launches;
    gst_buffer_unref(passed(h, make_frame(info)));
  }
  fail_unless_equals_int(counts().allocations, after_some);
  // One launch a frame for all planes of the fused method, in each element.
  fail_unless_equals_int(counts().launches - launches, 2 * 50);
}

// Frames in CUDA memory whose size changes.
CHECK_TEST(test_scale_changes) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "cudadct8x8 backend=cuda ! cudaidct8x8 name=inv backend=cuda measure=time+zeros ! "
      "capsfilter caps=video/x-raw(memory:CUDAMemory)");
  g_autoptr(GstElement) inv = gst_bin_get_by_name(GST_BIN(h->element), "inv");
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_src_caps(h, video_caps(info));
  for (const int scale : {1, 2, 8, 4, 1}) {
    g_object_set(inv, "scale", scale, nullptr);
    for (int i = 0; i < 5; i++) {
      g_autoptr(GstBuffer) out = passed(h, make_frame(info));
      const GstVideoMeta* meta = gst_buffer_get_video_meta(out);
      fail_unless(meta != nullptr);
      fail_unless_equals_int(meta->width, 64 / scale);
      fail_unless_equals_int(meta->height, 48 / scale);
    }
  }
}

// Coefficients in blocks are contiguous on the device, for every width: other arrangements would
// need the slower kernels.
CHECK_TEST(test_coefficients_without_gaps) {
  for (const int width : {8, 67, 640, 720, 1920}) {
    for (const char* line :
         {"cudadct8x8 backend=cuda ! capsfilter caps=video/x-dct(memory:CUDAMemory)",
          "cudadct8x8 backend=cuda ! video/x-dct,layout=block,order=zigzag ! "
          "identity ! capsfilter caps=video/x-dct"}) {
      const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, width, 48);
      g_autoptr(GstHarness) h = harness_of(line, info);
      g_autoptr(GstBuffer) out = passed(h, make_frame(info));
      const GstDctMeta* meta = gst_buffer_get_dct_meta(out);
      gsize end = 0;
      for (guint c = 0; c < meta->n_components; c++) {
        const GstDctComponent& component = meta->components[c];
        fail_unless_equals_uint64(component.stride, 128 * component.blocks_w);
        fail_unless(component.offset >= end && component.offset % 16 == 0);
        end = component.offset + component.stride * component.blocks_h;
      }
      fail_unless(end <= gst_buffer_get_size(out));
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return testing::run_in_mode(argc, argv); }
