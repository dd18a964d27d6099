// cudadctflip: the output's frames, caps and tables; changes while playing, refusals.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tests/conformance compares its coefficients with libjpeg-turbo's.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/video/video.h>

#include <utility>

#include "tests/check/coeffilter/qcoefs.h"

namespace {

using namespace testing;

// ---- Frames ----

GstBuffer* turned(const GstVideoInfo& from_info, GstBuffer* in, const Direction& direction,
                  GstVideoInfo* info) {
  *info = direction.transposes
              ? video_info(GST_VIDEO_INFO_FORMAT(&from_info), from_info.height, from_info.width)
              : from_info;
  GstBuffer* out = gst_buffer_new_allocate(nullptr, info->size, nullptr);
  GstVideoFrame from, to;
  fail_unless(gst_video_frame_map(&from, &from_info, in, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&to, info, out, GST_MAP_WRITE));
  const auto sample = [](GstVideoFrame& frame, int c, int x, int y) -> guint8& {
    auto* data = static_cast<guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c));
    return data[y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) +
                x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)];
  };
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(info)); c++) {
    const int w = GST_VIDEO_FRAME_COMP_WIDTH(&to, c), h = GST_VIDEO_FRAME_COMP_HEIGHT(&to, c);
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        int from_x = direction.mirrors_x ? w - 1 - x : x;
        int from_y = direction.mirrors_y ? h - 1 - y : y;
        if (direction.transposes) std::swap(from_x, from_y);
        sample(to, c, x, y) = sample(from, c, from_x, from_y);
      }
  }
  gst_video_frame_unmap(&to);
  gst_video_frame_unmap(&from);
  return out;
}

// Of whole MCUs, and in double precision: every sample is at its new place.
CHECK_LOOP_TEST(test_frames, 0, kDirectionCount) {
  if (is_deferred()) return;  // whose kernels write stand-in bytes
  const Direction& direction = kDirections[__i__];
  constexpr const char* kCoefs[] = {"quantized=false,format=F32LE,layout=block,order=raster",
                                    "quantized=false,format=F32LE,layout=block,order=zigzag",
                                    "quantized=false,format=F32LE,layout=plane"};
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y444})
    for (const char* coefs : kCoefs) {
      const GstVideoInfo info = video_info(format, 96, 48);
      g_autoptr(GstHarness) h = harness_of(
          forward("method=reference") + " ! video/x-dct," + coefs + " ! " +
              coef_filter("cudadctflip", std::string("video-direction=") + direction.nick) + " ! " +
              inverse("method=reference") +
              " ! capsfilter caps=video/x-raw,format=" + gst_video_format_to_string(format),
          info);
      g_autoptr(GstBuffer) in = make_frame(info);
      g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
      GstVideoInfo expected_info;
      g_autoptr(GstBuffer) expected = turned(info, in, direction, &expected_info);
      fail_unless_equals_int(largest_difference(expected_info, out, expected), 0);
    }
}

// ---- Caps and tables ----

