// Frames in flight: for every async-depth, frames come out in input order, with the settings, bytes
// and events that belong to them.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs on the CPU engine, on a GPU, and on the fake driver, which makes frames wait.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/check/states/asyncruns.h"

namespace {

using namespace testing;

// On the fake driver nothing finishes before a wait: the element holds exactly this many frames.
CHECK_LOOP_TEST(test_delay, first_depth(), end_of_depths()) {
  for (const std::string& line : {forward(depth_property(__i__)) + " ! capsfilter caps=video/x-dct",
                                  forward() + " ! video/x-dct ! " + inverse(depth_property(__i__)) +
                                      " ! capsfilter caps=video/x-raw"}) {
    AsyncRun run(line);
    run.caps(small());
    for (guint i = 0; i < 20; i++) {
      run.push(i);
      const guint held = is_cuda() ? depth_of(__i__) - 1 : 0;
      const guint least = i + 1 - std::min(i + 1, held);
      if ((is_fake() && !is_deferred()) || held == 0) {
        fail_unless_equals_int(run.received(), least);
      } else {
        fail_unless(run.received() >= least);
      }
    }
    run.event(gst_event_new_eos());
    fail_unless_equals_int(run.received(), 20);
  }
}

// The bytes of every frame, with the quality of its time, are those of async-depth=1.
CHECK_LOOP_TEST(test_bytes, first_depth(), end_of_depths()) {
  const auto lines = make_lines(depth_property(__i__)), plain = make_lines("");
  for (size_t l = 0; l < lines.size(); l++) {
    AsyncRun deep(lines[l]), flat(plain[l]);
    for (AsyncRun* run : {&deep, &flat}) {
      run->caps(small(75, 43));
      run->push_many(0, 12);
      run->event(gst_event_new_eos());
    }
    for (guint i = 0; i < 12; i++) {
      GstBuffer *a = deep.pull(), *b = flat.pull();
      fail_unless_equals_uint64(GST_BUFFER_PTS(a), i * GST_SECOND / 25);
      fail_unless_equals_uint64(GST_BUFFER_DURATION(a), GST_SECOND / 25);
      if (!is_fake() || is_deferred())
        fail_unless(deep.samples(a) == flat.samples(b), "frame %u", i);
      gst_buffer_unref(a);
      gst_buffer_unref(b);
    }
  }
}

// An element takes its settings when a frame comes, not when it goes.
CHECK_LOOP_TEST(test_settings, first_depth(), end_of_depths()) {
  AsyncRun run(forward("name=f " + depth_property(__i__)) + " ! capsfilter caps=video/x-dct");
  g_autoptr(GstElement) f = run.element("f");
  run.caps(small());
  for (guint i = 0; i < 10; i++) {
    g_object_set(f, "quality", 10 * i + 5, nullptr);
    run.push(i);
  }
  run.event(gst_event_new_eos());
  guint16 previous = G_MAXUINT16;
  for (guint i = 0; i < 10; i++) {
    g_autoptr(GstBuffer) out = run.pull();
    const guint16 dc = gst_buffer_get_dct_meta(out)->tables[0].values[0];
    fail_unless(dc < previous, "frame %u: %u after %u", i, dc, previous);
    previous = dc;
  }
}

// The frame after a discontinuity is marked, and no other.
CHECK_LOOP_TEST(test_discontinuity, first_depth(), end_of_depths()) {
  for_each_line(__i__, [](AsyncRun& run) {
    for (guint i = 0; i < 12; i++)
      run.push(
          i, static_cast<GstBufferFlags>(i == 5 || i == 6 || i == 9 ? GST_BUFFER_FLAG_DISCONT : 0));
    run.event(gst_event_new_eos());
    for (guint i = 0; i < 12; i++) {
      g_autoptr(GstBuffer) out = run.pull();
      fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * GST_SECOND / 25);
      fail_unless_equals_int(GST_BUFFER_IS_DISCONT(out), i == 5 || i == 6 || i == 9);
    }
  });
}

CHECK_LOOP_TEST(test_qos, first_depth(), end_of_depths()) {
  AsyncRun run(forward(depth_property(__i__)) + " ! capsfilter caps=video/x-dct");
  run.caps(small());
  run.push_many(0, 4);
  gst_harness_push_upstream_event(
      run.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 4.0, 10 * GST_SECOND, 0));
  run.push_many(4, 7);      // late
  run.push_many(300, 303);  // in time
  run.event(gst_event_new_eos());
  for (guint i : {0, 1, 2, 3, 300, 301, 302}) {
    g_autoptr(GstBuffer) out = run.pull();
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * GST_SECOND / 25);
    fail_unless_equals_int(GST_BUFFER_IS_DISCONT(out), i == 300);
  }
  fail_unless_equals_int(run.received(), 7);
}

CHECK_LOOP_TEST(test_latency, first_depth(), end_of_depths()) {
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
  const struct {
    gint fps;
    GstClockTime frame;
  } rates[] = {
      {25, 40 * GST_MSECOND}, {50, 20 * GST_MSECOND}, {0, 40 * GST_MSECOND}};  // 0: not known
  for (const auto& c : cases)
    for (const auto& rate : rates) {
      AsyncRun run(c.line);  // behind a live source, as a harness is
      GstVideoInfo info = small();
      info.fps_n = rate.fps;
      info.fps_d = 1;
      run.caps(info);
      gst_harness_set_upstream_latency(run.harness(), 123);
      run.push(0);
      guint64 frames = c.waiting ? depth_of(__i__) - 1 : 1;
      if (!is_cuda()) frames = 0;
      fail_unless_equals_uint64(gst_harness_query_latency(run.harness()),
                                123 + frames * rate.frame);
    }
}

