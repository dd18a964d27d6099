// Negotiation: the choice without preferences, refused caps, the caps fields that survive, and
// sources and peers that change in the middle of a stream.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/base/gstbasetransform.h>

#include <string>

#include "tests/check/frames.h"
#include "tests/check/rawformats.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

CHECK_LOOP_TEST(test_defaults, 0, G_N_ELEMENTS(kRaws)) {
  const Raw& raw = kRaws[__i__];
  GstHarness* h = gst_harness_new_parse(forward().c_str());
  gst_harness_set_src_caps(h, video_caps(video_info(raw.format, 24, 16)));
  gst_harness_push(h, make_frame(video_info(raw.format, 24, 16)));
  GstCaps* caps = current_caps(h);
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  gboolean quantized = FALSE;
  fail_unless_equals_string(gst_structure_get_string(s, "format"),
                            raw.depth == 16 ? "S32LE" : "S16LE");
  fail_unless_equals_string(gst_structure_get_string(s, "layout"), "block");
  fail_unless_equals_string(gst_structure_get_string(s, "order"), "raster");
  fail_unless(gst_structure_get_boolean(s, "quantized", &quantized) && quantized);
  fail_unless_equals_string(gst_structure_get_string(s, "sampling"), raw.sampling);
  gst_caps_unref(caps);
  gst_harness_teardown(h);

  // The inverse without preferences: the first format of the sampling and depth.
  h = gst_harness_new_parse((forward() + " ! " + inverse()).c_str());
  gst_harness_set_src_caps(h, video_caps(video_info(raw.format, 24, 16)));
  gst_harness_push(h, make_frame(video_info(raw.format, 24, 16)));
  caps = current_caps(h);
  const char* expected = nullptr;
  for (size_t i = 0; i < G_N_ELEMENTS(kRaws) && expected == nullptr; i++)
    if (kRaws[i].depth == raw.depth && g_str_equal(kRaws[i].sampling, raw.sampling))
      expected = gst_video_format_to_string(kRaws[i].format);
  fail_unless_equals_string(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"),
                            expected);
  gst_caps_unref(caps);
  gst_harness_teardown(h);
}

CHECK_TEST(test_fields_survive) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      (forward() + " ! " + inverse() + " ! capsfilter caps=video/x-raw").c_str());
  gst_harness_set_src_caps_str(
      h,
      "video/x-raw,format=I420,width=32,height=16,framerate=30000/1001,pixel-aspect-ratio=16/15,"
      "interlace-mode=interleaved,field-order=top-field-first,colorimetry=bt709,chroma-site=mpeg2,"
      "multiview-mode=mono");
  gst_harness_push(h, make_frame(video_info(GST_VIDEO_FORMAT_I420, 32, 16)));
  // With a GPU the frames stay in CUDA memory.
  g_autoptr(GstCaps) caps = gst_caps_make_writable(current_caps(h));
  gst_caps_set_features_simple(caps, nullptr);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(
      "video/x-raw,format=I420,width=32,height=16,framerate=30000/1001,pixel-aspect-ratio=16/15,"
      "interlace-mode=interleaved,field-order=top-field-first,colorimetry=bt709,chroma-site=mpeg2,"
      "multiview-mode=mono");
  fail_unless(gst_caps_is_subset(caps, wanted), "%s", gst_caps_to_string(caps));
}

// Whether an element takes a stream of such caps; if not, no buffer gets through.
bool accepts(const char* element, const std::string& caps_string) {
  g_autoptr(GstHarness) h =
      gst_harness_new_parse((std::string(element) + " backend=" + backend()).c_str());
  GstCaps* caps = gst_caps_from_string(caps_string.c_str());
  fail_unless(caps != nullptr, "%s", caps_string.c_str());
  gst_harness_set_src_caps(h, caps);
  const GstFlowReturn flow = gst_harness_push(h, gst_buffer_new_allocate(nullptr, 8, nullptr));
  // A buffer of 8 bytes is always too short: caps that the element takes end in GST_FLOW_ERROR.
  return flow != GST_FLOW_NOT_NEGOTIATED;
}

