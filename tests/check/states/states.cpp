// State changes: ladders twice through READY, seeks, empty streams, streams in bytes, and elements
// that are used again after an error. asyncdepth.cpp and asyncdepth_events.cpp have events, QoS and
// latency.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

CHECK_TEST(test_ladders) {
  for (const char* factory : {"cudadct8x8", "cudaidct8x8", "cudadwt", "cudaidwt"}) {
    g_autoptr(GstElement) e = gst_element_factory_make(factory, nullptr);
    fail_unless(e != nullptr);
    gst_util_set_object_arg(G_OBJECT(e), "backend", backend());
    const GstState ladder[] = {
        GST_STATE_READY,  GST_STATE_NULL,    GST_STATE_READY,  GST_STATE_PAUSED, GST_STATE_READY,
        GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY,  GST_STATE_PAUSED,
        GST_STATE_NULL,   GST_STATE_PLAYING, GST_STATE_NULL};
    for (GstState state : ladder)
      fail_unless_equals_int(gst_element_set_state(e, state), GST_STATE_CHANGE_SUCCESS);
  }
}

CHECK_TEST(test_never_started) {
  for (const char* factory : {"cudadct8x8", "cudaidct8x8"}) {
    g_autoptr(GstElement) e = gst_element_factory_make(factory, nullptr);
    g_autoptr(GstStructure) stats = stats_of(e);
    fail_unless(stats != nullptr);
    fail_unless(gst_structure_has_name(
        stats, (std::string("application/x-") + factory + "-stats").c_str()));
  }
}

std::string active_backend(GstElement* e) {
  gint value = 0;
  g_object_get(e, "active-backend", &value, nullptr);
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(e), "active-backend");
  auto* values = G_ENUM_CLASS(g_type_class_ref(spec->value_type));
  const std::string nick = g_enum_get_value(values, value)->value_nick;
  g_type_class_unref(values);
  return nick;
}

CHECK_TEST(test_active_backend) {
  g_autoptr(GstElement) e = gst_element_factory_make("cudadct8x8", nullptr);
  gst_util_set_object_arg(G_OBJECT(e), "backend", backend());
  fail_unless(active_backend(e) == "auto");
  gst_element_set_state(e, GST_STATE_READY);
  fail_unless(active_backend(e) == backend());
  gst_element_set_state(e, GST_STATE_NULL);
  fail_unless(active_backend(e) == "auto");
}

GstMessage* wait_for(GstElement* pipeline, int types) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, 30 * GST_SECOND, static_cast<GstMessageType>(types | GST_MESSAGE_ERROR));
  gst_object_unref(bus);
  fail_unless(message != nullptr, "nothing happened for 30 s");
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) fail("%s", report_of(message).text.c_str());
  return message;
}

guint64 frames_of(GstElement* pipeline, const char* name) {
  g_autoptr(GstElement) e = gst_bin_get_by_name(GST_BIN(pipeline), name);
  return stat_of(e, "frames");
}

