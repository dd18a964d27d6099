// Frames in flight: whatever async-depth, frames, events and caps come out in the order in which
// they went in, with the settings and metas of their time, and nothing is lost but by a flush.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs on the CPU engine, on a GPU, and on the fake driver, which makes frames wait.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/fakedriver.h"

namespace {

using testing::forward;
using testing::inverse;

constexpr int kDepths = 5;  // a loop test's __i__ is async-depth - 1; the last one is 16

guint depth_of(int i) { return i == kDepths - 1 ? 16 : static_cast<guint>(i) + 1; }
std::string depth_property(int i) { return "async-depth=" + std::to_string(depth_of(i)); }
bool is_cuda() { return std::strcmp(testing::backend(), "cuda") == 0; }
bool is_fake() { return is_cuda() && testing::get_counts() != nullptr; }

// An element or two between a source and a sink of system memory, and what came out of it.
class Run {
 public:
  explicit Run(const std::string& line) : h_(gst_harness_new_parse(line.c_str())) {
    gst_pad_add_probe(h_->sinkpad,
                      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER |
                                                   GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                      &Run::see, this, nullptr);
  }
  ~Run() { gst_harness_teardown(h_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void caps(const GstVideoInfo& info) {
    info_ = info;
    gst_harness_set_src_caps(h_, testing::video_caps(info));
  }
  GstFlowReturn push(guint number, GstBufferFlags flags = static_cast<GstBufferFlags>(0)) {
    GstBuffer* in = testing::make_frame(info_, number);
    GST_BUFFER_PTS(in) = number * GST_SECOND / 25;
    GST_BUFFER_DURATION(in) = GST_SECOND / 25;
    GST_BUFFER_FLAG_SET(in, flags);
    return gst_harness_push(h_, in);
  }
  void push_many(guint from, guint to) {
    for (guint i = from; i < to; i++) fail_unless_equals_int(push(i), GST_FLOW_OK);
  }
  void event(GstEvent* event) { fail_unless(gst_harness_push_event(h_, event)); }
  GstBuffer* pull() {
    GstBuffer* buffer = gst_harness_try_pull(h_);
    fail_unless(buffer != nullptr, "a frame is missing");
    return buffer;
  }
  std::vector<guint8> samples(GstBuffer* buffer) const {
    GstCaps* caps = gst_pad_get_current_caps(h_->sinkpad);
    std::vector<guint8> samples = testing::samples_of(buffer, caps);
    gst_caps_unref(caps);
    return samples;
  }
  guint received() const { return gst_harness_buffers_received(h_); }
  GstHarness* harness() const { return h_; }
  GstElement* element(const char* name) const {
    return gst_bin_get_by_name(GST_BIN(h_->element), name);
  }
  // "0 1 tag 2 eos": numbers are frames.
  std::string seen() const { return seen_; }
  void forget() { seen_.clear(); }

 private:
  static GstPadProbeReturn see(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<Run*>(data);
    std::string what;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
      what = std::to_string(gst_util_uint64_scale_round(
          GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)), 25, GST_SECOND));
    else
      what = GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info));
    self->seen_ += (self->seen_.empty() ? "" : " ") + what;
    return GST_PAD_PROBE_OK;
  }

  GstHarness* h_;
  GstVideoInfo info_;
  std::string seen_;
};

void expect_seen(const Run& run, const std::string& expected) {
  const std::string seen = run.seen();
  fail_unless(seen == expected, "\"%s\" instead of \"%s\"", seen.c_str(), expected.c_str());
}

GstVideoInfo small(int width = 40, int height = 24) {
  return testing::video_info(GST_VIDEO_FORMAT_I420, width, height);
}

std::string lines[3];
void make_lines(int i) {
  const std::string depth = depth_property(i);
  lines[0] = forward(depth) + " ! capsfilter caps=video/x-dct";
  lines[1] = forward() + " ! video/x-dct ! " + inverse(depth) + " ! capsfilter caps=video/x-raw";
  lines[2] = forward(depth) + " ! " + inverse(depth) + " ! capsfilter caps=video/x-raw";
}

