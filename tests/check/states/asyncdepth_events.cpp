// Events, caps, flushes and state changes while frames are in flight: everything keeps its place,
// and only a flush drops anything.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs on the CPU engine, on a GPU, and on the fake driver, which makes frames wait.
#include <string>
#include <vector>

#include "tests/check/states/asyncruns.h"

namespace {

using namespace testing;

// Serialised events come after earlier frames, and before later ones.
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
