// jpegcoefenc in a stream: threads, latency, changes of format, flushes, whole pipelines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <glib/gstdio.h>

#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using testing::check_output;
using testing::encoder;
using testing::forward;
using testing::harness_with;
using testing::kFrame;
using testing::numbered;
using Bytes = std::vector<guint8>;

// ---- Threads ----

GST_START_TEST(test_threads) {
  constexpr guint kFrames = 20;
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 100, 75);
  std::vector<Bytes> expected;
  for (const int threads : {1, 2, 7}) {
    GstHarness* h = harness_with("n-threads=" + std::to_string(threads), info);
    for (guint i = 0; i < kFrames; i++) {
      fail_unless_equals_int(gst_harness_push(h, numbered(info, i)), GST_FLOW_OK);
      // No frame is late by more than the latency says.
      fail_unless(gst_harness_buffers_received(h) + static_cast<guint>(threads) > i + 1);
    }
    fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
    std::vector<Bytes> files;
    for (guint i = 0; i < kFrames; i++) {
      GstBuffer* out = gst_harness_try_pull(h);
      fail_unless(out != nullptr);
      fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * kFrame);
      files.push_back(testing::bytes_of(out));
      gst_buffer_unref(out);
    }
    fail_unless(gst_harness_try_pull(h) == nullptr);
    if (expected.empty()) expected = files;
    fail_unless(files == expected, "%d threads make other files", threads);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

// With several threads it is the time that frames take, up to that of the frames in work.
void expect_measured(GstClockTime latency, guint threads, GstClockTime frame) {
  const bool right = threads <= 1 ? latency == 0 : latency > 0 && latency <= (threads - 1) * frame;
  fail_unless(right, "%u threads: %" GST_TIME_FORMAT, threads, GST_TIME_ARGS(latency));
}

GstClockTime latency_behind_one(const GstDctInfo& info, guint threads) {
  GstHarness* h = harness_with("n-threads=" + std::to_string(threads), info);
  gst_harness_push(h, numbered(info, 0));
  gst_buffer_unref(gst_harness_pull(h));
  const GstClockTime latency = gst_harness_query_latency(h);
  gst_harness_teardown(h);
  return latency;
}

GST_START_TEST(test_latency) {
  GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 40, 24);
  for (const guint threads : {0u, 1u, 4u})  // a harness is a live source
    expect_measured(latency_behind_one(info, threads), threads, kFrame);
  info.fps_n = 0;
  expect_measured(latency_behind_one(info, 4), 4, 40 * GST_MSECOND);
}
GST_END_TEST;

// A finished file leaves, whether the next frame comes or not.
GST_START_TEST(test_no_file_waits_for_the_next) {
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 40, 24);
  GstHarness* h = harness_with("n-threads=8", info);
  for (guint i = 0; i < 20; i++) {
    gst_harness_push(h, numbered(info, i));
    GstBuffer* out = gst_harness_pull(h);
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * kFrame);
    gst_buffer_unref(out);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

// What the LATENCY query says at a sink behind the source.
GstClockTime latency_behind(const std::string& source) {
  GstElement* pipeline = gst_parse_launch((source + " ! video/x-raw,framerate=25/1 ! " + forward() +
                                           " ! " + encoder("name=e") + " ! fakesink")
                                              .c_str(),
                                          nullptr);
  const std::string failure = testing::run_to_eos(pipeline);
  fail_unless(failure.empty(), "%s", failure.c_str());
  GstElement* e = gst_bin_get_by_name(GST_BIN(pipeline), "e");
  GstPad* pad = gst_element_get_static_pad(e, "src");
  GstQuery* query = gst_query_new_latency();
  GstClockTime all = 0;
  fail_unless(gst_pad_query(pad, query));
  gst_query_parse_latency(query, nullptr, &all, nullptr);
  gst_query_unref(query);
  GstPad* sink = gst_element_get_static_pad(e, "sink");
  GstClockTime before = 0;
  query = gst_query_new_latency();
  fail_unless(gst_pad_peer_query(sink, query));
  gst_query_parse_latency(query, nullptr, &before, nullptr);
  gst_query_unref(query);
  gst_object_unref(sink);
  gst_object_unref(pad);
  gst_object_unref(e);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return all - before;
}