CHECK_LOOP_TEST(test_caps_follow, 0, kDirectionCount) {
  const Direction& direction = kDirections[__i__];
  const std::pair<GstCoefSampling, GstCoefSampling> samplings[] = {
      {GST_COEF_SAMPLING_GRAYSCALE, GST_COEF_SAMPLING_GRAYSCALE},
      {GST_COEF_SAMPLING_420, GST_COEF_SAMPLING_420},
      {GST_COEF_SAMPLING_422, GST_COEF_SAMPLING_440},
      {GST_COEF_SAMPLING_440, GST_COEF_SAMPLING_422},
      {GST_COEF_SAMPLING_411, GST_COEF_SAMPLING_441},
      {GST_COEF_SAMPLING_441, GST_COEF_SAMPLING_411},
      {GST_COEF_SAMPLING_RGB, GST_COEF_SAMPLING_RGB},
      {GST_COEF_SAMPLING_CMYK, GST_COEF_SAMPLING_CMYK},
      {GST_COEF_SAMPLING_YCCK_422, GST_COEF_SAMPLING_YCCK_440},
      {GST_COEF_SAMPLING_YCCK_411, GST_COEF_SAMPLING_YCCK_441},
      {gst_coef_sampling_from_string("YCbCr-1x1,2x2,2x1"),
       gst_coef_sampling_from_string("YCbCr-1x1,2x2,1x2")},
      {gst_coef_sampling_from_string("RGB-3x2,2x1,1x3"),
       gst_coef_sampling_from_string("RGB-2x3,1x2,3x1")},
      {gst_coef_sampling_from_string("CMYK-4x4,1x1,2x1,1x3"),
       gst_coef_sampling_from_string("CMYK-4x4,1x1,1x2,3x1")},
      {gst_coef_sampling_from_string("2CLR-2x1,1x1"),
       gst_coef_sampling_from_string("2CLR-1x2,1x1")},
  };
  for (const auto& [sampling, on_its_side] : samplings) {
    const GstDctInfo info = qcoefs_info(sampling, 75, 44);
    g_autoptr(GstHarness) h =
        new_harness(coef_filter("cudadctflip", std::string("video-direction=") + direction.nick) +
                    " ! capsfilter caps=video/x-dct");
    gst_harness_set_src_caps(h, qcoefs_caps(info));
    g_autoptr(GstBuffer) out = passed(h, make_qcoefs(info));
    const GstDctInfo made = current_info(h);
    fail_unless_equals_int(made.sampling, direction.transposes ? on_its_side : sampling);
    fail_unless_equals_int(made.width, direction.transposes ? 44 : 75);
    fail_unless_equals_int(made.height, direction.transposes ? 75 : 44);
    g_autoptr(GstCaps) caps = current_caps(h);
    gint n = 0, d = 0;
    gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "pixel-aspect-ratio", &n, &d);
    fail_unless_equals_int(n, direction.transposes ? 3 : 4);
    const GstDctMeta* meta = gst_buffer_get_dct_meta(out);
    g_autofree gchar* reason = nullptr;
    fail_unless(gst_dct_meta_validate(meta, &made, gst_buffer_get_size(out), &reason), "%s",
                reason);
    for (guint c = 0; c < made.n_components; c++)
      for (guint i = 0; i < 64; i++)
        fail_unless_equals_int(meta->tables[meta->components[c].table].values[i],
                               table_entry(c, direction.transposes ? i % 8 * 8 + i / 8 : i));
  }
}

// Tables in caps, for buffers without meta, follow as well.
CHECK_TEST(test_tables_of_caps_follow) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_GRAYSCALE, 16, 8);
  g_autoptr(GstHarness) h = new_harness(coef_filter("cudadctflip", "video-direction=90r") +
                                        " ! capsfilter caps=video/x-dct");
  g_autoptr(GstBuffer) qcoefs = make_qcoefs(info);
  GstCaps* caps = qcoefs_caps(info);
  const guint of_component = 0;
  fail_unless(gst_dct_caps_set_tables(caps, gst_buffer_get_dct_meta(qcoefs)->tables[0].values, 64,
                                      &of_component, 1, nullptr));
  gst_harness_set_src_caps(h, caps);
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(qcoefs)), GST_FLOW_OK);
  g_autoptr(GstCaps) made = current_caps(h);
  g_autofree guint16* values = nullptr;
  g_autofree guint* components = nullptr;
  gsize n_values = 0;
  guint n_components = 0;
  fail_unless(
      gst_dct_caps_get_tables(made, &values, &n_values, &components, &n_components, nullptr));
  fail_unless_equals_int(values[1], table_entry(0, 8));
}

struct Crop {
  const char* properties;
  int width, height;  // of a picture of 75x44, 4:2:0
};

CHECK_TEST(test_crops) {
  const Crop crops[] = {
      {"", 75, 44},
      {"crop-width=40", 40, 44},
      {"crop-left=16 crop-width=20", 20, 44},
      {"crop-left=20 crop-width=20 crop-top=33 crop-height=1", 24, 2},
      {"crop-left=74 crop-top=43", 11, 12},
      {"trim=true", 75, 44},
      {"video-direction=horiz trim=true", 64, 44},
      {"video-direction=180 trim=true", 64, 32},
      {"video-direction=90r trim=true", 32, 75},
      {"video-direction=90l trim=true", 44, 64},
      {"video-direction=ur-ll trim=true", 32, 64},
      {"video-direction=ul-lr trim=true", 44, 75},
      {"video-direction=90r crop-left=16 crop-width=10 crop-height=70", 10, 70},
      {"video-direction=horiz trim=true crop-width=70", 64, 44},
      {"video-direction=horiz trim=true crop-width=20", 20, 44},
  };
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 75, 44);
  for (const Crop& crop : crops) {
    g_autoptr(GstHarness) h =
        new_harness(coef_filter("cudadctflip", crop.properties) + " ! capsfilter caps=video/x-dct");
    gst_harness_set_src_caps(h, qcoefs_caps(info));
    gst_buffer_unref(passed(h, make_qcoefs(info)));
    const GstDctInfo made = current_info(h);
    fail_unless(made.width == crop.width && made.height == crop.height, "%s: %dx%d",
                crop.properties, made.width, made.height);
  }
}

