// Bad input: buffers and metas with wrong contents. Each must end in an error that says what was
// wrong and what was expected, and leave the rest of the pipeline alone.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

// ---- Raw frames ----

GstVideoInfo raw_info() { return video_info(GST_VIDEO_FORMAT_I420, 32, 24); }

CHECK_TEST(test_short_frames) {
  const GstVideoInfo info = raw_info();  // 1152 bytes
  for (gsize size : {gsize{0}, gsize{1}, info.size / 2, info.size - 1}) {
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, size, nullptr);
    expect(push_one(forward(), video_caps(info), buffer), {std::to_string(size).c_str(), "1152"});
  }
  GstBuffer* long_enough = gst_buffer_new_allocate(nullptr, info.size + 100, nullptr);
  gst_buffer_memset(long_enough, 0, 7, info.size + 100);
  const std::string text = push_one(forward(), video_caps(info), long_enough);
  fail_unless(text.empty(), "%s", text.c_str());
}

// The text is a summary; the debug text has the reason, and names where the element failed.
CHECK_TEST(test_parts_of_an_error) {
  const GstVideoInfo info = raw_info();
  g_autoptr(GstHarness) h = gst_harness_new_parse(forward().c_str());
  const Messages bus(h->element);
  gst_harness_set_src_caps(h, video_caps(info));
  fail_unless_equals_int(
      gst_harness_push(h, gst_buffer_new_allocate(nullptr, info.size - 1, nullptr)),
      GST_FLOW_ERROR);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = nullptr;
  g_autofree gchar* debug = nullptr;
  const GstStructure* details = nullptr;
  gst_message_parse_error(message, &error, &debug);
  gst_message_parse_error_details(message, &details);
  fail_unless_equals_string(error->message, "Invalid input");
  const char* reason = gst_structure_get_string(details, "reason");
  expect(reason, {"1151", "1152"});
  expect(debug, {reason, "transform_base.cpp("});
}

// As a C program may do it: also to a value that C++ could not read as this enum.
void set_raw_format(GstVideoMeta* meta, guint32 format) {
  static_assert(sizeof format == sizeof meta->format);
  std::memcpy(&meta->format, &format, sizeof format);
}

struct MetaLie {
  void (*apply)(GstVideoMeta* meta);
  const char* named;
};

const MetaLie kMetaLies[] = {
    {[](GstVideoMeta* m) { m->stride[0] = 31; }, "stride 31"},
    {[](GstVideoMeta* m) { m->stride[0] = 0; }, "stride 0"},
    {[](GstVideoMeta* m) { m->stride[1] = -16; }, "-16"},
    {[](GstVideoMeta* m) { m->stride[0] = 64; }, "stride 64"},
    {[](GstVideoMeta* m) { m->stride[2] = G_MAXINT; }, "1152"},
    {[](GstVideoMeta* m) { m->offset[1] = 1100; }, "1152"},
    {[](GstVideoMeta* m) { m->offset[2] = 5000; }, "1152"},
    {[](GstVideoMeta* m) { m->offset[0] = G_MAXSIZE; }, "1152"},
    {[](GstVideoMeta* m) { m->width = 16; }, "16x24"},
    {[](GstVideoMeta* m) { m->height = 8; }, "32x8"},
    {[](GstVideoMeta* m) { m->format = GST_VIDEO_FORMAT_Y42B; }, ""},
    {[](GstVideoMeta* m) { m->format = GST_VIDEO_FORMAT_GRAY8; }, ""},
    {[](GstVideoMeta* m) { m->n_planes = 1; }, ""},
    {[](GstVideoMeta* m) { set_raw_format(m, GST_VIDEO_FORMAT_UNKNOWN); }, "format 0"},
    {[](GstVideoMeta* m) { set_raw_format(m, 0x7fffffff); }, "format 2147483647"},
};

CHECK_LOOP_TEST(test_lying_video_meta, 0, G_N_ELEMENTS(kMetaLies)) {
  const MetaLie& lie = kMetaLies[__i__];
  const GstVideoInfo info = raw_info();
  GstBuffer* buffer = make_frame(info);
  GstVideoMeta* meta =
      gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 32, 24);
  lie.apply(meta);
  const std::string text = push_one(forward(), video_caps(info), buffer);
  expect(text, {lie.named});
  take_criticals();  // GStreamer may complain about such a meta itself
}

