// The scale property of cudaidct8x8 in a stream: changes while playing, methods, metas,
// measurements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <cstring>
#include <string>

#include "tests/check/dct8x8/measured.h"
#include "tests/check/dct8x8/scaled.h"

namespace {

using namespace testing;

CHECK_TEST(test_changes) {
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 37, 19);
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      (forward() + " ! " + inverse("name=inv") + " ! capsfilter caps=video/x-raw").c_str());
  g_autoptr(GstElement) inv = gst_bin_get_by_name(GST_BIN(h->element), "inv");
  gst_harness_set_src_caps(h, video_caps(raw));
  for (const int scale : {1, 2, 2, 8, 4, 1, 8, 2}) {
    g_object_set(inv, "scale", scale, nullptr);
    for (guint i = 0; i < 3; i++) {
      g_autoptr(GstBuffer) out = passed(h, make_frame(raw, i));
      const GstVideoInfo info = output_info(h);
      fail_unless_equals_int(info.width, scaled(37, scale));
      fail_unless_equals_int(info.height, scaled(19, scale));
      fail_unless(gst_buffer_get_size(out) >= info.size);
    }
  }
}

// A picture of one sample has the same caps at every scale, but not the same sample.
CHECK_TEST(test_changes_of_one_sample) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_F32LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_COEF_SAMPLING_GRAYSCALE, 1, 1,
                               nullptr));
  g_autoptr(GstBuffer) in = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  GstMapInfo map;
  gst_buffer_map(in, &map, GST_MAP_WRITE);
  std::memset(map.data, 0, map.size);
  reinterpret_cast<gfloat*>(map.data)[1] = 240.0f;
  gst_buffer_unmap(in, &map);
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      (inverse("name=inv method=reference") + " ! capsfilter caps=video/x-raw").c_str());
  g_autoptr(GstElement) inv = gst_bin_get_by_name(GST_BIN(h->element), "inv");
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
  for (const int scale : {1, 8, 4, 2, 1, 2, 8}) {
    g_object_set(inv, "scale", scale, nullptr);
    g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
    const int points = 8 / scale;
    const double expected =
        points == 1 ? 128 : 128 + 240 / std::sqrt(32) * std::cos(G_PI / (2 * points));
    fail_unless_equals_int(bytes_of(out)[0], static_cast<int>(std::round(expected)));
  }
}

// Another thread changes the scale while frames pass; sizes and buffers always fit each other.
CHECK_TEST(test_running_pipeline) {
  const int frames = under_valgrind() ? 80 : 400;
  const std::string line = "videotestsrc num-buffers=" + std::to_string(frames) +
                           " ! video/x-raw,width=173,height=97 ! " + forward() + " ! queue ! " +
                           inverse("name=inv") +
                           " ! queue ! fakesink name=sink signal-handoffs=true";
  g_autoptr(GstElement) pipeline = launch(line);
  g_autoptr(GstElement) inv = gst_bin_get_by_name(GST_BIN(pipeline), "inv");
  SeenFrames seen;
  seen.watch(pipeline);
  play_with_changes(pipeline, [&](int i) { g_object_set(inv, "scale", kScales[i % 4], nullptr); });
  fail_unless_equals_int(seen.frames, frames);
  fail_unless_equals_int(seen.wrong, 0);
  fail_unless(seen.sizes > 1, "the scale never changed");
}

// ---- Methods, metas, measuring ----

