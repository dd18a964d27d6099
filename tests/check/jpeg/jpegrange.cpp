// Cameras' limited range on its way to JPEG files, which have full range: files against those of
// frames that the test has converted itself.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <string>
#include <vector>

#include "tests/check/dct8x8/measured.h"
#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;
using Bytes = std::vector<guint8>;

constexpr const char* kLimited[] = {"bt601", "2:4:7:1", "bt709"};

// What JPEG's range makes of a colorimetry in kLimited.
const char* full_range_of(const std::string& limited) {
  return limited == "bt709" ? "1:3:5:1" : "1:4:0:0";
}

GstCaps* caps_with(const GstVideoInfo& info, const char* colorimetry) {
  GstCaps* caps = video_caps(info);
  gst_structure_remove_field(gst_caps_get_structure(caps, 0), "colorimetry");
  if (colorimetry) gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, colorimetry, nullptr);
  return caps;
}

// ITU-T H.273; std::round() takes halves away from zero, as its Round() does.
int expanded(int sample, int depth, bool is_chroma) {
  const double unit = std::ldexp(1, depth - 8), peak = std::ldexp(1, depth) - 1;
  const double zero = (is_chroma ? 128 : 16) * unit, span = (is_chroma ? 224 : 219) * unit;
  const double value = std::round((sample - zero) * peak / span) + (is_chroma ? zero : 0);
  return static_cast<int>(CLAMP(value, 0.0, peak));
}

// The same frame in full range. `depth`: that samples are coded with.
GstBuffer* in_full_range(const GstVideoInfo& info, GstBuffer* limited, int depth) {
  GstBuffer* full = gst_buffer_copy_deep(limited);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, full, GST_MAP_READWRITE));
  const bool is_rgb = GST_VIDEO_INFO_IS_RGB(&info);
  for (guint c = 0; c < MIN(GST_VIDEO_INFO_N_COMPONENTS(&info), 3U); c++) {
    const bool wide = GST_VIDEO_INFO_COMP_DEPTH(&info, c) > 8;
    const int unused = GST_VIDEO_INFO_COMP_DEPTH(&info, c) == 16 ? 16 - depth : 0;
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); y++) {
      auto* at = static_cast<guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
                 y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c);
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c);
           x++, at += GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)) {
        const int sample = wide ? GST_READ_UINT16_LE(at) >> unused : *at;
        const int value = expanded(sample, depth, c > 0 && !is_rgb);
        if (wide)
          GST_WRITE_UINT16_LE(at, value << unused);
        else
          *at = static_cast<guint8>(value);
      }
    }
  }
  gst_video_frame_unmap(&frame);
  return full;
}

// A stream of files.
GstHarness* files(const std::string& properties = "", const std::string& before = "") {
  return new_harness(before + forward("name=forward quality=90 " + properties) + " ! " +
                     encoder("name=encoder n-threads=1"));
}

// The file of a frame (transfer full) with that colorimetry; null: without one.
Bytes file_of(GstHarness* h, const GstVideoInfo& info, GstBuffer* frame, const char* colorimetry) {
  gst_harness_set_src_caps(h, caps_with(info, colorimetry));
  return encode(h, frame);
}

std::string colorimetry_at(GstHarness* h, const char* element) {
  g_autoptr(GstElement) found = gst_bin_get_by_name(GST_BIN(h->element), element);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(found, "sink");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  const char* text = gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry");
  return text ? text : "";
}

struct Raw {
  GstVideoFormat format;
  int depth;
};
constexpr Raw kRaws[] = {
    {GST_VIDEO_FORMAT_I420, 8},       {GST_VIDEO_FORMAT_YV12, 8},
    {GST_VIDEO_FORMAT_NV12, 8},       {GST_VIDEO_FORMAT_NV21, 8},
    {GST_VIDEO_FORMAT_Y42B, 8},       {GST_VIDEO_FORMAT_Y444, 8},
    {GST_VIDEO_FORMAT_Y41B, 8},       {GST_VIDEO_FORMAT_GRAY8, 8},
    {GST_VIDEO_FORMAT_I420_12LE, 12}, {GST_VIDEO_FORMAT_I422_12LE, 12},
    {GST_VIDEO_FORMAT_Y444_12LE, 12}, {GST_VIDEO_FORMAT_GRAY16_LE, 12},
    {GST_VIDEO_FORMAT_YUV9, 8},
};

