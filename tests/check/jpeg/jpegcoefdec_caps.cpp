// jpegcoefdec on sound streams: the contents of caps and tables, and neighboring elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/files.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

// ---- Caps ----

CHECK_TEST(test_caps) {
  g_autoptr(GstHarness) harness =
      open("", "image/jpeg,framerate=30000/1001,pixel-aspect-ratio=12/11");
  push(harness, make_jpeg(40, 30, Subsampling::k422));
  finish(harness);
  gst_buffer_unref(gst_harness_pull(harness));
  g_autoptr(GstCaps) caps = current_caps(harness);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(
      "video/x-dct,format=S16LE,layout=block,order=raster,quantized=true,depth=8,"
      "sampling=YCbCr-4:2:2,colorspace=sYUV,width=40,height=30,framerate=30000/1001,"
      "pixel-aspect-ratio=12/11,colorimetry=1:4:0:0");
  // The harness takes either memory.
  gst_caps_set_features(wanted, 0, gst_caps_features_copy(gst_caps_get_features(caps, 0)));
  g_autofree gchar* text = gst_caps_to_string(caps);
  fail_unless(gst_caps_is_equal(caps, wanted), "%s", text);
}

CHECK_TEST(test_colorimetry_reaches_the_frame) {
  const std::string line = "jpegcoefdec ! " + inverse();
  g_autoptr(GstHarness) harness = gst_harness_new_parse(line.c_str());
  gst_harness_set_src_caps_str(harness, kCaps);
  push(harness, make_jpeg(40, 30));
  finish(harness);
  gst_buffer_unref(gst_harness_pull(harness));
  g_autoptr(GstCaps) caps = current_caps(harness);
  fail_unless_equals_string(
      gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry"), "1:4:0:0");
}

CHECK_TEST(test_16_bit_tables) {
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
  // The second definition of table 0 overrides the first: remove the second.
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
  g_autoptr(GstHarness) harness = open();
  push(harness, rest);
  finish(harness);
  g_autoptr(GstBuffer) buffer = gst_harness_pull(harness);
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  fail_unless_equals_int(meta->tables[meta->components[0].table].values[63], 200 + 90 * 63);
}

// ---- Four components ----

CHECK_TEST(test_four_components) {
  for (const FourComponents& kind : kFourComponents) {
    for (const auto& [width, height] : {std::pair{1, 1}, {17, 33}, {64, 48}, {100, 75}}) {
      const Bytes jpeg = make_four_components(kind, width, height);
      for (const bool progressive : {false, true}) {
        const Bytes file = progressive ? written_again(jpeg, true, true, false, 0) : jpeg;
        g_autoptr(GstHarness) harness = open();
        push(harness, file);
        finish(harness);
        g_autoptr(GstCaps) caps = current_caps(harness);
        const GstStructure* s = gst_caps_get_structure(caps, 0);
        fail_unless_equals_string(gst_structure_get_string(s, "sampling"), kind.sampling);
        fail_unless_equals_string(gst_structure_get_string(s, "colorspace"),
                                  kind.ycck ? "YCCK" : "CMYK");
        fail_if(gst_structure_has_field(s, "colorimetry"));
        expect(harness, jpeg);
      }
    }
  }
}

// As jpegparse describes them, and to elements that have no room for them.
CHECK_TEST(test_four_components_in_pipelines) {
  const Folder folder;
  const std::string file = folder.file("a.jpg");
  const Bytes jpeg = make_four_components(kFourComponents[3], 64, 48);
  g_file_set_contents(file.c_str(), reinterpret_cast<const char*>(jpeg.data()), gssize(jpeg.size()),
                      nullptr);
  for (const std::string middle : {"", "jpegparse ! "}) {
    const std::string head = "filesrc location=" + file + " ! " + middle + "jpegcoefdec ! ";
    run_well(head + "jpegcoefenc ! image/jpeg,sampling=YCCK-4:2:0,colorspace=YCCK ! fakesink");
    const std::string error = run_pipeline(head + inverse() + " ! fakesink");
    fail_unless(contains(error, "YCCK-4:2:0") && contains(error, "no raw video format"), "%s",
                error.c_str());
  }
}

// Cameras leave out the Huffman tables, which are always those of Annex K.
CHECK_TEST(test_camera_without_huffman_tables) {
  const Bytes whole = make_jpeg(64, 48, Subsampling::k422);
  g_autoptr(GstHarness) harness = open();
  for (int i = 0; i < 3; i++) push(harness, without_segments(whole, 0xc4));
  finish(harness);
  for (int i = 0; i < 3; i++) expect(harness, whole);
}

// ---- In pipelines ----

constexpr const char* kSink = " ! video/x-raw ! appsink name=sink sync=false";

CHECK_TEST(test_avi) {
  const Folder folder;
  const std::string file = folder.file("m.avi");
  run_well(
      "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48,framerate=25/1 ! jpegenc ! "
      "avimux ! filesink location=" +
      file);
  const std::string head = "filesrc location=" + file + " ! avidemux ! ";
  for (const char* middle : {"", "jpegparse ! "})
    fail_unless_equals_uint64(play(head + middle + "jpegcoefdec ! " + inverse() + kSink).size(),
                              20);
}

// Caps that downstream refuses are an error, also where the last pictures come out at EOS.
CHECK_TEST(test_refused_at_the_end) {
  const Folder folder;
  const std::string file = folder.file("a.jpg");
  const Bytes picture = make_jpeg(48, 32);
  // The element finds a picture without EOI at the end of the stream.
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
}

CHECK_TEST(test_multifilesrc) {
  const Folder folder;
  for (int i = 0; i < 5; i++) {
    const Bytes picture = make_jpeg(32 + 8 * i, 24);
    const std::string name = folder.file(std::to_string(i) + ".jpg");
    g_file_set_contents(name.c_str(), reinterpret_cast<const char*>(picture.data()),
                        gssize(picture.size()), nullptr);
  }
  const std::string line = "multifilesrc location=" + folder.file("%d.jpg") +
                           " caps=image/jpeg,framerate=5/1 ! jpegcoefdec ! " + inverse() + kSink;
  fail_unless_equals_uint64(play(line).size(), 5);
}

}  // namespace