CHECK_TEST(test_active_method) {
  const struct {
    const char* method;
    GstVideoFormat format;
    const char* active;
  } cases[] = {
      {"islow", GST_VIDEO_FORMAT_I420, "islow"},
      {"ifast", GST_VIDEO_FORMAT_I420, "islow"},
      {"float", GST_VIDEO_FORMAT_I420, "float"},
      {"reference", GST_VIDEO_FORMAT_I420, "reference"},
      {"naive", GST_VIDEO_FORMAT_I420, "float"},
      {"matrix", GST_VIDEO_FORMAT_I420, "float"},
      {"separable", GST_VIDEO_FORMAT_I420, "float"},
      {"decomposed", GST_VIDEO_FORMAT_I420, "float"},
      {"shuffle", GST_VIDEO_FORMAT_I420, "float"},
      {"islow", GST_VIDEO_FORMAT_I420_10LE, "float"},
      {"ifast", GST_VIDEO_FORMAT_I420_10LE, "float"},
  };
  for (const auto& c : cases) {
    Pair pair("", std::string("method=") + c.method, c.format, 40, 24);
    GstVideoInfo info = video_info(c.format, 10, 6);
    GstCaps* caps = gst_caps_from_string("video/x-raw");
    gst_harness_set_sink_caps(pair.h, caps);
    for (const int scale : {4, 1, 2}) {
      g_object_set(pair.inv, "scale", scale, nullptr);
      GstBuffer* in = make_frame(pair.info);
      gst_buffer_unref(pair.push(in));
      gst_buffer_unref(in);
      g_autoptr(GstStructure) stats = stats_of(pair.inv);
      const bool unchanged = scale == 1 && GST_VIDEO_INFO_COMP_DEPTH(&info, 0) == 8;
      fail_unless_equals_string(gst_structure_get_string(stats, "method"),
                                unchanged ? c.method : c.active);
    }
  }
}

// Places in the picture are scaled with it; times are not.
CHECK_TEST(test_metas) {
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  for (const int scale : kScales) {
    g_autoptr(GstHarness) h = harness_of(forward() + " ! " + inverse(property_of(scale)), raw);
    GstBuffer* in = make_frame(raw);
    gst_buffer_add_video_region_of_interest_meta(in, "face", 8, 16, 32, 24);
    gst_buffer_add_video_time_code_meta_full(in, 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1,
                                             2, 3, 4, 0);
    gst_harness_push(h, in);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
        gst_buffer_get_meta(out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
    fail_unless(roi != nullptr, "the region of interest is lost");
    fail_unless_equals_int(roi->x, 8 / scale);
    fail_unless_equals_int(roi->y, 16 / scale);
    fail_unless_equals_int(roi->w, 32 / scale);
    fail_unless_equals_int(roi->h, 24 / scale);
    fail_unless(gst_buffer_get_video_time_code_meta(out) != nullptr, "the time code is lost");
  }
}

// No picture of that size exists to compare with: one warning, PSNR -1, and the rest is measured.
CHECK_TEST(test_measuring) {
  Pair pair("keep-reference=true measure=zeros", "measure=psnr+time+zeros post-messages=true",
            GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_sink_caps(pair.h, gst_caps_from_string("video/x-raw"));
  double zeros[2] = {};
  for (const int scale : {2, 8, 1}) {
    g_object_set(pair.inv, "scale", scale, nullptr);
    for (guint i = 0; i < 3; i++) {
      g_autoptr(GstBuffer) in = make_frame(pair.info, 1);
      gst_buffer_unref(pair.push(in));
    }
    gst_harness_push_event(pair.h,
                           gst_event_new_stream_start("next"));  // waits for the measurements
    int i = 0;
    for (GstElement* element : {pair.fwd, pair.inv}) {
      g_autoptr(GstStructure) stats = stats_of(element);
      fail_unless(gst_structure_get_double(stats, "zeros", &zeros[i++]));
      gint64 time = 0;
      fail_unless(gst_structure_get_int64(stats, "kernel-time", &time));
      fail_unless(element == pair.fwd || time > 0, "no time at 1/%d", scale);
    }
    fail_unless(zeros[0] > 0 && zeros[0] == zeros[1], "zeros at 1/%d: %g, not %g", scale, zeros[1],
                zeros[0]);
    for (const char* field : kPsnrFields) {
      double psnr = 0;
      g_object_get(pair.inv, field, &psnr, nullptr);
      fail_unless(scale == 1 ? psnr > 20 : psnr == -1, "%s at 1/%d: %g", field, scale, psnr);
    }
  }
  const std::vector<Told> warnings = take_messages(pair.bus, GST_MESSAGE_WARNING);
  fail_unless_equals_uint64(warnings.size(), 1);
  expect(warnings[0].text, {"PSNR"});
}

}  // namespace
