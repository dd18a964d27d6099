// Sources that change size or format mid-stream, and peers that ask for other coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using testing::forward;
using testing::inverse;

struct Step {
  GstVideoFormat format;
  int width, height;
};

// Sizes that grow, shrink, and cross block borders; formats that change component count and depth.
constexpr Step kSteps[] = {
    {GST_VIDEO_FORMAT_I420, 64, 48},      {GST_VIDEO_FORMAT_I420, 65, 48},
    {GST_VIDEO_FORMAT_I420, 320, 240},    {GST_VIDEO_FORMAT_I420, 1, 1},
    {GST_VIDEO_FORMAT_GRAY8, 40, 30},     {GST_VIDEO_FORMAT_I420_10LE, 40, 30},
    {GST_VIDEO_FORMAT_NV12, 33, 17},      {GST_VIDEO_FORMAT_GBR, 33, 17},
    {GST_VIDEO_FORMAT_GRAY16_LE, 16, 24}, {GST_VIDEO_FORMAT_I420, 64, 48},
};

GST_START_TEST(test_source_changes) {
  GstHarness* h = gst_harness_new_parse((forward("quality=100") + " ! " + inverse()).c_str());
  for (const Step& step : kSteps) {
    const GstVideoInfo info = testing::video_info(step.format, step.width, step.height);
    gst_harness_set_sink_caps(h, testing::video_caps(info));
    gst_harness_set_src_caps(h, testing::video_caps(info));
    for (guint i = 0; i < 3; i++) {
      GstBuffer* in = testing::make_frame(info, i);
      fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
      GstBuffer* out = gst_harness_pull(h);
      GstCaps* caps = gst_pad_get_current_caps(h->sinkpad);
      GstVideoInfo now;
      fail_unless(gst_video_info_from_caps(&now, caps));
      fail_unless_equals_int(now.width, step.width);
      fail_unless_equals_int(now.height, step.height);
      fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&now), step.format);
      fail_unless(testing::largest_difference(info, in, out) <= 6);
      gst_caps_unref(caps);
      gst_buffer_unref(in);
      gst_buffer_unref(out);
    }
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

// The coefficients that a capsfilter asks for change while frames flow.
GST_START_TEST(test_peer_changes) {
  const char* asked[] = {
      "video/x-dct,layout=block,order=raster",
      "video/x-dct,layout=plane",
      "video/x-dct,quantized=false,format=F32LE",
      "video/x-dct,quantized=false,format=S32LE,order=zigzag",
      "video/x-dct,order=zigzag,quantized=true",
  };
  GstHarness* h = gst_harness_new_parse(
      (forward("method=float quality=100") + " ! capsfilter name=ask ! " + inverse("method=float"))
          .c_str());
  GstElement* ask = gst_bin_get_by_name(GST_BIN(h->element), "ask");
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_Y42B, 50, 38);
  gst_harness_set_src_caps(h, testing::video_caps(info));
  for (int round = 0; round < 2; round++) {
    for (const char* caps_string : asked) {
      GstCaps* caps = gst_caps_from_string(caps_string);
      g_object_set(ask, "caps", caps, nullptr);
      for (guint i = 0; i < 2; i++) {
        GstBuffer* in = testing::make_frame(info, i);
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
        GstBuffer* out = gst_harness_pull(h);
        fail_unless(testing::largest_difference(info, in, out) <= 4, "%s", caps_string);
        gst_buffer_unref(in);
        gst_buffer_unref(out);
      }
      GstPad* pad = gst_element_get_static_pad(ask, "src");
      GstCaps* now = gst_pad_get_current_caps(pad);
      fail_unless(gst_caps_can_intersect(now, caps), "asked for %s, got %s", caps_string,
                  gst_caps_to_string(now));
      gst_caps_unref(now);
      gst_object_unref(pad);
      gst_caps_unref(caps);
    }
  }
  gst_object_unref(ask);
  gst_harness_teardown(h);
}
GST_END_TEST;

// Changes the size that the capsfilter asks for after every tenth frame, in the source's thread.
struct Resizer {
  GstElement* size;
  int frames = 0;

  static GstPadProbeReturn on_frame(GstPad*, GstPadProbeInfo*, gpointer data) {
    auto* self = static_cast<Resizer*>(data);
    if (++self->frames % 10 != 0) return GST_PAD_PROBE_OK;
    GstCaps* next = gst_caps_new_simple("video/x-raw", "width", G_TYPE_INT, 64 + 3 * self->frames,
                                        "height", G_TYPE_INT, 48 + self->frames % 40, nullptr);
    g_object_set(self->size, "caps", next, nullptr);
    gst_caps_unref(next);
    return GST_PAD_PROBE_OK;
  }
};

// What arrives at the end.
struct Seen {
  int frames = 0, sizes = 0, short_frames = 0, last_width = 0;

  static void on_frame(GstElement*, GstBuffer* buffer, GstPad* pad, gpointer data) {
    auto* self = static_cast<Seen*>(data);
    GstCaps* caps = gst_pad_get_current_caps(pad);
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, caps) || gst_buffer_get_size(buffer) < info.size)
      self->short_frames++;
    self->frames++;
    self->sizes += info.width != self->last_width;
    self->last_width = info.width;
    gst_caps_unref(caps);
  }
};

// In a running pipeline, with a queue in between that holds buffers of the old size.
GST_START_TEST(test_running_pipeline) {
  const std::string line =
      "videotestsrc name=source num-buffers=60 ! "
      "capsfilter name=size caps=video/x-raw,width=64,height=48 ! " +
      forward() + " ! queue ! " + inverse() +
      " ! video/x-raw ! fakesink name=sink signal-handoffs=true";
  GstElement* pipeline = testing::launch(line);
  Resizer resizer = {gst_bin_get_by_name(GST_BIN(pipeline), "size")};
  GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  GstPad* pad = gst_element_get_static_pad(source, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, Resizer::on_frame, &resizer, nullptr);
  Seen seen;
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_signal_connect(sink, "handoff", G_CALLBACK(Seen::on_frame), &seen);
  const std::string failure = testing::run_to_eos(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless(failure.empty(), "after %d frames: %s", seen.frames, failure.c_str());
  fail_unless_equals_int(seen.frames, 60);
  fail_unless_equals_int(seen.sizes, 6);
  fail_unless_equals_int(seen.short_frames, 0);
  gst_object_unref(sink);
  gst_object_unref(pad);
  gst_object_unref(source);
  gst_object_unref(resizer.size);
  gst_object_unref(pipeline);
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("renegotiation");
  TCase* tc = tcase_create("renegotiation");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_source_changes);
  tcase_add_test(tc, test_peer_changes);
  tcase_add_test(tc, test_running_pipeline);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
