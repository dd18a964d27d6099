// How much time of processors an element takes to split a stream: for the tests that it grows with
// the bytes alone.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <time.h>

#include <algorithm>
#include <functional>
#include <string>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

// Upstream knows how long a stream is, as filesrc does.
inline void know_length(GstHarness* harness) {
  const auto answer = [](GstPad*, GstPadProbeInfo* info, gpointer) {
    GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
    GstFormat format = GST_FORMAT_UNDEFINED;
    if (GST_QUERY_TYPE(query) == GST_QUERY_DURATION)
      gst_query_parse_duration(query, &format, nullptr);
    if (format != GST_FORMAT_BYTES) return GST_PAD_PROBE_OK;
    gst_query_set_duration(query, format, 1);
    return GST_PAD_PROBE_HANDLED;
  };
  const int queries = GST_PAD_PROBE_TYPE_QUERY_UPSTREAM | GST_PAD_PROBE_TYPE_PUSH;
  gst_pad_add_probe(harness->srcpad, static_cast<GstPadProbeType>(queries), answer, nullptr,
                    nullptr);
}

// Seconds of all threads, in which `line` takes the stream of a file in pieces of that many bytes,
// without times, and its end. What it makes is dropped.
inline double seconds_to_split(const std::string& line, const char* caps, const Bytes& stream,
                               gsize piece) {
  const auto now = [] {
    timespec t = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  };
  GstHarness* harness = gst_harness_new_parse(line.c_str());
  gst_harness_set_drop_buffers(harness, TRUE);
  know_length(harness);
  gst_harness_push_event(harness, gst_event_new_stream_start("bytes"));
  g_autoptr(GstCaps) input = gst_caps_from_string(caps);
  gst_harness_push_event(harness, gst_event_new_caps(input));
  push_segment(harness, GST_FORMAT_BYTES);
  const double begin = now();
  GstFlowReturn flow = GST_FLOW_OK;
  for (gsize at = 0; at < stream.size() && flow == GST_FLOW_OK; at += piece) {
    const gsize size = std::min(piece, stream.size() - at);
    GstBuffer* buffer = gst_buffer_new_memdup(&stream[at], size);
    flow = gst_harness_push(harness, buffer);
  }
  gst_harness_push_event(harness, gst_event_new_eos());
  const double spent = now() - begin;
  end_harness(harness);
  fail_unless_equals_int(flow, GST_FLOW_OK);
  return spent;
}

// Twice the bytes of such a stream take no more than twice the time, except for noise, and no more
// than `most` seconds.
inline void expect_linear_cost(const std::string& line, const char* caps, const char* name,
                               const std::function<Bytes(gsize)>& make, double most = 1) {
  constexpr double kNoise = 0.02;
  const gsize bytes = quick() ? 10000 : 400000;
  const Bytes once = make(bytes), twice = make(2 * bytes);
  for (const gsize piece : {gsize{188}, twice.size()}) {
    double one = seconds_to_split(line, caps, once, piece);
    double two = seconds_to_split(line, caps, twice, piece);
    if (quick()) continue;
    // Sixteen megabytes may take four, on a processor that does nothing else.
    fail_unless(two < most, "%s in pieces of %d: %f s", name, static_cast<int>(piece), two);
    for (int again = 0; again < 5 && two >= 3 * one + kNoise; again++) {
      one = std::min(one, seconds_to_split(line, caps, once, piece));
      two = std::min(two, seconds_to_split(line, caps, twice, piece));
    }
    fail_unless(two < 3 * one + kNoise, "%s in pieces of %d: %f and %f s", name,
                static_cast<int>(piece), one, two);
  }
}

}  // namespace testing
