// Streams of JPEG pictures into jpegcoefdec, and its output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/testing.h"

namespace testing {

inline constexpr char kCaps[] = "image/jpeg,framerate=25/1";

inline GstHarness* open(const std::string& properties = "", const char* caps = kCaps) {
  const std::string line = "jpegcoefdec " + properties;
  GstHarness* harness = gst_harness_new_parse(line.c_str());
  if (caps) gst_harness_set_src_caps_str(harness, caps);
  return harness;
}

// A stream of bytes without times, as filesrc makes it.
inline GstHarness* open_bytes(const std::string& properties = "") {
  GstHarness* harness = open(properties, nullptr);
  gst_harness_push_event(harness, gst_event_new_stream_start("bytes"));
  g_autoptr(GstCaps) caps = gst_caps_new_empty_simple("image/jpeg");
  gst_harness_push_event(harness, gst_event_new_caps(caps));
  push_segment(harness, GST_FORMAT_BYTES);
  return harness;
}

// The next buffer is that picture.
inline void expect(GstHarness* harness, const Bytes& jpeg, GstClockTime pts = GST_CLOCK_TIME_NONE) {
  g_autoptr(GstBuffer) buffer = gst_harness_pull(harness);
  fail_unless(buffer != nullptr, "a picture is missing");
  g_autoptr(GstCaps) caps = current_caps(harness);
  const std::string wrong = compare(jpeg, buffer, caps);
  fail_unless(wrong.empty(), "%s", wrong.c_str());
  if (GST_CLOCK_TIME_IS_VALID(pts)) fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), pts);
}

inline void push(GstHarness* harness, const Bytes& jpeg, GstClockTime pts = 0) {
  GstBuffer* buffer = buffer_of(jpeg, pts);
  GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
  fail_unless_equals_int(gst_harness_push(harness, buffer), GST_FLOW_OK);
}

inline void finish(GstHarness* harness) {
  fail_unless(gst_harness_push_event(harness, gst_event_new_eos()));
}

inline void expect_no_more(GstHarness* harness) {
  fail_unless_equals_int(static_cast<int>(gst_harness_buffers_in_queue(harness)), 0);
}

}  // namespace testing
