// Sources that change size or format mid-stream, and peers that ask for other coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/base/gstbasetransform.h>

#include <string>

#include "tests/check/frames.h"
#include "tests/check/rawformats.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

CHECK_TEST(test_source_changes) {
  g_autoptr(GstHarness) h =
      gst_harness_new_parse((forward("quality=100") + " ! " + inverse()).c_str());
  for (const Step& step : kSteps) {
    const GstVideoInfo info = video_info(step.format, step.width, step.height);
    gst_harness_set_sink_caps(h, video_caps(info));
    gst_harness_set_src_caps(h, video_caps(info));
    for (guint i = 0; i < 3; i++) {
      g_autoptr(GstBuffer) in = make_frame(info, i);
      g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
      const GstVideoInfo now = output_info(h);
      fail_unless_equals_int(now.width, step.width);
      fail_unless_equals_int(now.height, step.height);
      fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&now), step.format);
      fail_unless(largest_difference(info, in, out) <= 6);
    }
  }
}

// The coefficients that a capsfilter asks for change while frames flow.
CHECK_TEST(test_peer_changes) {
  const char* asked[] = {
      "video/x-dct,layout=block,order=raster",
      "video/x-dct,layout=plane",
      "video/x-dct,quantized=false,format=F32LE",
      "video/x-dct,quantized=false,format=S32LE,order=zigzag",
      "video/x-dct,order=zigzag,quantized=true",
  };
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      (forward("method=float quality=100") + " ! capsfilter name=ask ! " + inverse("method=float"))
          .c_str());
  g_autoptr(GstElement) ask = gst_bin_get_by_name(GST_BIN(h->element), "ask");
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_Y42B, 50, 38);
  gst_harness_set_src_caps(h, video_caps(info));
  for (int round = 0; round < 2; round++) {
    for (const char* caps_string : asked) {
      g_autoptr(GstCaps) caps = gst_caps_from_string(caps_string);
      g_object_set(ask, "caps", caps, nullptr);
      for (guint i = 0; i < 2; i++) {
        g_autoptr(GstBuffer) in = make_frame(info, i);
        g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
        fail_unless(largest_difference(info, in, out) <= 4, "%s", caps_string);
      }
      g_autoptr(GstPad) pad = gst_element_get_static_pad(ask, "src");
      g_autoptr(GstCaps) now = gst_pad_get_current_caps(pad);
      fail_unless(gst_caps_can_intersect(now, caps), "asked for %s, got %s", caps_string,
                  gst_caps_to_string(now));
    }
  }
}

// A new size alone does not choose the format anew, unless downstream refuses the present one or
// asks for it.
CHECK_TEST(test_size_keeps_format) {
  const std::string takes =
      "video/x-raw,format=NV12,width=[1,100];video/x-raw,format=YV12,width=[1,200]";
  g_autoptr(GstHarness) h =
      gst_harness_new_parse((forward() + " ! " + inverse("name=inverse scale=1/2") +
                             " ! identity ! " + "capsfilter caps=\"" + takes + "\"")
                                .c_str());
  const auto format_at = [&](int width, int height) {
    const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, width, height);
    gst_harness_set_src_caps(h, video_caps(info));
    g_autoptr(GstBuffer) out = passed(h, make_frame(info, 0));
    const GstVideoInfo now = output_info(h);
    fail_unless_equals_int(now.width, (width + 1) / 2);
    fail_unless_equals_int(now.height, (height + 1) / 2);
    return GST_VIDEO_INFO_FORMAT(&now);
  };
  fail_unless_equals_int(format_at(101, 50), GST_VIDEO_FORMAT_NV12);
  fail_unless_equals_int(format_at(200, 50), GST_VIDEO_FORMAT_NV12);
  fail_unless_equals_int(format_at(202, 51), GST_VIDEO_FORMAT_YV12);
  fail_unless_equals_int(format_at(64, 52), GST_VIDEO_FORMAT_YV12);
  g_autoptr(GstElement) inverse = gst_bin_get_by_name(GST_BIN(h->element), "inverse");
  gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(inverse));
  fail_unless_equals_int(format_at(66, 53), GST_VIDEO_FORMAT_NV12);
}

// Changes the size that the capsfilter asks for after every tenth frame, in the source's thread.
struct Resizer {
  GstElement* size;
  int frames = 0;

  static GstPadProbeReturn on_frame(GstPad*, GstPadProbeInfo*, gpointer data) {
    auto* self = static_cast<Resizer*>(data);
    if (++self->frames % 10 != 0) return GST_PAD_PROBE_OK;
    g_autoptr(GstCaps) next =
        gst_caps_new_simple("video/x-raw", "width", G_TYPE_INT, 64 + 3 * self->frames, "height",
                            G_TYPE_INT, 48 + self->frames % 40, nullptr);
    g_object_set(self->size, "caps", next, nullptr);
    return GST_PAD_PROBE_OK;
  }
};

// In a running pipeline, with a queue in between that holds buffers of the old size.
CHECK_TEST(test_running_pipeline) {
  const std::string line =
      "videotestsrc name=source num-buffers=60 ! "
      "capsfilter name=size caps=video/x-raw,width=64,height=48 ! " +
      forward() + " ! queue ! " + inverse() +
      " ! video/x-raw ! fakesink name=sink signal-handoffs=true";
  g_autoptr(GstElement) pipeline = launch(line);
  Resizer resizer = {gst_bin_get_by_name(GST_BIN(pipeline), "size")};
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, Resizer::on_frame, &resizer, nullptr);
  SeenFrames seen;
  seen.watch(pipeline);
  const std::string failure = run_to_eos(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless(failure.empty(), "after %d frames: %s", seen.frames, failure.c_str());
  fail_unless_equals_int(seen.frames, 60);
  fail_unless_equals_int(seen.sizes, 6);
  fail_unless_equals_int(seen.wrong, 0);
  gst_object_unref(resizer.size);
}

}  // namespace