const MetaLie kRgbMetaLies[] = {
    {[](GstVideoMeta* m) { m->stride[0] = 31; }, "stride 31"},
    {[](GstVideoMeta* m) { m->stride[0] = 0; }, "stride 0"},
    {[](GstVideoMeta* m) { m->stride[0] = -96; }, "-96"},
    {[](GstVideoMeta* m) { m->stride[0] = G_MAXINT; }, "2304"},
    {[](GstVideoMeta* m) { m->offset[0] = 1600; }, "2304"},
    {[](GstVideoMeta* m) { m->offset[0] = G_MAXSIZE; }, "2304"},
    {[](GstVideoMeta* m) { m->width = 16; }, "16x24"},
    {[](GstVideoMeta* m) { m->format = GST_VIDEO_FORMAT_BGRA; }, ""},
};

// Of packed and of planar RGB.
CHECK_LOOP_TEST(test_lying_meta_of_rgb, 0, G_N_ELEMENTS(kRgbMetaLies)) {
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGRP}) {
    const GstVideoInfo info = video_info(format, 32, 24);  // 2304 bytes
    GstBuffer* buffer = make_frame(info);
    kRgbMetaLies[__i__].apply(
        gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, 32, 24));
    expect(push_one(forward(), video_caps(info), buffer), {kRgbMetaLies[__i__].named});
    take_criticals();  // GStreamer may complain about such a meta itself
  }
}

// Samples of 16 bits at odd addresses: no error, and the hardware can read them.
CHECK_TEST(test_odd_addresses) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420_10LE, 17, 9);
  GstVideoInfo odd = info;
  gsize offset = 1;
  for (int p = 0; p < 3; p++) {
    odd.offset[p] = offset;
    odd.stride[p] = info.stride[p] + 1;
    offset += static_cast<gsize>(odd.stride[p]) * 10;
  }
  odd.size = offset;
  GstBuffer* buffer = make_frame(odd);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420_10LE, 17,
                                 9, 3, odd.offset, odd.stride);
  // An error or a right result will do; this test only detects crashes.
  push_one(forward("method=reference"), video_caps(info), buffer);
}

// ---- Coefficients ----

GstDctInfo dct_info(gboolean quantized = TRUE) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, quantized ? GST_COEF_FORMAT_S16LE : GST_COEF_FORMAT_F32LE,
                               GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER, quantized, 8,
                               GST_COEF_SAMPLING_420, 17, 33, nullptr));
  return info;  // 3456 or 6912 bytes
}

GstBuffer* coefficients(const GstDctInfo& info, gsize size, GstDctMeta** meta) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, size, nullptr);
  gst_buffer_memset(buffer, 0, 0, size);
  *meta = gst_buffer_add_dct_meta(buffer, &info);
  guint16 ones[64];
  for (guint16& value : ones) value = 1;
  if (info.quantized) gst_dct_meta_set_table(*meta, 0, ones);
  if (info.quantized) gst_dct_meta_set_table(*meta, 1, ones);
  return buffer;
}

CHECK_TEST(test_short_coefficients) {
  for (gboolean quantized : {1, 0}) {
    const GstDctInfo info = dct_info(quantized);
    GstDctMeta* meta;
    for (gsize size : {gsize{0}, gsize{64}, info.size - 1}) {
      expect(push_one(inverse(), gst_dct_info_to_caps(&info), coefficients(info, size, &meta)),
             {std::to_string(size).c_str(), "component"});
    }
    const std::string text =
        push_one(inverse(), gst_dct_info_to_caps(&info), coefficients(info, info.size, &meta));
    fail_unless(text.empty(), "%s", text.c_str());
  }
}

CHECK_TEST(test_missing_meta) {
  GstDctInfo info = dct_info(TRUE);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  expect(push_one(inverse(), gst_dct_info_to_caps(&info), buffer), {"GstDctMeta", "tables"});
  // Not quantized, the default layout needs no meta; but it needs all the bytes.
  info = dct_info(FALSE);
  buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 0, info.size);
  const std::string text = push_one(inverse(), gst_dct_info_to_caps(&info), buffer);
  fail_unless(text.empty(), "%s", text.c_str());
  buffer = gst_buffer_new_allocate(nullptr, info.size - 4, nullptr);
  expect(push_one(inverse(), gst_dct_info_to_caps(&info), buffer), {"6908", "6912"});
}

