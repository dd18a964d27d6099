// jpegcoefenc in a stream: threads, latency, changes of format, flushes, whole pipelines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

using Bytes = std::vector<guint8>;

// ---- Threads ----

CHECK_TEST(test_threads) {
  constexpr guint kFrames = 20;
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 100, 75);
  std::vector<Bytes> expected;
  for (const int threads : {1, 2, 7}) {
    g_autoptr(GstHarness) h = harness_with("n-threads=" + std::to_string(threads), info);
    for (guint i = 0; i < kFrames; i++) {
      fail_unless_equals_int(gst_harness_push(h, numbered(info, i)), GST_FLOW_OK);
      // No frame is late by more than the reported latency.
      fail_unless(gst_harness_buffers_received(h) + static_cast<guint>(threads) > i + 1);
    }
    fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
    std::vector<Bytes> files;
    for (guint i = 0; i < kFrames; i++) {
      g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
      fail_unless(out != nullptr);
      fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * kFrame);
      files.push_back(bytes_of(out));
    }
    fail_unless(gst_harness_try_pull(h) == nullptr);
    if (expected.empty()) expected = files;
    fail_unless(files == expected, "%d threads make other files", threads);
  }
}

// With several threads it is the time that frames take, up to that of the frames in flight.
void expect_measured(GstClockTime latency, guint threads, GstClockTime frame) {
  const bool right = threads <= 1 ? latency == 0 : latency > 0 && latency <= (threads - 1) * frame;
  fail_unless(right, "%u threads: %" GST_TIME_FORMAT, threads, GST_TIME_ARGS(latency));
}

GstClockTime latency_behind_one(const GstDctInfo& info, guint threads) {
  g_autoptr(GstHarness) h = harness_with("n-threads=" + std::to_string(threads), info);
  gst_harness_push(h, numbered(info, 0));
  gst_buffer_unref(gst_harness_pull(h));
  return gst_harness_query_latency(h);
}

CHECK_TEST(test_latency) {
  GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 40, 24);
  for (const guint threads : {0u, 1u, 4u})  // a harness is a live source
    expect_measured(latency_behind_one(info, threads), threads, kFrame);
  info.fps_n = 0;
  expect_measured(latency_behind_one(info, 4), 4, 40 * GST_MSECOND);
}

// A finished file leaves even if no further frame comes.
CHECK_TEST(test_no_file_waits_for_the_next) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 40, 24);
  g_autoptr(GstHarness) h = harness_with("n-threads=8", info);
  for (guint i = 0; i < 20; i++) {
    gst_harness_push(h, numbered(info, i));
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * kFrame);
  }
}

// The LATENCY query's answer at a sink behind the source.
GstClockTime latency_behind(const std::string& source) {
  g_autoptr(GstElement) pipeline =
      gst_parse_launch((source + " ! video/x-raw,framerate=25/1 ! " + forward() + " ! " +
                        encoder("name=e") + " ! fakesink")
                           .c_str(),
                       nullptr);
  run_well(pipeline);
  g_autoptr(GstElement) e = gst_bin_get_by_name(GST_BIN(pipeline), "e");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(e, "src");
  GstQuery* query = gst_query_new_latency();
  GstClockTime all = 0;
  fail_unless(gst_pad_query(pad, query));
  gst_query_parse_latency(query, nullptr, &all, nullptr);
  gst_query_unref(query);
  g_autoptr(GstPad) sink = gst_element_get_static_pad(e, "sink");
  GstClockTime before = 0;
  query = gst_query_new_latency();
  fail_unless(gst_pad_peer_query(sink, query));
  gst_query_parse_latency(query, nullptr, &before, nullptr);
  gst_query_unref(query);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return all - before;
}

CHECK_TEST(test_latency_of_live_sources) {
  fail_unless_equals_uint64(latency_behind("videotestsrc num-buffers=2 is-live=true"), 0);
  expect_measured(latency_behind("videotestsrc num-buffers=2"), g_get_num_processors(), kFrame);
}

// A pool that may not grow must not run dry because frames wait for their turn.
CHECK_TEST(test_small_pool) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 40, 24);
  for (const guint buffers : {1u, 3u, 5u}) {
    GstHarness* h = harness_with("n-threads=7", info);
    g_autoptr(GstBufferPool) pool = gst_buffer_pool_new();
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
  }
}

// ---- Changes ----

int negotiated_width(GstHarness* h) {
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  gint width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
  return width;
}

// Waiting frames leave with the caps that they came with.
CHECK_TEST(test_new_size) {
  const GstDctInfo first = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
  const GstDctInfo second = qcoefs_info(GST_COEF_SAMPLING_RGB, 33, 17);
  g_autoptr(GstHarness) h = harness_with("n-threads=7", first);
  for (guint i = 0; i < 3; i++) gst_harness_push(h, numbered(first, i));
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&second));
  check_output(h, first, 0, 3);
  fail_unless_equals_int(negotiated_width(h), 64);
  for (guint i = 3; i < 6; i++) gst_harness_push(h, numbered(second, i));
  gst_harness_push_event(h, gst_event_new_eos());
  check_output(h, second, 3, 3);
  fail_unless_equals_int(negotiated_width(h), 33);
}