// On the fake driver nothing finishes before it is waited for: just so many frames are held.
GST_START_TEST(test_delay) {
  for (const std::string& line : {forward(depth_property(__i__)) + " ! capsfilter caps=video/x-dct",
                                  forward() + " ! video/x-dct ! " + inverse(depth_property(__i__)) +
                                      " ! capsfilter caps=video/x-raw"}) {
    Run run(line);
    run.caps(small());
    for (guint i = 0; i < 20; i++) {
      run.push(i);
      const guint held = is_cuda() ? depth_of(__i__) - 1 : 0;
      const guint least = i + 1 - std::min(i + 1, held);
      if (is_fake() || held == 0) {
        fail_unless_equals_int(run.received(), least);
      } else {
        fail_unless(run.received() >= least);
      }
    }
    run.event(gst_event_new_eos());
    fail_unless_equals_int(run.received(), 20);
  }
}
GST_END_TEST;

// The bytes of every frame, with the quality of its time, are those of async-depth=1.
GST_START_TEST(test_bytes) {
  make_lines(__i__);
  const std::string plain[3] = {
      forward() + " ! capsfilter caps=video/x-dct",
      forward() + " ! video/x-dct ! " + inverse() + " ! capsfilter caps=video/x-raw",
      forward() + " ! " + inverse() + " ! capsfilter caps=video/x-raw"};
  for (int l = 0; l < 3; l++) {
    Run deep(lines[l]), flat(plain[l]);
    for (Run* run : {&deep, &flat}) {
      run->caps(small(75, 43));
      run->push_many(0, 12);
      run->event(gst_event_new_eos());
    }
    for (guint i = 0; i < 12; i++) {
      GstBuffer *a = deep.pull(), *b = flat.pull();
      fail_unless_equals_uint64(GST_BUFFER_PTS(a), i * GST_SECOND / 25);
      fail_unless_equals_uint64(GST_BUFFER_DURATION(a), GST_SECOND / 25);
      if (!is_fake()) fail_unless(deep.samples(a) == flat.samples(b), "frame %u", i);
      gst_buffer_unref(a);
      gst_buffer_unref(b);
    }
  }
}
GST_END_TEST;

// Settings are taken when a frame comes, not when it goes.
GST_START_TEST(test_settings) {
  Run run(forward("name=f " + depth_property(__i__)) + " ! capsfilter caps=video/x-dct");
  GstElement* f = run.element("f");
  run.caps(small());
  for (guint i = 0; i < 10; i++) {
    g_object_set(f, "quality", 10 * i + 5, nullptr);
    run.push(i);
  }
  run.event(gst_event_new_eos());
  guint16 previous = G_MAXUINT16;
  for (guint i = 0; i < 10; i++) {
    GstBuffer* out = run.pull();
    const guint16 dc = gst_buffer_get_dct_meta(out)->tables[0].values[0];
    fail_unless(dc < previous, "frame %u: %u after %u", i, dc, previous);
    previous = dc;
    gst_buffer_unref(out);
  }
  gst_object_unref(f);
}
GST_END_TEST;

// Serialised events come after the frames before them, and before those after.
GST_START_TEST(test_events) {
  make_lines(__i__);
  for (const std::string& line : lines) {
    Run run(line);
    run.caps(small());
    run.push_many(0, 3);
    run.forget();  // stream-start, caps, segment, and whatever left early
    const guint before = run.received();
    run.event(gst_event_new_gap(GST_SECOND, GST_SECOND));
    std::string expected;
    for (guint i = before; i < 3; i++) expected += std::to_string(i) + " ";
    expect_seen(run, expected + "gap");

    run.push_many(3, 6);
    run.event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "t", nullptr)));
    run.push_many(6, 8);
    run.event(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("mark")));
    run.push_many(8, 10);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.base = GST_SECOND;
    run.event(gst_event_new_segment(&segment));
    run.push_many(10, 13);
    run.event(gst_event_new_eos());
    expect_seen(run, expected + "gap 3 4 5 tag 6 7 custom-downstream 8 9 segment 10 11 12 eos");
  }
}
GST_END_TEST;

GST_START_TEST(test_caps_change) {
  make_lines(__i__);
  for (const std::string& line : lines) {
    Run run(line);
    run.caps(small());
    run.push_many(0, 3);
    run.caps(small(56, 40));
    run.push_many(3, 5);
    run.caps(small());
    run.push_many(5, 6);
    run.event(gst_event_new_eos());
    const std::string seen = run.seen();
    const size_t begin = seen.find("0 1");
    fail_unless(begin != std::string::npos, "%s", seen.c_str());
    std::string rest = seen.substr(begin);
    // The harness sends a segment with the caps.
    for (size_t at; (at = rest.find(" segment")) != std::string::npos;) rest.erase(at, 8);
    fail_unless_equals_string(rest.c_str(), "0 1 2 caps 3 4 caps 5 eos");
    std::vector<gsize> sizes;
    for (int i = 0; i < 6; i++) {
      GstBuffer* out = run.pull();
      sizes.push_back(gst_buffer_get_size(out));
      gst_buffer_unref(out);
    }
    fail_unless(sizes[0] == sizes[2] && sizes[2] < sizes[3] && sizes[3] == sizes[4] &&
                sizes[5] == sizes[0]);
  }
}
GST_END_TEST;