struct DctLie {
  void (*apply)(GstDctMeta* meta);
  const char* named;
};

// Some of those of dctmeta.cpp.
const DctLie kDctLies[] = {
    {[](GstDctMeta* m) { m->n_components = 4; }, "4 components in the meta, expected 3"},
    {[](GstDctMeta* m) { m->components[0].width = 99; }, "99 x 33"},
    {[](GstDctMeta* m) { m->components[2].offset = G_MAXSIZE - 1; }, "address space"},
    {[](GstDctMeta* m) { m->components[0].stride = 2; }, "stride"},
    {[](GstDctMeta* m) { m->n_tables = 200; }, "tables"},
    {[](GstDctMeta* m) { m->tables[0] = {}; }, "quantization table 0 are 0"},
};

CHECK_LOOP_TEST(test_lying_dct_meta, 0, G_N_ELEMENTS(kDctLies)) {
  const GstDctInfo info = dct_info();
  GstDctMeta* meta;
  GstBuffer* buffer = coefficients(info, info.size, &meta);
  kDctLies[__i__].apply(meta);
  expect(push_one(inverse(), gst_dct_info_to_caps(&info), buffer), {kDctLies[__i__].named});
}

// Caps with tables for CMYK, and a buffer without tables.
CHECK_TEST(test_tables_of_a_fourth_component) {
  const GstDctInfo info = dct_info();
  const std::vector<guint16> values(64, 1);
  const guint of[] = {0, 0, 0, 0};
  GstCaps* caps = gst_dct_info_to_caps(&info);
  fail_unless(gst_dct_caps_set_tables(caps, values.data(), values.size(), of, 4, nullptr));
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 0, info.size);
  expect(push_one(inverse(), caps, buffer), {"tables of 4 components, expected 3"});
}

// The inverse takes no caps with a fourth component, the forward no frames with one, unless that is
// the opacity of RGB, which it does not read.
CHECK_TEST(test_caps_of_a_fourth_component) {
  for (const GstCoefSampling sampling : {GST_COEF_SAMPLING_CMYK, GST_COEF_SAMPLING_YCCK_420}) {
    GstDctInfo info;
    fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                                 GST_DCT_ORDER_RASTER, TRUE, 8, sampling, 64, 48, nullptr));
    fail_unless(refuses_caps(inverse(), gst_dct_info_to_caps(&info)));
  }
  for (const char* format : {"AYUV", "A420", "GBRA"}) {
    GstCaps* raw = video_caps(raw_info());
    gst_caps_set_simple(raw, "format", G_TYPE_STRING, format, nullptr);
    fail_unless(refuses_caps(forward(), raw), "%s", format);
  }
}

// Coefficients of one size under caps of another.
CHECK_TEST(test_meta_of_another_size) {
  const GstDctInfo info = dct_info();
  GstDctInfo larger;
  fail_unless(gst_dct_info_set(&larger, info.format, info.layout, info.order, TRUE, 8,
                               info.sampling, 170, 330, nullptr));
  GstDctMeta* meta;
  expect(push_one(inverse(), gst_dct_info_to_caps(&larger), coefficients(info, info.size, &meta)),
         {"17 x 33", "170 x 330"});
}

// Quantized coefficients that no encoder makes: they saturate with any method.
CHECK_TEST(test_wild_qcoefs) {
  const GstDctInfo info = dct_info();
  for (const char* method : {"islow", "ifast", "float", "reference", "naive", "matrix", "separable",
                             "decomposed", "shuffle"}) {
    for (int pattern = 0; pattern < kWildPatterns; pattern++) {
      GstDctMeta* meta;
      GstBuffer* buffer = coefficients(info, info.size, &meta);
      fill_wildly(buffer, pattern);
      for (guint16& q : meta->tables[0].values) q = 65535;
      for (guint16& q : meta->tables[1].values) q = 255;
      const std::string text =
          push_one(inverse(std::string("method=") + method), gst_dct_info_to_caps(&info), buffer);
      fail_unless(text.empty(), "%s: %s", method, text.c_str());
    }
  }
}

