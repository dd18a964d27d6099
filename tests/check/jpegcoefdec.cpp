// jpegcoefdec on sound streams: where pictures begin and end, order, times, caps, threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <glib/gstdio.h>

#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpegpictures.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr char kCaps[] = "image/jpeg,framerate=25/1";

GstHarness* open(const std::string& properties = "", const char* caps = kCaps) {
  const std::string line = "jpegcoefdec " + properties;
  GstHarness* harness = gst_harness_new_parse(line.c_str());
  if (caps) gst_harness_set_src_caps_str(harness, caps);
  return harness;
}

// A stream of bytes without times, as filesrc makes it.
GstHarness* open_bytes(const std::string& properties = "") {
  GstHarness* harness = open(properties, nullptr);
  gst_harness_push_event(harness, gst_event_new_stream_start("bytes"));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  GstCaps* caps = gst_caps_new_empty_simple("image/jpeg");
  gst_harness_push_event(harness, gst_event_new_caps(caps));
  gst_caps_unref(caps);
  gst_harness_push_event(harness, gst_event_new_segment(&segment));
  return harness;
}

GstCaps* current_caps(GstHarness* harness) { return gst_pad_get_current_caps(harness->sinkpad); }

// The next buffer is that picture.
void expect(GstHarness* harness, const Bytes& jpeg, GstClockTime pts = GST_CLOCK_TIME_NONE) {
  GstBuffer* buffer = gst_harness_pull(harness);
  fail_unless(buffer != nullptr, "a picture is missing");
  GstCaps* caps = current_caps(harness);
  const std::string wrong = compare(jpeg, buffer, caps);
  fail_unless(wrong.empty(), "%s", wrong.c_str());
  if (GST_CLOCK_TIME_IS_VALID(pts)) fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), pts);
  gst_caps_unref(caps);
  gst_buffer_unref(buffer);
}

void push(GstHarness* harness, const Bytes& jpeg, GstClockTime pts = 0) {
  GstBuffer* buffer = buffer_of(jpeg, pts);
  GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
  fail_unless_equals_int(gst_harness_push(harness, buffer), GST_FLOW_OK);
}

void finish(GstHarness* harness) {
  fail_unless(gst_harness_push_event(harness, gst_event_new_eos()));
}

void expect_no_more(GstHarness* harness) {
  fail_unless_equals_int(static_cast<int>(gst_harness_buffers_in_queue(harness)), 0);
}

// ---- Where pictures begin and end ----

