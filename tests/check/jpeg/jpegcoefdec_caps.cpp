// jpegcoefdec on sound streams: what caps and tables say, and the elements around it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <glib/gstdio.h>

#include <string>

#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

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
  GstElement* pipeline = launch(line);
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
  // One without EOI is found at the end of the stream.
  for (const size_t missing : {0, 2}) {
    g_file_set_contents(file.c_str(), reinterpret_cast<const char*>(picture.data()),
                        gssize(picture.size() - missing), nullptr);
    for (const char* threads : {"1", "4"}) {
      const std::string error =
          run_pipeline("filesrc location=" + file + " ! jpegcoefdec n-threads=" + threads +
                       " ! video/x-dct,width=64 ! fakesink");
      fail_if(error.empty() || error == "timeout", "%s threads, %zu bytes missing: '%s'", threads,
              missing, error.c_str());
    }
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
  Suite* suite = suite_create("jpegcoefdec-caps");
  TCase* tc = tcase_create("jpegcoefdec-caps");
  suite_add_tcase(suite, tc);
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