// The file is that of the same frame in full range, byte by byte.
CHECK_LOOP_TEST(test_files_of_limited_range, 0, G_N_ELEMENTS(kRaws)) {
  const Raw& raw = kRaws[__i__];
  g_autoptr(GstHarness) h = files();
  for (const char* limited : kLimited) {
    for (const auto& [width, height] : {std::pair(64, 32), {37, 25}, {200, 3}, {1, 1}}) {
      const GstVideoInfo info = video_info(raw.format, width, height);
      GstBuffer* frame = make_frame(info, 5);
      GstBuffer* converted = in_full_range(info, frame, raw.depth);
      const char* full = full_range_of(limited);
      const Bytes ours = file_of(h, info, frame, limited);
      const std::string of_ours = colorimetry_at(h, "encoder");
      fail_unless_equals_string(of_ours.c_str(), full);
      const Bytes wanted = file_of(h, info, converted, full);
      const std::string of_wanted = colorimetry_at(h, "encoder");
      fail_unless_equals_string(of_wanted.c_str(), full);
      fail_unless(ours == wanted, "%s of %dx%d, %s", GST_VIDEO_INFO_NAME(&info), width, height,
                  limited);
    }
  }
}

// Capture cards have RGB of limited range, too.
CHECK_TEST(test_rgb_of_limited_range) {
  for (const char* format : {"RGB", "BGRx", "ARGB", "RGBP", "GBR"}) {
    g_autoptr(GstHarness) h = files();
    const GstVideoInfo info = video_info(gst_video_format_from_string(format), 37, 25);
    GstBuffer* frame = make_frame(info, 5);
    GstBuffer* converted = in_full_range(info, frame, 8);
    const Bytes ours = file_of(h, info, frame, "2:1:7:1");
    fail_unless(ours == file_of(h, info, converted, "sRGB"), "%s", format);
  }
}

// Where a source says nothing of its range, and where it says full range, samples stay.
CHECK_TEST(test_other_samples_stay) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 40, 24);
  g_autoptr(GstHarness) h = files();
  g_autoptr(GstBuffer) frame = make_frame(info, 5);
  const Bytes wanted = file_of(h, info, gst_buffer_ref(frame), "1:4:0:0");
  for (const char* colorimetry : {static_cast<const char*>(nullptr), "1:4:7:1", "1:3:5:1"})
    fail_unless(file_of(h, info, gst_buffer_ref(frame), colorimetry) == wanted, "%s", colorimetry);
}

// Coefficients for others than encoders of JPEG files keep the range of their frames, and so do
// those that have to.
CHECK_TEST(test_other_peers) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 40, 24);
  g_autoptr(GstBuffer) frame = make_frame(info, 5);
  for (const char* behind : {"", " ! capsfilter caps=\"video/x-dct(ANY),colorimetry=bt709\"",
                             " ! capsfilter caps=\"video/x-dct(ANY);"
                             "video/x-dct(ANY),colorimetry=1:4:0:0\""}) {
    g_autoptr(GstHarness) h = new_harness(forward() + behind);
    Bytes qcoefs[2];
    for (Bytes& made : qcoefs) {
      const bool is_first = &made == &qcoefs[0];
      if (!is_first && contains(behind, "bt709")) continue;
      gst_harness_set_src_caps(h, caps_with(info, is_first ? "bt709" : nullptr));
      gst_harness_push(h, gst_buffer_ref(frame));
      g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
      made = samples_of(buffer, caps);
      fail_unless_equals_string(
          gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry"),
          is_first ? "bt709" : nullptr);
    }
    fail_unless(qcoefs[1].empty() || qcoefs[0] == qcoefs[1], "%s", behind);
  }
}

// A stream may change its range, and goes on.
CHECK_TEST(test_changes) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_NV12, 66, 34);
  g_autoptr(GstHarness) h = files();
  g_autoptr(GstHarness) other = files();
  guint seed = 1;
  for (const char* colorimetry : {"1:4:0:0", "bt601", "1:4:0:0", "2:4:7:1", "bt601", "bt709",
                                  "1:3:5:1", "bt709", static_cast<const char*>(nullptr)}) {
    for (int i = 0; i < 2; i++, seed++) {
      GstBuffer* frame = make_frame(info, seed);
      const bool limited = colorimetry && colorimetry[0] != '1';
      GstBuffer* same = limited ? in_full_range(info, frame, 8) : gst_buffer_ref(frame);
      const Bytes ours = file_of(h, info, frame, colorimetry);
      fail_unless(ours == file_of(other, info, same, "1:4:0:0"), "frame %u, %s", seed, colorimetry);
    }
  }
}