// New sizes behind the element alone: what is in flight keeps the old one.
GST_START_TEST(test_rescaling) {
  Run run(forward() + " ! video/x-dct ! " + inverse("name=i " + depth_property(__i__)) +
          " ! capsfilter caps=video/x-raw");
  GstElement* i = run.element("i");
  run.caps(small(64, 48));
  run.push_many(0, 4);
  g_object_set(i, "scale", 2, nullptr);
  run.push_many(4, 8);
  run.event(gst_event_new_eos());
  const std::string seen = run.seen();
  fail_unless(seen.size() > 20 && seen.substr(seen.size() - 24) == "0 1 2 3 caps 4 5 6 7 eos", "%s",
              seen.c_str());
  for (guint n = 0; n < 8; n++) {
    GstBuffer* out = run.pull();
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), n * GST_SECOND / 25);
    fail_unless_equals_uint64(gst_buffer_get_size(out), n < 4 ? 64 * 48 * 3 / 2 : 32 * 24 * 3 / 2);
    gst_buffer_unref(out);
  }
  gst_object_unref(i);
}
GST_END_TEST;

// A flush drops what is in flight; what comes after it comes alone.
GST_START_TEST(test_flush) {
  make_lines(__i__);
  for (const std::string& line : lines) {
    Run run(line);
    run.caps(small());
    for (int round = 0; round < 3; round++) {
      run.push_many(0, 3);
      run.event(gst_event_new_flush_start());
      run.event(gst_event_new_flush_stop(TRUE));
      run.forget();
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      run.event(gst_event_new_segment(&segment));
      run.push_many(20, 22);
      run.event(gst_event_new_gap(GST_SECOND, GST_SECOND));
      expect_seen(run, "segment 20 21 gap");
    }
  }
}
GST_END_TEST;

// Down to READY and NULL with frames in flight, and up again.
GST_START_TEST(test_states) {
  make_lines(__i__);
  for (const std::string& line : lines) {
    for (GstState low : {GST_STATE_READY, GST_STATE_NULL}) {
      Run run(line);
      run.caps(small());
      run.push_many(0, 4);
      const guint before = run.received();
      gst_element_set_state(run.harness()->element, low);
      gst_element_set_state(run.harness()->element, GST_STATE_PLAYING);
      run.event(gst_event_new_stream_start("again"));
      run.caps(small());
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      run.event(gst_event_new_segment(&segment));
      run.forget();
      run.push_many(10, 13);
      run.event(gst_event_new_gap(GST_SECOND, GST_SECOND));
      const std::string seen = run.seen();
      fail_unless(seen.size() >= 12 && seen.substr(seen.size() - 12) == "10 11 12 gap", "%s",
                  seen.c_str());
      fail_unless_equals_int(run.received(), before + 3);
    }
  }
}
GST_END_TEST;

// The frame after a discontinuity is marked, and no other.
GST_START_TEST(test_discontinuity) {
  make_lines(__i__);
  for (const std::string& line : lines) {
    Run run(line);
    run.caps(small());
    for (guint i = 0; i < 12; i++)
      run.push(
          i, static_cast<GstBufferFlags>(i == 5 || i == 6 || i == 9 ? GST_BUFFER_FLAG_DISCONT : 0));
    run.event(gst_event_new_eos());
    for (guint i = 0; i < 12; i++) {
      GstBuffer* out = run.pull();
      fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * GST_SECOND / 25);
      fail_unless_equals_int(GST_BUFFER_IS_DISCONT(out), i == 5 || i == 6 || i == 9);
      gst_buffer_unref(out);
    }
  }
}
GST_END_TEST;

