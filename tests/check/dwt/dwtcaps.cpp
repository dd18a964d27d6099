// Caps of cudadwt and cudaidwt: coefficients for every raw format, properties in caps, and new caps
// while frames flow.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <string>

#include "tests/check/frames.h"
#include "tests/check/rawformats.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

std::string string_of(const GstCaps* caps, const char* field) {
  const gchar* string = gst_structure_get_string(gst_caps_get_structure(caps, 0), field);
  return string ? string : "";
}

CHECK_TEST(test_every_format) {
  for (const Raw& raw : kRaws) {
    g_autoptr(GstHarness) h = new_harness(forward_dwt("levels=3 wavelet=dd137 wavelet-ho=haar"));
    GstVideoInfo info = video_info(raw.format, 50, 30);
    info.par_n = 4;
    info.par_d = 3;
    gst_harness_set_src_caps(h, video_caps(info));
    fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_OK);
    g_autoptr(GstCaps) caps = current_caps(h);
    GstDwtInfo dwt;
    gchar* reason = nullptr;
    fail_unless(gst_dwt_info_from_caps(&dwt, caps, &reason), "%s", reason);
    fail_unless_equals_int(dwt.depth, raw.depth);
    fail_unless_equals_string(gst_coef_sampling_to_string(dwt.sampling), raw.sampling);
    fail_unless_equals_int(dwt.format,
                           raw.depth == 8 ? GST_COEF_FORMAT_S16LE : GST_COEF_FORMAT_S32LE);
    fail_unless(dwt.quantized && dwt.levels == 3 && dwt.levels_ho == 0);
    fail_unless_equals_int(dwt.wavelet, GST_DWT_WAVELET_DD137);
    fail_unless_equals_int(dwt.wavelet_ho, GST_DWT_WAVELET_HAAR);
    fail_unless(dwt.width == 50 && dwt.height == 30 && dwt.fps_n == 25);
    gint n = 0, d = 0;
    fail_unless(
        gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "pixel-aspect-ratio", &n, &d));
    fail_unless(n == 4 && d == 3);
  }
}

// The properties that no one has set.
CHECK_TEST(test_defaults) {
  g_autoptr(GstHarness) h = new_harness(forward_dwt());
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 16, 16);
  gst_harness_set_src_caps(h, video_caps(info));
  fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_OK);
  g_autoptr(GstCaps) caps = current_caps(h);
  fail_unless(string_of(caps, "wavelet") == "legall53");
  fail_unless(string_of(caps, "wavelet-ho") == "legall53");
  gint levels = -1, levels_ho = -1;
  gst_structure_get(gst_caps_get_structure(caps, 0), "levels", G_TYPE_INT, &levels, "levels-ho",
                    G_TYPE_INT, &levels_ho, nullptr);
  fail_unless(levels == 4 && levels_ho == 0);
}

CHECK_TEST(test_properties) {
  g_autoptr(GstElement) dwt = gst_parse_launch(
      "cudadwt wavelet=daub97 wavelet-ho=fidelity levels=5 levels-ho=2 quant-index=33 "
      "quant-matrix=vc2 keep-reference=true method=separable-slab",
      nullptr);
  gint wavelet = 0, wavelet_ho = 0, index = 0, method = -1;
  guint levels = 0, levels_ho = 0;
  gboolean keep = FALSE;
  gchar* matrix = nullptr;
  g_object_get(dwt, "wavelet", &wavelet, "wavelet-ho", &wavelet_ho, "levels", &levels, "levels-ho",
               &levels_ho, "quant-index", &index, "quant-matrix", &matrix, "keep-reference", &keep,
               "method", &method, nullptr);
  fail_unless(wavelet == GST_DWT_WAVELET_DAUB97 && wavelet_ho == GST_DWT_WAVELET_FIDELITY);
  fail_unless(levels == 5 && levels_ho == 2 && index == 33 && keep && method == 1);
  fail_unless_equals_string(matrix, "vc2");
  g_free(matrix);
  g_object_set(dwt, "quant-matrix", nullptr, nullptr);
  g_object_get(dwt, "quant-matrix", &matrix, nullptr);
  fail_unless_equals_string(matrix, "flat");
  g_free(matrix);
}

// The library parses all caps that the inverse lists.
CHECK_TEST(test_inverse_takes) {
  g_autoptr(GstHarness) h = new_harness(inverse_dwt());
  GstCaps* raw = gst_caps_from_string("video/x-raw,format={I420,I422_10LE},width=64,height=48");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(h->element, "sink");
  gst_harness_set_sink_caps(h, raw);
  g_autoptr(GstCaps) taken = gst_pad_query_caps(pad, nullptr);
  int structures = 0;
  for (guint i = 0; i < gst_caps_get_size(taken); i++) {
    g_autoptr(GstCaps) one = gst_caps_fixate(gst_caps_copy_nth(taken, i));
    gst_caps_set_features(one, 0, nullptr);
    GstStructure* s = gst_caps_get_structure(one, 0);
    // Lists cannot express which format belongs to which transform.
    GstDwtInfo info;
    gchar* reason = nullptr;
    if (!gst_dwt_info_from_caps(&info, one, &reason)) {
      gst_structure_set(s, "format", G_TYPE_STRING, "S32LE", nullptr);
      g_clear_pointer(&reason, g_free);
      fail_unless(gst_dwt_info_from_caps(&info, one, &reason), "%s", reason);
    }
    fail_unless(info.width == 64 && info.height == 48);
    fail_unless(info.depth == 8 || info.depth == 10);
    structures++;
  }
  fail_unless(structures >= 8, "%d", structures);
}