// ---- While playing ----

CHECK_TEST(test_changes) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_422, 64, 48);
  g_autoptr(GstHarness) h =
      new_harness(coef_filter("cudadctflip", "name=flip") + " ! capsfilter caps=video/x-dct");
  g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(h->element), "flip");
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  g_autoptr(GstBuffer) in = make_qcoefs(info);
  const std::vector<guint8> in_bytes = bytes_of(in);
  // The last two have the same caps.
  for (const char* nick : {"identity", "90r", "ul-lr", "180", "horiz"}) {
    gst_util_set_object_arg(G_OBJECT(flip), "video-direction", nick);
    for (const int left : {0, 16}) {
      g_object_set(flip, "crop-left", left, nullptr);
      g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
      const GstDctInfo made = current_info(h);
      const bool on_its_side = g_str_equal(nick, "90r") || g_str_equal(nick, "ul-lr");
      fail_unless_equals_int(made.width, (on_its_side ? 48 : 64) - left);
      fail_unless_equals_int(made.height, on_its_side ? 64 : 48);
      if (is_deferred()) continue;
      // DC of luma's first block, from any place.
      const int block = left / 8;
      guint x = on_its_side ? 0 : block, y = on_its_side ? block : 0;
      if (g_str_equal(nick, "90r")) y = 5 - block;
      if (g_str_equal(nick, "180") || g_str_equal(nick, "horiz")) x = 7 - block;
      if (g_str_equal(nick, "180")) y = 5;
      fail_unless_equals_int(qcoef_at(made, out, bytes_of(out), 0, 0, 0, 0),
                             qcoef_at(info, in, in_bytes, 0, x, y, 0));
    }
  }
}

// A controlled property has its value of a frame's time with that very frame.
CHECK_TEST(test_controlled) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_GRAYSCALE, 80, 16);
  g_autoptr(GstHarness) h =
      new_harness(coef_filter("cudadctflip", "name=flip") + " ! capsfilter caps=video/x-dct");
  g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(h->element), "flip");
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  for (const int i : {0, 1, 2, 3})
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), i * GST_SECOND,
                                       16 * i);
  gst_object_add_control_binding(GST_OBJECT(flip), gst_direct_control_binding_new_absolute(
                                                       GST_OBJECT(flip), "crop-left", source));
  gst_object_unref(source);
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  for (const int i : {0, 2, 1, 3, 0}) {
    GstBuffer* in = make_qcoefs(info);
    GST_BUFFER_PTS(in) = i * GST_SECOND;
    gst_buffer_unref(passed(h, in));
    fail_unless_equals_int(current_info(h).width, 80 - 16 * i);
  }
}

// A setting may change while caps are negotiated: here, as soon as the next element is queried.
struct ChangeAmid {
  GstElement* flip;
  const char* nick;

  static GstPadProbeReturn on_query(GstPad*, GstPadProbeInfo*, gpointer data) {
    const auto* self = static_cast<const ChangeAmid*>(data);
    gst_util_set_object_arg(G_OBJECT(self->flip), "video-direction", self->nick);
    return GST_PAD_PROBE_OK;
  }
};

CHECK_LOOP_TEST(test_changes_amid_negotiation, 0, 2) {
  const char* const nicks[] = {"identity", "90r"};
  const int widths[] = {64, 32};
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 32);
  g_autoptr(GstHarness) h = new_harness(
      coef_filter("cudadctflip", std::string("name=flip video-direction=") + nicks[__i__]) +
      " ! capsfilter caps=video/x-dct");
  g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(h->element), "flip");
  g_autoptr(GstPad) src = gst_element_get_static_pad(flip, "src");
  g_autoptr(GstPad) peer = gst_pad_get_peer(src);
  ChangeAmid change = {flip, nicks[1 - __i__]};
  const gulong probe = gst_pad_add_probe(peer, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
                                         ChangeAmid::on_query, &change, nullptr);
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  gst_pad_remove_probe(peer, probe);
  fail_unless_equals_int(current_info(h).width, widths[__i__]);
  // The next frame takes the new setting.
  gst_buffer_unref(passed(h, make_qcoefs(info)));
  fail_unless_equals_int(current_info(h).width, widths[1 - __i__]);
}