GST_START_TEST(test_bytes_in_any_pieces) {
  const std::vector<Bytes> pictures = {make_jpeg(40, 30),
                                       make_jpeg(40, 30, Subsampling::k420, 50, 2),
                                       make_jpeg(40, 30, Subsampling::k420, 95, 3)};
  const Bytes stream =
      joined({{1, 2, 0xff, 3}, pictures[0], pictures[1], {0xff, 0xff, 0, 7}, pictures[2], {9, 9}});
  for (const gsize piece : {gsize{1}, gsize{7}, gsize{500}, stream.size()}) {
    GstHarness* harness = open_bytes();
    for (gsize at = 0; at < stream.size(); at += piece) {
      const auto begin = stream.begin() + static_cast<gssize>(at);
      const Bytes part(begin, begin + static_cast<gssize>(MIN(piece, stream.size() - at)));
      fail_unless_equals_int(gst_harness_push(harness, buffer_of(part)), GST_FLOW_OK);
    }
    finish(harness);
    for (const Bytes& picture : pictures) expect(harness, picture);
    expect_no_more(harness);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST;

// A picture with a whole other one in its first segment.
Bytes with_thumbnail() {
  const Bytes thumbnail = make_jpeg(16, 16);
  const gsize length = thumbnail.size() + 2;
  const Bytes segment =
      joined({{0xff, 0xe1, static_cast<guint8>(length >> 8), static_cast<guint8>(length & 0xff)},
              thumbnail});
  return inserted(make_jpeg(64, 48), 2, segment);
}

// The thumbnail of a segment is no picture, and has an end of its own.
GST_START_TEST(test_thumbnail_inside) {
  const Bytes picture = with_thumbnail();
  GstHarness* harness = open_bytes();
  for (int i = 0; i < 3; i++) gst_harness_push(harness, buffer_of(picture));
  finish(harness);
  for (int i = 0; i < 3; i++) expect(harness, picture);
  expect_no_more(harness);
  gst_harness_teardown(harness);
}
GST_END_TEST;

// A block of a file may begin where a thumbnail does: bytes without times have no boundaries.
GST_START_TEST(test_thumbnail_at_a_boundary) {
  const Bytes picture = with_thumbnail();
  constexpr gsize kStart = 2 + 4;
  GstHarness* harness = open_bytes();
  push(harness, cut(picture, kStart));
  push(harness, Bytes(picture.begin() + kStart, picture.end()));
  finish(harness);
  expect(harness, picture);
  expect_no_more(harness);
  gst_harness_teardown(harness);
}
GST_END_TEST;

// Time that nothing is shown in, before anything has been.
GST_START_TEST(test_gap_at_the_start) {
  const Bytes picture = make_jpeg(64, 48);
  GstHarness* harness = open();
  gst_harness_push_event(harness, gst_event_new_gap(0, GST_SECOND));
  push(harness, picture, GST_SECOND);
  finish(harness);
  expect(harness, picture, GST_SECOND);
  gst_harness_teardown(harness);
}
GST_END_TEST;

// A picture that has lost its end takes nothing from the one behind it.
GST_START_TEST(test_lost_end) {
  const Bytes good = make_jpeg(64, 48);
  const Bytes lost = cut(good, good.size() / 2);
  for (const bool bytes : {true, false}) {
    GstHarness* harness = bytes ? open_bytes() : open();
    for (const Bytes& picture : {good, lost, good, lost, lost, good}) push(harness, picture);
    finish(harness);
    for (int i = 0; i < 3; i++) expect(harness, good);
    expect_no_more(harness);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST;

// A damaged length swallows no picture where buffers have times.
GST_START_TEST(test_lost_end_behind_a_wrong_length) {
  const Bytes good = make_jpeg(64, 48);
  Bytes wrong = good;
  wrong[segment_of(good, 0xda).begin + 2] = 0xff;
  GstHarness* harness = open();
  for (const Bytes& picture : {good, wrong, good}) push(harness, picture);
  finish(harness);
  expect(harness, good);
  expect(harness, good);
  expect_no_more(harness);
  gst_harness_teardown(harness);
}
GST_END_TEST;

GST_START_TEST(test_parsed) {
  const Bytes picture = make_jpeg(64, 48);
  GstHarness* harness = open("", "image/jpeg,parsed=true,width=64,height=48,framerate=25/1");
  for (int i = 0; i < 3; i++) push(harness, picture, static_cast<GstClockTime>(i));
  for (int i = 0; i < 3; i++) expect(harness, picture, static_cast<GstClockTime>(i));
  gst_harness_teardown(harness);
}
GST_END_TEST;

// ---- Order, times, threads ----

GST_START_TEST(test_order_and_times) {
  std::vector<Bytes> pictures;
  for (int i = 0; i < 20; i++)
    pictures.push_back(i % 5 == 0 ? make_jpeg(400, 300, Subsampling::k420, 95, guint(i))
                                  : make_jpeg(24, 16, Subsampling::k420, 75, guint(i)));
  for (const char* threads : {"n-threads=1", "n-threads=2", "n-threads=7", "n-threads=0"}) {
    GstHarness* harness = open(threads);
    for (gsize i = 0; i < pictures.size(); i++) push(harness, pictures[i], i * 40 * GST_MSECOND);
    finish(harness);
    // Every fifth is of another size, so caps change all the time, and always before the picture.
    for (gsize i = 0; i < pictures.size(); i++) {
      GstBuffer* buffer = gst_harness_pull(harness);
      fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), i * 40 * GST_MSECOND);
      GstDctInfo info;
      gst_dct_info_set(&info, GST_DCT_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER,
                       TRUE, 8, GST_DCT_SAMPLING_420, i % 5 ? 24 : 400, i % 5 ? 16 : 300);
      GstCaps* caps = gst_dct_info_to_caps(&info);
      const std::string wrong = compare(pictures[i], buffer, caps);
      fail_unless(wrong.empty(), "%s, picture %d: %s", threads, int(i), wrong.c_str());
      gst_caps_unref(caps);
      gst_buffer_unref(buffer);
    }
    expect_no_more(harness);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST;

GstClockTime latency_of(const std::string& properties, bool live) {
  GstHarness* harness = open(properties, nullptr);
  gst_harness_set_live(harness, live);
  gst_harness_set_src_caps_str(harness, kCaps);
  for (int i = 0; i < 10; i++) push(harness, make_jpeg(24, 16), GstClockTime(i) * 40 * GST_MSECOND);
  const GstClockTime latency = gst_harness_query_latency(harness);
  finish(harness);
  gst_harness_teardown(harness);
  return latency;
}

GST_START_TEST(test_latency) {
  fail_unless_equals_uint64(latency_of("n-threads=1", true), 0);
  fail_unless_equals_uint64(latency_of("n-threads=4", true), 3 * 40 * GST_MSECOND);
  // A live source is not delayed unless that is asked for.
  fail_unless_equals_uint64(latency_of("n-threads=0", true), 0);
}
GST_END_TEST;

// With one thread, a picture comes out before the next one goes in.
GST_START_TEST(test_one_thread_delays_nothing) {
  const Bytes picture = make_jpeg(24, 16);
  GstHarness* harness = open("n-threads=1");
  for (int i = 0; i < 5; i++) {
    push(harness, picture);
    fail_unless_equals_int(static_cast<int>(gst_harness_buffers_in_queue(harness)), 1);
    expect(harness, picture);
  }
  gst_harness_teardown(harness);
}
GST_END_TEST;

GST_START_TEST(test_flush) {
  const Bytes before = make_jpeg(300, 200), after = make_jpeg(300, 200, Subsampling::k420, 75, 9);
  GstHarness* harness = open("n-threads=4");
  for (int i = 0; i < 3; i++) push(harness, before);
  push(harness, cut(before, 1000));
  gst_harness_push_event(harness, gst_event_new_flush_start());
  gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness, gst_event_new_segment(&segment));
  while (gst_harness_buffers_in_queue(harness) > 0) gst_buffer_unref(gst_harness_pull(harness));
  for (int i = 0; i < 3; i++) push(harness, after);
  finish(harness);
  for (int i = 0; i < 3; i++) expect(harness, after);
  expect_no_more(harness);
  gst_harness_teardown(harness);
}
GST_END_TEST;

// ---- Caps ----

GST_START_TEST(test_caps) {
  GstHarness* harness = open("", "image/jpeg,framerate=30000/1001,pixel-aspect-ratio=12/11");
  push(harness, make_jpeg(40, 30, Subsampling::k422));
  finish(harness);
  gst_buffer_unref(gst_harness_pull(harness));
  GstCaps* caps = current_caps(harness);
  GstCaps* wanted = gst_caps_from_string(
      "video/x-dct,format=S16LE,layout=block,order=raster,quantized=true,depth=8,"
      "sampling=YCbCr-4:2:2,colorspace=sYUV,width=40,height=30,framerate=30000/1001,"
      "pixel-aspect-ratio=12/11,colorimetry=1:4:0:0");
  // The harness takes either memory.
  gst_caps_set_features(wanted, 0, gst_caps_features_copy(gst_caps_get_features(caps, 0)));
  gchar* text = gst_caps_to_string(caps);
  fail_unless(gst_caps_is_equal(caps, wanted), "%s", text);
  g_free(text);
  gst_caps_unref(wanted);
  gst_caps_unref(caps);
  gst_harness_teardown(harness);
}
GST_END_TEST;

GST_START_TEST(test_colorimetry_reaches_the_frame) {
  const std::string line = "jpegcoefdec ! " + inverse();
  GstHarness* harness = gst_harness_new_parse(line.c_str());
  gst_harness_set_src_caps_str(harness, kCaps);
  push(harness, make_jpeg(40, 30));
  finish(harness);
  gst_buffer_unref(gst_harness_pull(harness));
  GstCaps* caps = current_caps(harness);
  fail_unless_equals_string(
      gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry"), "1:4:0:0");
  gst_caps_unref(caps);
  gst_harness_teardown(harness);
}
GST_END_TEST;

GST_START_TEST(test_16_bit_tables) {
  // A quality of 1 without the baseline's limit: entries up to 6050.
  Bytes picture = make_jpeg(40, 30);
  const Segment table = segment_of(picture, 0xdb);
  Bytes wide = {0xff, 0xdb, 0, 3 + 128, 0x10};
  for (int i = 0; i < 64; i++) {
    const int entry = 200 + 90 * i;
    wide.push_back(static_cast<guint8>(entry >> 8));
    wide.push_back(static_cast<guint8>(entry & 0xff));
  }
  picture = inserted(picture, table.begin, wide);
  // The first definition of table 0 is overridden by the second: take that away.
  Bytes rest = cut(picture, table.begin + wide.size());
  bool dropped = false;
  for (const Segment& segment : segments_of(picture)) {
    if (segment.begin < table.begin + wide.size()) continue;
    const bool is_first = segment.code == 0xdb && !dropped;
    dropped = dropped || is_first;
    if (!is_first)
      rest.insert(rest.end(), picture.begin() + gssize(segment.begin),
                  picture.begin() + gssize(segment.end));
  }
  GstHarness* harness = open();
  push(harness, rest);
  finish(harness);
  GstBuffer* buffer = gst_harness_pull(harness);
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  fail_unless_equals_int(meta->tables[meta->components[0].table].values[63], 200 + 90 * 63);
  gst_buffer_unref(buffer);
  gst_harness_teardown(harness);
}
GST_END_TEST;

// Cameras leave the Huffman tables out, because they are always the ones of Annex K.
GST_START_TEST(test_camera_without_huffman_tables) {
  const Bytes whole = make_jpeg(64, 48, Subsampling::k422);
  GstHarness* harness = open();
  for (int i = 0; i < 3; i++) push(harness, without_segments(whole, 0xc4));
  finish(harness);
  for (int i = 0; i < 3; i++) expect(harness, whole);
  gst_harness_teardown(harness);
}
GST_END_TEST;

// ---- In pipelines ----

int count_frames(const std::string& line) {
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line.c_str(), &error);
  fail_unless(error == nullptr, "%s", error ? error->message : "");
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  int count = 0;
  g_object_set(sink, "signal-handoffs", TRUE, nullptr);
  g_signal_connect(sink, "handoff",
                   G_CALLBACK(+[](GstElement*, GstBuffer*, GstPad*, int* n) { ++*n; }), &count);
  gst_object_unref(sink);
  const std::string text = run_to_eos(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  fail_unless(text.empty(), "%s", text.c_str());
  return count;
}

GST_START_TEST(test_avi) {
  gchar* folder = g_dir_make_tmp("cudatransform-avi-XXXXXX", nullptr);
  const std::string file = std::string(folder) + "/m.avi";
  const std::string made = run_pipeline(
      "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48,framerate=25/1 ! jpegenc ! "
      "avimux ! filesink location=" +
      file);
  fail_unless(made.empty(), "%s", made.c_str());
  const std::string head = "filesrc location=" + file + " ! avidemux ! ";
  for (const char* middle : {"", "jpegparse ! "})
    fail_unless_equals_int(
        count_frames(head + middle + "jpegcoefdec ! " + inverse() + " ! fakesink name=sink"), 20);
  g_unlink(file.c_str());
  g_rmdir(folder);
  g_free(folder);
}
GST_END_TEST;

// What downstream refuses is an error, also where the last pictures come out at EOS.
GST_START_TEST(test_refused_at_the_end) {
  gchar* folder = g_dir_make_tmp("cudatransform-jpeg-XXXXXX", nullptr);
  const std::string file = std::string(folder) + "/a.jpg";
  const Bytes picture = make_jpeg(48, 32);
  g_file_set_contents(file.c_str(), reinterpret_cast<const char*>(picture.data()),
                      gssize(picture.size()), nullptr);
  for (const char* threads : {"1", "4"}) {
    const std::string error =
        run_pipeline("filesrc location=" + file + " ! jpegcoefdec n-threads=" + threads +
                     " ! video/x-dct,width=64 ! fakesink");
    fail_if(error.empty() || error == "timeout", "%s threads: '%s'", threads, error.c_str());
  }
  g_unlink(file.c_str());
  g_rmdir(folder);
  g_free(folder);
}
GST_END_TEST;

GST_START_TEST(test_multifilesrc) {
  gchar* folder = g_dir_make_tmp("cudatransform-multi-XXXXXX", nullptr);
  for (int i = 0; i < 5; i++) {
    const Bytes picture = make_jpeg(32 + 8 * i, 24);
    const std::string name = std::string(folder) + "/" + std::to_string(i) + ".jpg";
    g_file_set_contents(name.c_str(), reinterpret_cast<const char*>(picture.data()),
                        gssize(picture.size()), nullptr);
  }
  const std::string line = std::string("multifilesrc location=") + folder +
                           "/%d.jpg caps=image/jpeg,framerate=5/1 ! jpegcoefdec ! " + inverse() +
                           " ! fakesink name=sink";
  fail_unless_equals_int(count_frames(line), 5);
  for (int i = 0; i < 5; i++)
    g_unlink((std::string(folder) + "/" + std::to_string(i) + ".jpg").c_str());
  g_rmdir(folder);
  g_free(folder);
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("jpegcoefdec");
  TCase* tc = tcase_create("sound streams");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_bytes_in_any_pieces);
  tcase_add_test(tc, test_thumbnail_inside);
  tcase_add_test(tc, test_thumbnail_at_a_boundary);
  tcase_add_test(tc, test_gap_at_the_start);
  tcase_add_test(tc, test_lost_end);
  tcase_add_test(tc, test_lost_end_behind_a_wrong_length);
  tcase_add_test(tc, test_parsed);
  tcase_add_test(tc, test_order_and_times);
  tcase_add_test(tc, test_latency);
  tcase_add_test(tc, test_one_thread_delays_nothing);
  tcase_add_test(tc, test_flush);
  tcase_add_test(tc, test_caps);
  tcase_add_test(tc, test_colorimetry_reaches_the_frame);
  tcase_add_test(tc, test_16_bit_tables);
  tcase_add_test(tc, test_camera_without_huffman_tables);
  tcase_add_test(tc, test_avi);
  tcase_add_test(tc, test_refused_at_the_end);
  tcase_add_test(tc, test_multifilesrc);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