GST_START_TEST(test_latency_of_live_sources) {
  fail_unless_equals_uint64(latency_behind("videotestsrc num-buffers=2 is-live=true"), 0);
  expect_measured(latency_behind("videotestsrc num-buffers=2"), g_get_num_processors(), kFrame);
}
GST_END_TEST;

// A pool that may not grow must not run dry because frames wait for their turn.
GST_START_TEST(test_small_pool) {
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 40, 24);
  for (const guint buffers : {1u, 3u, 5u}) {
    GstHarness* h = harness_with("n-threads=7", info);
    GstBufferPool* pool = gst_buffer_pool_new();
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, nullptr, static_cast<guint>(info.size), 0, buffers);
    gst_buffer_pool_set_config(pool, config);
    gst_buffer_pool_set_active(pool, TRUE);
    for (guint i = 0; i < 10; i++) {
      GstBuffer* buffer = nullptr;
      GstBufferPoolAcquireParams params = {};
      params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
      fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, &params), GST_FLOW_OK);
      GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
      meta->n_tables = 2;
      for (guint t = 0; t < 2; t++)
        for (guint16& entry : meta->tables[t].values) entry = 1;
      gst_buffer_memset(buffer, 0, 0, info.size);
      fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    fail_unless_equals_int(gst_harness_buffers_received(h), 10);
    gst_harness_teardown(h);
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
  }
}
GST_END_TEST;

// ---- Changes ----

int negotiated_width(GstHarness* h) {
  GstCaps* caps = gst_pad_get_current_caps(h->sinkpad);
  gint width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
  gst_caps_unref(caps);
  return width;
}

// Frames that were waiting leave with the caps that they came with.
GST_START_TEST(test_new_size) {
  const GstDctInfo first = testing::levels_info(GST_COEF_SAMPLING_420, 64, 40);
  const GstDctInfo second = testing::levels_info(GST_COEF_SAMPLING_RGB, 33, 17);
  GstHarness* h = harness_with("n-threads=7", first);
  for (guint i = 0; i < 3; i++) gst_harness_push(h, numbered(first, i));
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&second));
  check_output(h, first, 0, 3);
  fail_unless_equals_int(negotiated_width(h), 64);
  for (guint i = 3; i < 6; i++) gst_harness_push(h, numbered(second, i));
  gst_harness_push_event(h, gst_event_new_eos());
  check_output(h, second, 3, 3);
  fail_unless_equals_int(negotiated_width(h), 33);
  gst_harness_teardown(h);
}
GST_END_TEST;

GST_START_TEST(test_flush) {
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 64, 40);
  GstHarness* h = harness_with("n-threads=7", info);
  for (guint i = 0; i < 3; i++) gst_harness_push(h, numbered(info, i));
  const guint before = gst_harness_buffers_received(h);
  testing::push_flush(h);
  fail_unless_equals_int(gst_harness_buffers_received(h), before);
  while (GstBuffer* out = gst_harness_try_pull(h)) gst_buffer_unref(out);
  for (guint i = 10; i < 12; i++) gst_harness_push(h, numbered(info, i));
  gst_harness_push_event(h, gst_event_new_eos());
  check_output(h, info, 10, 2);
  fail_unless(gst_harness_try_pull(h) == nullptr);
  gst_harness_teardown(h);
}
GST_END_TEST;

// ---- Refusals ----

GstFlowReturn g_refusal = GST_FLOW_OK;

GstFlowReturn refuse(GstPad*, GstObject*, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  return g_refusal;
}

