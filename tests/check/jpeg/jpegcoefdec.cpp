// jpegcoefdec on sound streams: where pictures begin and end, order, times, threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

// ---- Where pictures begin and end ----

CHECK_TEST(test_bytes_in_any_pieces) {
  const std::vector<Bytes> pictures = {make_jpeg(40, 30),
                                       make_jpeg(40, 30, Subsampling::k420, 50, 2),
                                       make_jpeg(40, 30, Subsampling::k420, 95, 3)};
  const Bytes stream =
      joined({{1, 2, 0xff, 3}, pictures[0], pictures[1], {0xff, 0xff, 0, 7}, pictures[2], {9, 9}});
  for (const gsize piece : {gsize{1}, gsize{7}, gsize{500}, stream.size()}) {
    g_autoptr(GstHarness) harness = open_bytes();
    for (const Bytes& part : in_pieces(stream, piece))
      fail_unless_equals_int(gst_harness_push(harness, buffer_of(part)), GST_FLOW_OK);
    finish(harness);
    for (const Bytes& picture : pictures) expect(harness, picture);
    expect_no_more(harness);
  }
}

// A picture with a whole other one in its first segment.
Bytes with_thumbnail() {
  const Bytes thumbnail = make_jpeg(16, 16);
  const gsize length = thumbnail.size() + 2;
  const Bytes segment =
      joined({{0xff, 0xe1, static_cast<guint8>(length >> 8), static_cast<guint8>(length & 0xff)},
              thumbnail});
  return inserted(make_jpeg(64, 48), 2, segment);
}

// The thumbnail of a segment is no picture, and has its own end.
CHECK_TEST(test_thumbnail_inside) {
  const Bytes picture = with_thumbnail();
  g_autoptr(GstHarness) harness = open_bytes();
  for (int i = 0; i < 3; i++) gst_harness_push(harness, buffer_of(picture));
  finish(harness);
  for (int i = 0; i < 3; i++) expect(harness, picture);
  expect_no_more(harness);
}

// A block of a file may begin where a thumbnail does: bytes without times have no boundaries.
CHECK_TEST(test_thumbnail_at_a_boundary) {
  const Bytes picture = with_thumbnail();
  constexpr gsize kStart = 2 + 4;
  g_autoptr(GstHarness) harness = open_bytes();
  push(harness, cut(picture, kStart));
  push(harness, Bytes(picture.begin() + kStart, picture.end()));
  finish(harness);
  expect(harness, picture);
  expect_no_more(harness);
}

// Time in which nothing is shown, before the first picture.
CHECK_TEST(test_gap_at_the_start) {
  const Bytes picture = make_jpeg(64, 48);
  g_autoptr(GstHarness) harness = open();
  gst_harness_push_event(harness, gst_event_new_gap(0, GST_SECOND));
  push(harness, picture, GST_SECOND);
  finish(harness);
  expect(harness, picture, GST_SECOND);
}

// A picture without an end takes nothing from the next one.
CHECK_TEST(test_lost_end) {
  const Bytes good = make_jpeg(64, 48);
  const Bytes lost = cut(good, good.size() / 2);
  for (const bool bytes : {true, false}) {
    g_autoptr(GstHarness) harness = bytes ? open_bytes() : open();
    for (const Bytes& picture : {good, lost, good, lost, lost, good}) push(harness, picture);
    finish(harness);
    for (int i = 0; i < 3; i++) expect(harness, good);
    expect_no_more(harness);
  }
}

// A damaged length swallows no picture where buffers have times.
CHECK_TEST(test_lost_end_behind_a_wrong_length) {
  const Bytes good = make_jpeg(64, 48);
  Bytes wrong = good;
  wrong[segment_of(good, 0xda).begin + 2] = 0xff;
  g_autoptr(GstHarness) harness = open();
  for (const Bytes& picture : {good, wrong, good}) push(harness, picture);
  finish(harness);
  expect(harness, good);
  expect(harness, good);
  expect_no_more(harness);
}

CHECK_TEST(test_parsed) {
  const Bytes picture = make_jpeg(64, 48);
  g_autoptr(GstHarness) harness =
      open("", "image/jpeg,parsed=true,width=64,height=48,framerate=25/1");
  for (int i = 0; i < 3; i++) push(harness, picture, static_cast<GstClockTime>(i));
  for (int i = 0; i < 3; i++) expect(harness, picture, static_cast<GstClockTime>(i));
}

// ---- Order, times, threads ----