GST_START_TEST(test_qos) {
  Run run(forward(depth_property(__i__)) + " ! capsfilter caps=video/x-dct");
  run.caps(small());
  run.push_many(0, 4);
  gst_harness_push_upstream_event(
      run.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 4.0, 10 * GST_SECOND, 0));
  run.push_many(4, 7);      // late
  run.push_many(300, 303);  // in time
  run.event(gst_event_new_eos());
  for (guint i : {0, 1, 2, 3, 300, 301, 302}) {
    GstBuffer* out = run.pull();
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * GST_SECOND / 25);
    fail_unless_equals_int(GST_BUFFER_IS_DISCONT(out), i == 300);
    gst_buffer_unref(out);
  }
  fail_unless_equals_int(run.received(), 7);
}
GST_END_TEST;

GST_START_TEST(test_latency) {
  const struct {
    std::string line;
    guint waiting;  // elements that hold frames
  } cases[] = {
      {forward(depth_property(__i__)) + " ! capsfilter caps=video/x-dct", 1},
      {forward(depth_property(__i__)) + " ! " + inverse("async-depth=2") +
           " ! capsfilter caps=video/x-raw",
       0},
      {forward() + " ! video/x-dct ! " + inverse(depth_property(__i__)) +
           " ! capsfilter caps=video/x-raw",
       1},
  };
  for (const auto& c : cases) {
    Run run(c.line);
    run.caps(small());
    gst_harness_set_upstream_latency(run.harness(), 123);
    run.push(0);
    guint64 frames = c.waiting ? depth_of(__i__) - 1 : 1;
    if (!is_cuda()) frames = 0;
    fail_unless_equals_uint64(gst_harness_query_latency(run.harness()),
                              123 + frames * 40 * GST_MSECOND);
  }
}
GST_END_TEST;

// A frame that is no good is an error after the good ones before it.
GST_START_TEST(test_error_in_order) {
  Run run(forward(depth_property(__i__)) + " ! capsfilter caps=video/x-dct");
  run.caps(small());
  run.push_many(0, 3);
  fail_unless_equals_int(
      gst_harness_push(run.harness(), gst_buffer_new_allocate(nullptr, 10, nullptr)),
      GST_FLOW_ERROR);
  fail_unless_equals_int(run.received(), 3);
}
GST_END_TEST;

GST_START_TEST(test_measuring) {
  Run run(forward("name=f measure=psnr+time+zeros post-messages=true " + depth_property(__i__)) +
          " ! capsfilter caps=video/x-dct");
  GstBus* bus = gst_bus_new();
  gst_element_set_bus(run.harness()->element, bus);
  run.caps(small());
  run.push_many(0, 20);
  run.event(gst_event_new_eos());
  guint64 expected = 0;
  while (GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) {
    guint64 timestamp = 0;
    gst_structure_get_uint64(gst_message_get_structure(message), "timestamp", &timestamp);
    fail_unless_equals_uint64(timestamp, expected++ * GST_SECOND / 25);
    gst_message_unref(message);
  }
  fail_unless_equals_uint64(expected, 20);
  gst_element_set_bus(run.harness()->element, nullptr);
  gst_object_unref(bus);
}
GST_END_TEST;

GST_START_TEST(test_drain_query) {
  make_lines(__i__);
  for (const std::string& line : lines) {
    Run run(line);
    run.caps(small());
    run.push_many(0, 3);
    GstQuery* query = gst_query_new_drain();
    (void)gst_pad_peer_query(run.harness()->srcpad, query);
    gst_query_unref(query);
    fail_unless_equals_int(run.received(), 3);
  }
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("asyncdepth");
  TCase* tc = tcase_create("asyncdepth");
  suite_add_tcase(suite, tc);
  const int depths = testing::quick() ? 2 : kDepths;
  tcase_add_loop_test(tc, test_delay, 0, depths);
  tcase_add_loop_test(tc, test_bytes, 0, depths);
  tcase_add_loop_test(tc, test_settings, 0, depths);
  tcase_add_loop_test(tc, test_events, 0, depths);
  tcase_add_loop_test(tc, test_caps_change, 0, depths);
  tcase_add_loop_test(tc, test_rescaling, 0, depths);
  tcase_add_loop_test(tc, test_flush, 0, depths);
  tcase_add_loop_test(tc, test_states, 0, depths);
  tcase_add_loop_test(tc, test_discontinuity, 0, depths);
  tcase_add_loop_test(tc, test_qos, 0, depths);
  tcase_add_loop_test(tc, test_latency, 0, depths);
  tcase_add_loop_test(tc, test_error_in_order, 0, depths);
  tcase_add_loop_test(tc, test_measuring, 0, depths);
  tcase_add_loop_test(tc, test_drain_query, 0, depths);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