// A bad frame is an error after the good ones before it.
CHECK_LOOP_TEST(test_error_in_order, first_depth(), end_of_depths()) {
  AsyncRun run(forward(depth_property(__i__)) + " ! capsfilter caps=video/x-dct");
  run.caps(small());
  run.push_many(0, 3);
  fail_unless_equals_int(
      gst_harness_push(run.harness(), gst_buffer_new_allocate(nullptr, 10, nullptr)),
      GST_FLOW_ERROR);
  fail_unless_equals_int(run.received(), 3);
}

CHECK_LOOP_TEST(test_measuring, first_depth(), end_of_depths()) {
  AsyncRun run(
      forward("name=f measure=psnr+time+zeros post-messages=true " + depth_property(__i__)) +
      " ! capsfilter caps=video/x-dct");
  const Messages bus(run.harness()->element);
  run.caps(small());
  run.push_many(0, 20);
  run.event(gst_event_new_eos());
  guint64 expected = 0;
  while (GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) {
    guint64 timestamp = 0;
    if (gst_structure_get_uint64(gst_message_get_structure(message), "timestamp", &timestamp))
      fail_unless_equals_uint64(timestamp, expected++ * GST_SECOND / 25);
    gst_message_unref(message);
  }
  fail_unless_equals_uint64(expected, 20);
}

}  // namespace

// Runs on the CPU engine, on a GPU, and on the fake driver, which makes frames wait.

namespace {

// Serialized events come after earlier frames, and before later ones.
CHECK_LOOP_TEST(test_events, first_depth(), end_of_depths()) {
  for_each_line(__i__, [](AsyncRun& run) {
    run.push_many(0, 3);
    run.forget();  // stream-start, caps, segment, and early output
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
  });
}

CHECK_LOOP_TEST(test_caps_change, first_depth(), end_of_depths()) {
  for_each_line(__i__, [](AsyncRun& run) {
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
      g_autoptr(GstBuffer) out = run.pull();
      sizes.push_back(gst_buffer_get_size(out));
    }
    fail_unless(sizes[0] == sizes[2] && sizes[2] < sizes[3] && sizes[3] == sizes[4] &&
                sizes[5] == sizes[0]);
  });
}

// New sizes downstream only: frames in flight keep the old one.
CHECK_LOOP_TEST(test_rescaling, first_depth(), end_of_depths()) {
  AsyncRun run(forward() + " ! video/x-dct ! " + inverse("name=i " + depth_property(__i__)) +
               " ! capsfilter caps=video/x-raw");
  g_autoptr(GstElement) i = run.element("i");
  run.caps(small(64, 48));
  run.push_many(0, 4);
  g_object_set(i, "scale", 2, nullptr);
  run.push_many(4, 8);
  run.event(gst_event_new_eos());
  const std::string seen = run.seen();
  fail_unless(seen.size() > 20 && seen.substr(seen.size() - 24) == "0 1 2 3 caps 4 5 6 7 eos", "%s",
              seen.c_str());
  for (guint n = 0; n < 8; n++) {
    g_autoptr(GstBuffer) out = run.pull();
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), n * GST_SECOND / 25);
    fail_unless_equals_uint64(gst_buffer_get_size(out), n < 4 ? 64 * 48 * 3 / 2 : 32 * 24 * 3 / 2);
  }
}

// A flush drops the frames in flight; later frames come out without them.
CHECK_LOOP_TEST(test_flush, first_depth(), end_of_depths()) {
  for_each_line(__i__, [](AsyncRun& run) {
    for (int round = 0; round < 3; round++) {
      run.push_many(0, 3);
      push_flush(run.harness());
      run.push_many(20, 22);
      run.event(gst_event_new_gap(GST_SECOND, GST_SECOND));
      const std::string seen = run.seen();
      const size_t end = seen.rfind("flush-stop");
      fail_unless(end != std::string::npos, "%s", seen.c_str());
      fail_unless_equals_string(seen.c_str() + end, "flush-stop segment 20 21 gap");
    }
  });
}

// Down to READY and NULL with frames in flight, and up again.
CHECK_LOOP_TEST(test_states, first_depth(), end_of_depths()) {
  for (const std::string& line : make_lines(depth_property(__i__))) {
    for (GstState low : {GST_STATE_READY, GST_STATE_NULL}) {
      AsyncRun run(line);
      run.caps(small());
      run.push_many(0, 4);
      const guint before = run.received();
      gst_element_set_state(run.harness()->element, low);
      gst_element_set_state(run.harness()->element, GST_STATE_PLAYING);
      run.event(gst_event_new_stream_start("again"));
      run.caps(small());
      push_segment(run.harness());
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

CHECK_LOOP_TEST(test_drain_query, first_depth(), end_of_depths()) {
  for_each_line(__i__, [](AsyncRun& run) {
    run.push_many(0, 3);
    drain(run.harness());
    fail_unless_equals_int(run.received(), 3);
  });
}

}  // namespace