// NaN and infinities.
CHECK_TEST(test_nan_coefficients) {
  const GstDctInfo info = dct_info(FALSE);
  for (const char* method : {"islow", "ifast", "float", "reference", "matrix", "shuffle"}) {
    GstDctMeta* meta;
    GstBuffer* buffer = coefficients(info, info.size, &meta);
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    const guint32 patterns[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff};
    for (gsize i = 0; i < map.size / 4; i++)
      GST_WRITE_UINT32_LE(map.data + 4 * i, patterns[i % G_N_ELEMENTS(patterns)]);
    gst_buffer_unmap(buffer, &map);
    const std::string text =
        push_one(inverse(std::string("method=") + method), gst_dct_info_to_caps(&info), buffer);
    fail_unless(text.empty(), "%s: %s", method, text.c_str());
  }
}

// ---- The rest of the pipeline ----

struct Branches {
  int good_frames = 0;
  bool good_eos = false;
};

GstPadProbeReturn watch_good(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto* branches = static_cast<Branches*>(data);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) branches->good_frames++;
  if ((info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) &&
      GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    branches->good_eos = true;
  return GST_PAD_PROBE_OK;
}

// Claims that the data is twice as wide.
GstPadProbeReturn relabel(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  int width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
  caps = gst_caps_copy(caps);
  gst_caps_set_simple(caps, "width", G_TYPE_INT, 2 * width, nullptr);
  gst_event_replace(reinterpret_cast<GstEvent**>(&info->data), gst_event_new_caps(caps));
  gst_event_unref(GST_PAD_PROBE_INFO_EVENT(info));  // the pad has the reference now
  gst_caps_unref(caps);
  return GST_PAD_PROBE_OK;
}

// Runs a pipeline with a sink "good"; returns the error that the bad part posted.
std::string run_branches(const std::string& line, Branches* branches) {
  g_autoptr(GstElement) pipeline = launch(line);
  g_autoptr(GstElement) good = gst_bin_get_by_name(GST_BIN(pipeline), "good");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(good, "sink");
  gst_pad_add_probe(
      pad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
      watch_good, branches, nullptr);
  if (GstElement* identity = gst_bin_get_by_name(GST_BIN(pipeline), "relabel")) {
    g_autoptr(GstPad) sink = gst_element_get_static_pad(identity, "sink");
    gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, relabel, nullptr, nullptr);
    gst_object_unref(identity);
  }
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* message = gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless(message != nullptr, "no error was posted");
  const std::string text = report_of(message).text;
  gst_message_unref(message);
  for (int i = 0; i < 2000 && !branches->good_eos; i++) g_usleep(5000);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return text;
}

// A source next to the broken one continues to its own end.
CHECK_TEST(test_other_source_goes_on) {
  Branches branches;
  const std::string text =
      run_branches("videotestsrc num-buffers=50 ! video/x-raw,width=32,height=24 ! " + forward() +
                       " ! " + inverse() + " ! fakesink name=good sync=false async=false " +
                       // fakesrc's buffers are shorter than the caps promise.
                       "fakesrc num-buffers=5 sizetype=fixed sizemax=100 filltype=zero ! "
                       "video/x-raw,format=I420,width=32,height=24,framerate=25/1 ! " +
                       forward() + " ! fakesink async=false",
                   &branches);
  expect(text, {"100", "1152"});
  fail_unless(branches.good_eos, "the good branch never saw EOS");
  fail_unless_equals_int(branches.good_frames, 50);
}

// The other branch of a tee gets EOS rather than hanging.
CHECK_TEST(test_other_branch_of_tee) {
  Branches branches;
  const std::string text = run_branches(
      "videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=32,height=24 ! " + forward() +
          " ! tee name=t t. ! queue ! " + inverse() + " ! fakesink name=good async=false " +
          // Re-labeled as coefficients of a larger picture.
          "t. ! queue ! identity name=relabel ! " + inverse() + " ! fakesink async=false",
      &branches);
  expect(text, {"32 x 24", "64 x 24"});
  fail_unless(branches.good_eos, "the good branch never saw EOS");
}

}  // namespace