// The same pipeline runs again after READY and after NULL, and counts from zero.
CHECK_TEST(test_run_again) {
  const std::string f = "name=f measure=psnr+time keep-reference=true",
                    i = "name=i measure=psnr+time";
  for (const std::string& pair :
       {forward(f) + " ! queue ! " + inverse(i), forward_dwt(f) + " ! queue ! " + inverse_dwt(i)}) {
    g_autoptr(GstElement) pipeline = launch(
        "videotestsrc num-buffers=7 ! video/x-raw,width=70,height=50 ! " + pair + " ! fakesink");
    for (GstState between : {GST_STATE_READY, GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY}) {
      gst_element_set_state(pipeline, GST_STATE_PLAYING);
      gst_message_unref(wait_for(pipeline, GST_MESSAGE_EOS));
      fail_unless_equals_uint64(frames_of(pipeline, "f"), 7);
      fail_unless_equals_uint64(frames_of(pipeline, "i"), 7);
      gst_element_set_state(pipeline, between);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
  }
}

CHECK_TEST(test_seek) {
  g_autoptr(GstElement) pipeline =
      launch("videotestsrc num-buffers=1000 ! video/x-raw,width=64,height=48,framerate=25/1 ! " +
             forward("measure=psnr+zeros+time") + " ! queue ! " + inverse() + " ! fakesink");
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  gst_message_unref(wait_for(pipeline, GST_MESSAGE_ASYNC_DONE));
  for (int i = 0; i < 10; i++) {
    const auto flags = static_cast<GstSeekFlags>(
        i % 2 ? GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_FLUSH);
    fail_unless(
        gst_element_seek_simple(pipeline, GST_FORMAT_TIME, flags, (i * 7 % 30) * GST_SECOND));
    gst_message_unref(wait_for(pipeline, GST_MESSAGE_ASYNC_DONE));
    if (i == 4) {
      gst_element_set_state(pipeline, GST_STATE_PLAYING);
      gst_element_get_state(pipeline, nullptr, nullptr, 10 * GST_SECOND);
    }
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

// EOS before any buffer.
CHECK_TEST(test_empty_stream) {
  for (const std::string& element : {forward(), inverse()}) {
    g_autoptr(GstHarness) h = gst_harness_new_parse(element.c_str());
    gst_harness_push_event(h, gst_event_new_stream_start("empty"));
    gst_harness_push_event(h, gst_event_new_eos());
    GstEventType last = GST_EVENT_UNKNOWN;
    while (GstEvent* event = gst_harness_try_pull_event(h)) {
      last = GST_EVENT_TYPE(event);
      gst_event_unref(event);
    }
    fail_unless_equals_int(last, GST_EVENT_EOS);
  }
}

// A file read with caps alone has a segment in bytes and buffers without timestamps.
CHECK_TEST(test_stream_in_bytes) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 40, 40);
  g_autoptr(GstHarness) h =
      harness_of(forward("measure=psnr+time post-messages=true") + " ! " + inverse(), info);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  for (int i = 0; i < 3; i++) {
    gst_buffer_unref(passed(h, make_frame(info)));
  }
  gst_harness_push_event(h, gst_event_new_eos());
}

// After an error the element goes to NULL and works again.
CHECK_TEST(test_after_error) {
  g_autoptr(GstElement) pipeline =
      launch("appsrc name=src format=time ! " + forward() + " ! " + inverse() + " ! fakesink");
  g_autoptr(GstElement) src = gst_bin_get_by_name(GST_BIN(pipeline), "src");
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  g_autoptr(GstCaps) caps = video_caps(info);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  for (int round = 0; round < 3; round++) {
    g_object_set(src, "caps", caps, nullptr);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstFlowReturn flow;
    GstBuffer* good = make_frame(info);
    g_signal_emit_by_name(src, "push-buffer", good, &flow);
    gst_buffer_unref(good);
    GstBuffer* bad = gst_buffer_new_allocate(nullptr, 10, nullptr);
    g_signal_emit_by_name(src, "push-buffer", bad, &flow);
    gst_buffer_unref(bad);
    g_autoptr(GstMessage) message =
        gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND, GST_MESSAGE_ERROR);
    fail_unless(message != nullptr);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_bus_set_flushing(bus, TRUE);
    gst_bus_set_flushing(bus, FALSE);
  }
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstFlowReturn flow;
  g_autoptr(GstBuffer) good = make_frame(info);
  g_signal_emit_by_name(src, "push-buffer", good, &flow);
  g_signal_emit_by_name(src, "end-of-stream", &flow);
  gst_message_unref(wait_for(pipeline, GST_MESSAGE_EOS));
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

// Properties are set and read from another thread while frames flow.
CHECK_TEST(test_stress_properties) {
  const std::string frames = under_valgrind() ? "80" : "400";
  g_autoptr(GstElement) pipeline =
      launch("videotestsrc num-buffers=" + frames + " ! video/x-raw,width=96,height=64 ! " +
             forward("name=f post-messages=true keep-reference=true") + " ! queue ! " +
             inverse("name=i post-messages=true") + " ! fakesink");
  g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(pipeline), "f");
  g_autoptr(GstElement) i = gst_bin_get_by_name(GST_BIN(pipeline), "i");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  bool done = false;
  for (int n = 0; !done; n++) {
    g_object_set(f, "quality", 1 + n % 100, "measure", n % 8, "keep-reference", n % 3 == 0,
                 nullptr);
    g_object_set(i, "measure", (n + 3) % 8, "scale", 1 << n / 4 % 4, nullptr);
    gst_util_set_object_arg(G_OBJECT(f), "method", n % 2 ? "islow" : "float");
    gst_util_set_object_arg(G_OBJECT(f), "quant-preset", n % 5 ? "annex-k" : "mpeg");
    for (GstElement* e : {f, i}) {
      g_autoptr(GstStructure) stats = nullptr;
      gdouble psnr = 0;
      g_object_get(e, "stats", &stats, "psnr", &psnr, nullptr);
    }
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, GST_MSECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    if (message == nullptr) continue;
    fail_unless_equals_int(GST_MESSAGE_TYPE(message), GST_MESSAGE_EOS);
    gst_message_unref(message);
    done = true;
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

// A flushing pool, as at shutdown and on seeks, is no error, and not out of memory.
CHECK_TEST(test_flushing_pool) {
  for (const std::string& line : {forward(), forward() + " ! " + inverse()}) {
    g_autoptr(GstHarness) h = new_harness(line);
    const Messages bus(h->element);
    const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
    gst_harness_set_src_caps(h, video_caps(info));
    g_autoptr(GstBuffer) first = gst_harness_push_and_pull(h, make_frame(info));
    GstBufferPool* pool = first->pool;
    fail_unless(pool != nullptr);
    gst_buffer_pool_set_flushing(pool, TRUE);
    fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_FLUSHING);
    fail_unless(take_messages(bus, GST_MESSAGE_ERROR).empty());
    gst_buffer_pool_set_flushing(pool, FALSE);
    gst_buffer_unref(gst_harness_push_and_pull(h, make_frame(info)));
  }
}

}  // namespace