// A filter after cudadwt that requires another transform than the properties.
CHECK_TEST(test_other_transform_is_refused) {
  const std::string error = run_pipeline("videotestsrc num-buffers=2 ! " + forward_dwt() +
                                         " ! video/x-dwt(ANY),wavelet=haar ! fakesink");
  fail_if(error.empty());
  run_well("videotestsrc num-buffers=2 ! " + forward_dwt("wavelet=haar") +
           " ! video/x-dwt(ANY),wavelet=haar ! fakesink");
}

CHECK_TEST(test_no_alternate) {
  fail_unless(refuses_caps(
      forward_dwt(),
      gst_caps_from_string("video/x-raw(format:Interlaced),format=I420,width=32,height=32,"
                           "framerate=25/1,interlace-mode=alternate")));
}

// ---- While frames flow ----

void push_and_compare(GstHarness* h, const GstVideoInfo& info, guint seed, const char* what) {
  g_autoptr(GstBuffer) in = make_frame(info, seed);
  g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
  fail_unless(largest_difference(info, in, out) == 0, "%s", what);
}

CHECK_TEST(test_source_changes) {
  g_autoptr(GstHarness) h = new_harness(forward_dwt() + " ! " + inverse_dwt());
  for (const Step& step : kSteps) {
    const GstVideoInfo info = video_info(step.format, step.width, step.height);
    gst_harness_set_sink_caps(h, video_caps(info));
    gst_harness_set_src_caps(h, video_caps(info));
    for (guint i = 0; i < 3; i++)
      push_and_compare(h, info, i, gst_video_format_to_string(step.format));
  }
}

// The next frame after a change shows it, in its caps and in its coefficients.
CHECK_TEST(test_properties_change) {
  g_autoptr(GstHarness) h =
      new_harness(forward_dwt("name=f") + " ! identity name=between ! " + inverse_dwt());
  g_autoptr(GstElement) dwt = gst_bin_get_by_name(GST_BIN(h->element), "f");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(dwt, "src");
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 75, 50);
  gst_harness_set_src_caps(h, video_caps(info));
  const struct {
    const char* property;
    const char* value;
  } changes[] = {{"wavelet", "daub97"},  {"levels", "6"},    {"levels-ho", "4"},
                 {"wavelet-ho", "haar"}, {"levels", "1"},    {"wavelet", "haar-shift"},
                 {"wavelet-ho", "same"}, {"levels-ho", "0"}, {"wavelet", "j2k53"},
                 {"levels", "5"}};
  guint seed = 0;
  for (const auto& change : changes) {
    gst_util_set_object_arg(G_OBJECT(dwt), change.property, change.value);
    for (int i = 0; i < 2; i++) push_and_compare(h, info, seed++, change.property);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
    const GValue* field = gst_structure_get_value(gst_caps_get_structure(caps, 0), change.property);
    g_autofree gchar* now = gst_value_serialize(field);
    if (!g_str_equal(change.value, "same")) fail_unless_equals_string(now, change.value);
  }
}

// A capsfilter that requests other coefficients.
CHECK_TEST(test_peer_changes) {
  g_autoptr(GstHarness) h =
      new_harness(forward_dwt() + " ! capsfilter name=ask ! " + inverse_dwt());
  g_autoptr(GstElement) ask = gst_bin_get_by_name(GST_BIN(h->element), "ask");
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_Y42B, 50, 38);
  gst_harness_set_src_caps(h, video_caps(info));
  guint seed = 0;
  for (const char* asked : {"video/x-dwt,quantized=false", "video/x-dwt,quantized=true",
                            "video/x-dwt", "video/x-dwt,quantized=false"}) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(asked);
    g_object_set(ask, "caps", caps, nullptr);
    for (int i = 0; i < 2; i++) push_and_compare(h, info, seed++, asked);
    g_autoptr(GstPad) pad = gst_element_get_static_pad(ask, "src");
    g_autoptr(GstCaps) now = gst_pad_get_current_caps(pad);
    gboolean quantized = FALSE;
    gst_structure_get_boolean(gst_caps_get_structure(now, 0), "quantized", &quantized);
    fail_unless_equals_int(quantized, std::strstr(asked, "false") == nullptr);
  }
}

}  // namespace