// Another thread changes everything while frames pass; sizes and buffers always fit each other.
CHECK_TEST(test_running_pipeline) {
  const int frames = under_valgrind() ? 80 : 400;
  g_autoptr(GstElement) pipeline =
      launch("videotestsrc num-buffers=" + std::to_string(frames) +
             " ! video/x-raw,width=173,height=97 ! " + forward() + " ! queue ! " +
             coef_filter("cudadctflip", "name=flip crop-width=40") +
             " ! queue ! video/x-dct ! fakesink name=sink signal-handoffs=true");
  g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(pipeline), "flip");
  SeenFrames seen;
  seen.watch(pipeline);
  play_with_changes(pipeline, [&](int i) {
    gst_util_set_object_arg(G_OBJECT(flip), "video-direction", kDirections[i % 8].nick);
    g_object_set(flip, "crop-left", i % 5 * 8, "crop-width", 30 + i % 7, "trim", i % 3 == 0,
                 nullptr);
  });
  fail_unless_equals_int(seen.frames, frames);
  fail_unless_equals_int(seen.wrong, 0);
  fail_unless(seen.sizes > 1, "the size never changed");
}

CHECK_TEST(test_identity_passes_buffers_on) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 50, 40);
  g_autoptr(GstHarness) h = new_harness(coef_filter("cudadctflip"));
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  GstBuffer* in = make_qcoefs(info);
  g_autoptr(GstBuffer) out = passed(h, in);
  fail_unless(out == in);
}

// ---- Refusals ----

// A refused change does not affect the stream: the next setting that fits is used.
CHECK_TEST(test_going_on_after_a_refusal) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 75, 44);
  g_autoptr(GstHarness) h =
      new_harness(coef_filter("cudadctflip", "name=flip") + " ! capsfilter caps=video/x-dct");
  g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(h->element), "flip");
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  for (const char* nick : {"horiz", "90l", "horiz"}) {
    gst_util_set_object_arg(G_OBJECT(flip), "video-direction", nick);
    for (const int left : {0, 80, 0, 90, 0}) {
      g_object_set(flip, "crop-left", left, nullptr);
      const GstFlowReturn flow = gst_harness_push(h, make_qcoefs(info));
      fail_unless_equals_int(flow == GST_FLOW_OK, left == 0);
      if (left == 0) {
        gst_buffer_unref(gst_harness_pull(h));
        fail_unless_equals_int(current_info(h).width, g_str_equal(nick, "90l") ? 44 : 75);
      } else {
        push_flush(h);
      }
    }
  }
}

CHECK_TEST(test_refusals) {
  const struct {
    const char* properties;
    std::initializer_list<const char*> named;
  } cases[] = {
      {"crop-left=75", {"crop-left 75", "width of 75"}},
      {"crop-top=44", {"crop-top 44", "height of 44"}},
      {"crop-left=70 crop-width=6", {"crop-width 6", "width of 75"}},
      {"video-direction=90r crop-left=44", {"crop-left 44", "width of 44"}},
      {"crop-height=45", {"crop-height 45"}},
      {"perfect=true video-direction=horiz", {"perfect", "width of 75", "16"}},
      {"perfect=true video-direction=90r", {"perfect", "width of 44", "16"}},
      {"perfect=true video-direction=vert", {"perfect", "height of 44", "16"}},
  };
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 75, 44);
  for (const auto& c : cases)
    expect(push_one(coef_filter("cudadctflip", c.properties), qcoefs_caps(info), make_qcoefs(info)),
           c.named);
  for (const char* fine : {"perfect=true", "perfect=true video-direction=ul-lr"}) {
    const std::string refusal =
        push_one(coef_filter("cudadctflip", fine), qcoefs_caps(info), make_qcoefs(info));
    fail_unless(refusal.empty(), "%s", refusal.c_str());
  }
  // Without tables quantized coefficients have no scale.
  GstBuffer* bare = make_qcoefs(info);
  gst_buffer_get_dct_meta(bare)->n_tables = 0;
  expect(push_one(coef_filter("cudadctflip", "video-direction=90r"), qcoefs_caps(info), bare),
         {"table"});
}

}  // namespace