CHECK_TEST(test_refusals) {
  const std::string size = ",width=32,height=16,framerate=25/1";
  for (const char* format : {"RGB16", "RGB10A2_LE", "YUY2", "UYVY", "A420", "P016_LE", "GRAY16_BE",
                             "I420_10BE", "NV16", "GBR_10LE", "Y444_16LE"}) {
    fail_if(accepts("cudadct8x8", "video/x-raw,format=" + std::string(format) + size), "%s",
            format);
  }
  fail_unless(accepts("cudadct8x8", "video/x-raw,format=I420" + size));
  fail_if(accepts("cudadct8x8", ("video/x-raw(format:Interlaced),format=I420,"
                                 "interlace-mode=alternate" +
                                 size)
                                    .c_str()));
  fail_if(accepts("cudadct8x8", ("video/x-raw(memory:GLMemory),format=I420" + size).c_str()));

  const std::string good =
      "video/x-dct,format=S16LE,layout=block,order=raster,quantized=true,depth=8,"
      "sampling=YCbCr-4:2:0,colorspace=sYUV";
  fail_unless(accepts("cudaidct8x8", good + size));
  const struct {
    const char* from;
    const char* to;
  } wrong[] = {
      {"S16LE", "S32LE"},
      {"S16LE", "F32LE"},
      {"S16LE", "S8"},
      {"quantized=true", "quantized=false"},
      {"depth=8", "depth=9"},
      {"depth=8", "depth=16"},
      {"layout=block", "layout=plane,"},  // with order=zigzag below
      {"YCbCr-4:2:0", "RGB"},
      {"YCbCr-4:2:0", "YCbCr-4:2:1"},
      {"sYUV", "sRGB"},
      {"layout=block", "layout=tile"},
      {"order=raster", "order=z"},
  };
  for (const auto& w : wrong) {
    std::string caps = good;
    caps.replace(caps.find(w.from), std::string(w.from).size(), w.to);
    if (std::string(w.to) == "layout=plane,") {
      caps = good;
      caps.replace(caps.find("layout=block"), 12, "layout=plane");
      caps.replace(caps.find("order=raster"), 12, "order=zigzag");
    }
    fail_if(accepts("cudaidct8x8", caps + size), "%s", caps.c_str());
  }
  fail_if(accepts("cudaidct8x8", good + ",interlace-mode=alternate" + size));
}

// Linking incompatible elements fails while negotiating with an error; nothing hangs.
CHECK_TEST(test_disagreement) {
  for (const char* caps : {"video/x-dct(ANY),sampling=GRAYSCALE", "video/x-dct(ANY),depth=16",
                           "video/x-dct(ANY),format=F32LE,quantized=true",
                           "video/x-dct(ANY),layout=plane,order=zigzag"}) {
    const std::string error =
        run_pipeline("videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=32,height=16 ! " +
                     forward() + " ! " + caps + " ! " + inverse() + " ! fakesink");
    fail_if(error.empty() || error == "timeout", "%s: '%s'", caps, error.c_str());
  }
}

CHECK_TEST(test_no_capsfilter) {
  const char* lines[] = {
      "videotestsrc num-buffers=3 ! %F ! %I ! fakesink",
      "videotestsrc num-buffers=3 ! %F ! %I ! videoconvert ! fakesink",
      "videotestsrc num-buffers=3 ! %F ! video/x-dct(ANY),sampling=YCbCr-4:4:4,depth=10 ! %I ! "
      "fakesink",
      "videotestsrc num-buffers=3 ! video/x-raw,width=321,height=123 ! %F ! tee name=t ! queue ! "
      "%I ! fakesink t. ! queue ! %I ! fakesink",
      "videotestsrc num-buffers=3 ! %F ! fakesink",
  };
  for (std::string line : lines) {
    for (size_t at; (at = line.find("%F")) != std::string::npos;) line.replace(at, 2, forward());
    for (size_t at; (at = line.find("%I")) != std::string::npos;) line.replace(at, 2, inverse());
    run_well(line);
  }
}

// gst-inspect's output for a build with CUDA: both memories. From READY on an element on the CPU
// engine offers system memory alone.
CHECK_TEST(test_memory_kinds) {
  for (const char* factory : {"cudadct8x8", "cudaidct8x8"}) {
    g_autoptr(GstElement) e = gst_element_factory_make(factory, nullptr);
    gst_util_set_object_arg(G_OBJECT(e), "backend", "cpu");
    fail_unless_equals_int(gst_element_set_state(e, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    for (const char* name : {"sink", "src"}) {
      g_autoptr(GstPad) pad = gst_element_get_static_pad(e, name);
      g_autoptr(GstCaps) caps = gst_pad_query_caps(pad, nullptr);
      fail_if(gst_caps_is_empty(caps));
      for (guint i = 0; i < gst_caps_get_size(caps); i++)
        fail_if(gst_caps_features_contains(gst_caps_get_features(caps, i), "memory:CUDAMemory"),
                "%s:%s %s", factory, name, gst_caps_to_string(caps));
    }
    gst_element_set_state(e, GST_STATE_NULL);
  }
}

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

// The coefficients that a capsfilter requests change while frames flow.
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

// A new size alone does not renegotiate the format, unless downstream refuses the present one or
// requests it.
CHECK_TEST(test_size_keeps_format) {
  const std::string takes =
      "video/x-raw,format=NV12,width=[1,100];video/x-raw,format=YV12,width=[1,200]";
  g_autoptr(GstHarness) h =
      gst_harness_new_parse((forward() + " ! " + inverse("name=inverse scale=half") +
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

// Changes the size that the capsfilter requests after every tenth frame, in the source's thread.
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