CHECK_TEST(test_order_and_times) {
  std::vector<Bytes> pictures;
  for (int i = 0; i < 20; i++)
    pictures.push_back(i % 5 == 0 ? make_jpeg(400, 300, Subsampling::k420, 95, guint(i))
                                  : make_jpeg(24, 16, Subsampling::k420, 75, guint(i)));
  for (const char* threads : {"n-threads=1", "n-threads=2", "n-threads=7", "n-threads=0"}) {
    g_autoptr(GstHarness) harness = open(threads);
    for (gsize i = 0; i < pictures.size(); i++) push(harness, pictures[i], i * 40 * GST_MSECOND);
    finish(harness);
    // Every fifth is of another size, so caps change all the time, and always before the picture.
    for (gsize i = 0; i < pictures.size(); i++) {
      g_autoptr(GstBuffer) buffer = gst_harness_pull(harness);
      fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), i * 40 * GST_MSECOND);
      GstDctInfo info;
      gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER,
                       TRUE, 8, GST_COEF_SAMPLING_420, i % 5 ? 24 : 400, i % 5 ? 16 : 300, nullptr);
      g_autoptr(GstCaps) caps = gst_dct_info_to_caps(&info);
      const std::string wrong = compare(pictures[i], buffer, caps);
      fail_unless(wrong.empty(), "%s, picture %d: %s", threads, int(i), wrong.c_str());
    }
    expect_no_more(harness);
  }
}

GstClockTime latency_of(const std::string& properties, bool live, const char* caps = kCaps) {
  g_autoptr(GstHarness) harness = open(properties, nullptr);
  gst_harness_set_live(harness, live);
  gst_harness_set_src_caps_str(harness, caps);
  for (int i = 0; i < 10; i++) push(harness, make_jpeg(24, 16), GstClockTime(i) * 40 * GST_MSECOND);
  const GstClockTime latency = gst_harness_query_latency(harness);
  finish(harness);
  return latency;
}

// With several threads it is the time of one picture, up to that of the frames in flight.
void expect_measured(GstClockTime latency, GstClockTime most) {
  fail_unless(latency > 0 && latency <= most, "%" GST_TIME_FORMAT, GST_TIME_ARGS(latency));
}

CHECK_TEST(test_latency) {
  fail_unless_equals_uint64(latency_of("n-threads=1", true), 0);
  expect_measured(latency_of("n-threads=4", true), 3 * 40 * GST_MSECOND);
  expect_measured(latency_of("n-threads=4", true, "image/jpeg,framerate=2000/1"),
                  3 * GST_MSECOND / 2);
  // A live source is not delayed unless the user requests it.
  fail_unless_equals_uint64(latency_of("n-threads=0", true), 0);
  // If the rate is unknown, pictures are late nevertheless.
  for (const char* caps : {"image/jpeg,framerate=0/1", "image/jpeg"})
    expect_measured(latency_of("n-threads=4", true, caps), 3 * 40 * GST_MSECOND);
}

// A finished picture leaves even if no further one comes.
CHECK_TEST(test_no_picture_waits_for_the_next) {
  const Bytes picture = make_jpeg(24, 16);
  g_autoptr(GstHarness) harness = open("n-threads=8");
  for (int i = 0; i < 20; i++) {
    push(harness, picture);
    expect(harness, picture);
  }
}

// With one thread, a picture comes out before the next one goes in.
CHECK_TEST(test_one_thread_delays_nothing) {
  const Bytes picture = make_jpeg(24, 16);
  g_autoptr(GstHarness) harness = open("n-threads=1");
  for (int i = 0; i < 5; i++) {
    push(harness, picture);
    fail_unless_equals_int(static_cast<int>(gst_harness_buffers_in_queue(harness)), 1);
    expect(harness, picture);
  }
}

CHECK_TEST(test_flush) {
  const Bytes before = make_jpeg(300, 200), after = make_jpeg(300, 200, Subsampling::k420, 75, 9);
  g_autoptr(GstHarness) harness = open("n-threads=4");
  for (int i = 0; i < 3; i++) push(harness, before);
  push(harness, cut(before, 1000));
  push_flush(harness);
  while (gst_harness_buffers_in_queue(harness) > 0) gst_buffer_unref(gst_harness_pull(harness));
  for (int i = 0; i < 3; i++) push(harness, after);
  finish(harness);
  for (int i = 0; i < 3; i++) expect(harness, after);
  expect_no_more(harness);
}

// By the query upstream gets its buffers back.
CHECK_TEST(test_drain_query) {
  const Bytes picture = make_jpeg(600, 400);
  g_autoptr(GstHarness) harness = open("n-threads=4");
  std::vector<GstBuffer*> buffers;
  for (int i = 0; i < 3; i++) {
    buffers.push_back(buffer_of(picture));
    fail_unless_equals_int(gst_harness_push(harness, gst_buffer_ref(buffers[i])), GST_FLOW_OK);
  }
  drain(harness);
  fail_unless_equals_int(gst_harness_buffers_received(harness), 3);
  for (GstBuffer* buffer : buffers) {
    ASSERT_MINI_OBJECT_REFCOUNT(buffer, "buffer", 1);
    gst_buffer_unref(buffer);
  }
  for (int i = 0; i < 3; i++) expect(harness, picture);
}

}  // namespace