CHECK_TEST(test_flush) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
  g_autoptr(GstHarness) h = harness_with("n-threads=7", info);
  for (guint i = 0; i < 3; i++) gst_harness_push(h, numbered(info, i));
  push_flush(h);
  while (GstBuffer* out = gst_harness_try_pull(h)) gst_buffer_unref(out);
  for (guint i = 10; i < 12; i++) gst_harness_push(h, numbered(info, i));
  gst_harness_push_event(h, gst_event_new_eos());
  check_output(h, info, 10, 2);
  fail_unless(gst_harness_try_pull(h) == nullptr);
}

// By the query upstream gets its buffers back.
CHECK_TEST(test_drain_query) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 1600, 1200);
  g_autoptr(GstHarness) h = harness_with("n-threads=7 progressive=true", info);
  std::vector<GstBuffer*> frames;
  for (guint i = 0; i < 3; i++) {
    frames.push_back(numbered(info, i));
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(frames[i])), GST_FLOW_OK);
  }
  drain(h);
  fail_unless_equals_int(gst_harness_buffers_received(h), 3);
  for (GstBuffer* frame : frames) {
    ASSERT_MINI_OBJECT_REFCOUNT(frame, "frame", 1);
    gst_buffer_unref(frame);
  }
  check_output(h, info, 0, 3);
}

// ---- Refusals ----

GstFlowReturn g_refusal = GST_FLOW_OK;

GstFlowReturn refuse(GstPad*, GstObject*, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  return g_refusal;
}

// If a stream is shorter than the number of threads, the refusal comes only at EOS, when no push
// can return it: the element posts what upstream would make of it, and never twice.
CHECK_TEST(test_refused_at_eos) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
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
    const Messages bus(h->element);
    g_refusal = one.flow;
    gst_pad_set_chain_function(h->sinkpad, refuse);
    // The first may be done, and refused, before the second comes.
    const GstFlowReturn pushed = gst_harness_push(h, numbered(info, 0));
    fail_unless(pushed == GST_FLOW_OK || pushed == one.flow);
    gst_harness_push_event(h, gst_event_new_eos());
    const std::vector<Report> errors = take_messages(bus, GST_MESSAGE_ERROR);
    const bool returned = pushed != GST_FLOW_OK;
    fail_unless(errors.size() == (one.posts && !returned ? 1 : 0), "%s: %d errors",
                gst_flow_get_name(one.flow), static_cast<int>(errors.size()));
    for (const Report& error : errors)
      fail_unless(error.domain == GST_STREAM_ERROR && error.code == GST_STREAM_ERROR_FAILED);
    gst_harness_teardown(h);
  }
}

// A refusal that a push has returned is told no second time after a query.
CHECK_TEST(test_known_refusal_stays_known) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
  g_autoptr(GstHarness) h = harness_with("n-threads=1", info);
  const Messages bus(h->element);
  g_refusal = GST_FLOW_NOT_NEGOTIATED;
  gst_pad_set_chain_function(h->sinkpad, refuse);
  fail_unless_equals_int(gst_harness_push(h, numbered(info, 0)), g_refusal);
  drain(h);
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(int(take_messages(bus, GST_MESSAGE_ERROR).size()), 0);
}

// ---- Pipelines ----

GstPadProbeReturn count_buffer(GstPad*, GstPadProbeInfo*, gpointer counter) {
  (*static_cast<int*>(counter))++;
  return GST_PAD_PROBE_OK;
}

// Plays to EOS, `times` times from NULL, and counts buffers at the element "last".
int count_frames(const std::string& line, int times) {
  g_autoptr(GstElement) pipeline = launch(line);
  g_autoptr(GstElement) last = gst_bin_get_by_name(GST_BIN(pipeline), "last");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(last, "sink");
  int count = 0;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, &count, nullptr);
  for (int i = 0; i < times; i++) {
    const std::string failure = run_to_eos(pipeline);
    fail_unless(failure.empty(), "%s: %s", line.c_str(), failure.c_str());
    gst_element_set_state(pipeline, GST_STATE_NULL);
  }
  return count;
}

CHECK_TEST(test_avi) {
  const Folder folder;
  const std::string path = folder.file("a.avi");
  run_well("videotestsrc num-buffers=20 ! " + forward() + " ! " + encoder() +
           " ! avimux ! filesink location=" + path);
  fail_unless_equals_int(
      count_frames("filesrc location=" + path + " ! avidemux ! jpegdec ! fakesink name=last", 1),
      20);
}

CHECK_TEST(test_states) {
  const std::string line = "videotestsrc num-buffers=5 ! " + forward() + " ! " +
                           encoder("n-threads=3") + " ! jpegparse ! fakesink name=last";
  fail_unless_equals_int(count_frames(line, 3), 15);
}

}  // namespace