// A stream that is shorter than there are threads meets its refusal at EOS only, when no push is
// left to return it: what upstream would make an error of is one here, and is not one twice.
GST_START_TEST(test_refused_at_eos) {
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 64, 40);
  const struct {
    GstFlowReturn flow;
    bool posts;
  } cases[] = {{GST_FLOW_NOT_NEGOTIATED, true},
               {GST_FLOW_NOT_LINKED, true},
               {GST_FLOW_NOT_SUPPORTED, true},
               {GST_FLOW_ERROR, false},
               {GST_FLOW_FLUSHING, false},
               {GST_FLOW_EOS, false},
               {GST_FLOW_OK, false}};
  for (const auto& one : cases) {
    GstHarness* h = harness_with("n-threads=7", info);
    GstBus* bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
    g_refusal = one.flow;
    gst_pad_set_chain_function(h->sinkpad, refuse);
    // The first may be done, and refused, before the second comes.
    const GstFlowReturn pushed = gst_harness_push(h, numbered(info, 0));
    fail_unless(pushed == GST_FLOW_OK || pushed == one.flow);
    gst_harness_push_event(h, gst_event_new_eos());
    GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    const bool returned = pushed != GST_FLOW_OK;
    fail_unless((message != nullptr) == (one.posts && !returned), "%s: %s",
                gst_flow_get_name(one.flow), message ? "an error" : "no error");
    if (message) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      fail_unless(g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED));
      g_error_free(error);
      gst_message_unref(message);
    }
    gst_element_set_bus(h->element, nullptr);
    gst_object_unref(bus);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

// ---- Pipelines ----

GstPadProbeReturn count_buffer(GstPad*, GstPadProbeInfo*, gpointer counter) {
  (*static_cast<int*>(counter))++;
  return GST_PAD_PROBE_OK;
}

// Plays to EOS, `times` times from NULL, and counts what reaches the element "last".
int count_frames(const std::string& line, int times) {
  GstElement* pipeline = testing::launch(line);
  GstElement* last = gst_bin_get_by_name(GST_BIN(pipeline), "last");
  GstPad* pad = gst_element_get_static_pad(last, "sink");
  int count = 0;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, &count, nullptr);
  for (int i = 0; i < times; i++) {
    const std::string failure = testing::run_to_eos(pipeline);
    fail_unless(failure.empty(), "%s: %s", line.c_str(), failure.c_str());
    gst_element_set_state(pipeline, GST_STATE_NULL);
  }
  gst_object_unref(pad);
  gst_object_unref(last);
  gst_object_unref(pipeline);
  return count;
}

GST_START_TEST(test_avi) {
  gchar* name = nullptr;
  g_close(g_file_open_tmp("jpegcoefenc-XXXXXX.avi", &name, nullptr), nullptr);
  const std::string path = name;
  fail_unless_equals_int(
      count_frames("videotestsrc num-buffers=20 ! " + forward() + " ! " + encoder() +
                       " ! avimux ! filesink name=last location=" + path,
                   1) > 0,
      TRUE);
  fail_unless_equals_int(
      count_frames("filesrc location=" + path + " ! avidemux ! jpegdec ! fakesink name=last", 1),
      20);
  g_unlink(name);
  g_free(name);
}
GST_END_TEST;

GST_START_TEST(test_states) {
  const std::string line = "videotestsrc num-buffers=5 ! " + forward() + " ! " +
                           encoder("n-threads=3") + " ! jpegparse ! fakesink name=last";
  fail_unless_equals_int(count_frames(line, 3), 15);
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("jpegcoefenc-stream");
  TCase* tc = tcase_create("stream");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_threads);
  tcase_add_test(tc, test_latency);
  tcase_add_test(tc, test_no_file_waits_for_the_next);
  tcase_add_test(tc, test_latency_of_live_sources);
  tcase_add_test(tc, test_small_pool);
  tcase_add_test(tc, test_new_size);
  tcase_add_test(tc, test_flush);
  tcase_add_test(tc, test_refused_at_eos);
  tcase_add_test(tc, test_avi);
  tcase_add_test(tc, test_states);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