// Rate control sees the samples that are coded.
CHECK_TEST(test_rate_control) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 160, 120);
  GstBuffer* frame = make_frame(info, 5);
  GstBuffer* full = in_full_range(info, frame, 8);
  g_autoptr(GstHarness) h = files("target-size=6000 measure=psnr+time");
  g_autoptr(GstHarness) other = files("target-size=6000 measure=psnr+time");
  const Bytes ours = file_of(h, info, frame, "bt601"),
              wanted = file_of(other, info, full, "1:4:0:0");
  fail_unless(ours == wanted && ours.size() <= 6000 && ours.size() > 5000, "%zu and %zu bytes",
              ours.size(), wanted.size());
  double psnr[2] = {-1, -2};
  for (int i = 0; i < 2; i++) {
    GstHarness* of = i == 0 ? h : other;
    gst_harness_push_event(of, gst_event_new_eos());  // waits for the measurements
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(of->element), "forward");
    g_object_get(element, "psnr", &psnr[i], nullptr);
    GstClockTime time = 0;
    g_object_get(element, "kernel-time", &time, nullptr);
    fail_unless(time > 0 && GST_CLOCK_TIME_IS_VALID(time));
  }
  fail_unless(psnr[0] == psnr[1] && psnr[0] > 20, "%g and %g", psnr[0], psnr[1]);
}

// The inverse compares its samples with the source in the range of the coefficients.
CHECK_TEST(test_psnr_by_the_inverse) {
  for (const char* full : {"", ",colorimetry=1:4:0:0;video/x-dct(ANY)"}) {
    for (const GstVideoFormat format : {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12,
                                        GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420_12LE}) {
      Pair pair("quality=40 keep-reference=true measure=psnr", "measure=psnr", format, 64, 32,
                std::string("capsfilter caps=\"video/x-dct(ANY)") + full + "\"");
      gst_harness_set_sink_caps_str(pair.h, "video/x-raw");
      gst_harness_set_src_caps(pair.h, caps_with(pair.info, "bt709"));
      fail_unless_equals_int(gst_harness_push(pair.h, make_frame(pair.info)), GST_FLOW_OK);
      pair.drain();
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pair.h->sinkpad);
      fail_unless_equals_string(
          gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry"),
          full[0] ? "1:3:5:1" : "bt709");
      for (const char* field : kPsnrFields) {
        const double coded = property(pair.fwd, field), decoded = property(pair.inv, field);
        fail_unless(coded == decoded && (coded > 20 || coded == -1), "%s %s %s: %g, %g",
                    gst_video_format_to_string(format), full, field, coded, decoded);
      }
    }
  }
}

// Frames in CUDA memory are converted there. The emulator has no cudaupload.
CHECK_TEST(test_cuda_memory) {
  g_autoptr(GstElementFactory) upload = gst_element_factory_find("cudaupload");
  if (!is_cuda() || !upload) return;
  for (const Raw& raw : kRaws) {
    if (raw.format == GST_VIDEO_FORMAT_Y41B || raw.format == GST_VIDEO_FORMAT_YUV9 ||
        raw.format == GST_VIDEO_FORMAT_GRAY8 || raw.format == GST_VIDEO_FORMAT_GRAY16_LE ||
        raw.depth != 8 || raw.format == GST_VIDEO_FORMAT_NV21)
      continue;
    const GstVideoInfo info = video_info(raw.format, 130, 62);
    GstBuffer* frame = make_frame(info, 5);
    GstBuffer* full = in_full_range(info, frame, raw.depth);
    g_autoptr(GstHarness) h =
        files("", "cudaupload ! capsfilter caps=video/x-raw(memory:CUDAMemory) ! ");
    g_autoptr(GstHarness) other = files();
    fail_unless(file_of(h, info, frame, "bt601") == file_of(other, info, full, "1:4:0:0"), "%s",
                GST_VIDEO_INFO_NAME(&info));
  }
}

}  // namespace
