// RGB at the pads of the transforms, judged by libjpeg: pictures that it decodes, files that it
// makes, negotiation and measurements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/dct8x8/measured.h"
#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"
#include "tests/jpeg/libjpeg.h"

namespace {

using namespace testing;
using cudatransform::test::Compressor;
using cudatransform::test::Decompressor;

struct Kind {
  const char* sampling;
  J_COLOR_SPACE color;
  int h, v;  // of the first component
  int others[2][2] = {{1, 1}, {1, 1}};
};
constexpr Kind kKinds[] = {
    {"YCbCr-4:2:0", JCS_YCbCr, 2, 2},
    {"YCbCr-4:2:2", JCS_YCbCr, 2, 1},
    {"YCbCr-4:4:4", JCS_YCbCr, 1, 1},
    {"YCbCr-4:4:0", JCS_YCbCr, 1, 2},
    {"YCbCr-4:1:1", JCS_YCbCr, 4, 1},
    {"GRAYSCALE", JCS_GRAYSCALE, 1, 1},
    {"RGB", JCS_RGB, 1, 1},
    {"YCbCr-4:4:1", JCS_YCbCr, 1, 4},
    {"YCbCr-4x4,1x1,1x1", JCS_YCbCr, 4, 4},
};
// That files have, but no frames.
constexpr Kind kKindsOfFiles[] = {
    {"YCbCr-1x1,2x2,2x2", JCS_YCbCr, 1, 1, {{2, 2}, {2, 2}}},
    {"YCbCr-4x2,1x1,1x1", JCS_YCbCr, 4, 2},
    {"YCbCr-4x4,2x2,1x1", JCS_YCbCr, 4, 4, {{2, 2}, {1, 1}}},
    {"YCbCr-3x1,1x1,3x1", JCS_YCbCr, 3, 1, {{1, 1}, {3, 1}}},
    {"RGB-2x2,2x2,1x1", JCS_RGB, 2, 2, {{2, 2}, {1, 1}}},
    {"RGB-2x1,1x2,1x1", JCS_RGB, 2, 1, {{1, 2}, {1, 1}}},
};
std::vector<Kind> all_kinds() {
  std::vector<Kind> all(std::begin(kKinds), std::end(kKinds));
  all.insert(all.end(), std::begin(kKindsOfFiles), std::end(kKindsOfFiles));
  return all;
}

constexpr const char* kRgbFormats[] = {"RGB",  "BGR",  "RGBx", "BGRx", "xRGB", "xBGR",
                                       "RGBA", "BGRA", "ARGB", "ABGR", "RGBP", "BGRP"};

// Pixels, R, G and B side by side.
struct Picture {
  int width = 0, height = 0;
  std::vector<guint8> rgb;
};

// Of a frame in any RGB format. A fourth byte must be `opaque`, unless that is negative.
Picture picture_of(GstBuffer* buffer, const GstVideoInfo& info, int opaque) {
  Picture picture{info.width, info.height, {}};
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0);
  const auto at = [&](guint c, int x, int y) {
    return *(static_cast<guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
             y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) + x * step);
  };
  int others = 0 + 1 + 2 + 3;  // the bytes of a pixel, less those of colors: the fourth's place
  for (guint c = 0; c < 3; c++) others -= static_cast<int>(GST_VIDEO_INFO_COMP_POFFSET(&info, c));
  for (int y = 0; y < info.height; y++)
    for (int x = 0; x < info.width; x++) {
      for (guint c = 0; c < 3; c++) picture.rgb.push_back(at(c, x, y));
      const auto* row = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                        y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
      if (step == 4 && opaque >= 0) fail_unless_equals_int(row[4 * x + others], opaque);
    }
  gst_video_frame_unmap(&frame);
  return picture;
}

std::vector<guint8> file_of(const Picture& picture, const Kind& kind, int quality,
                            J_DCT_METHOD method = JDCT_ISLOW) {
  Compressor to;
  to.open_for_rgb(picture.width, picture.height, kind.color);
  jpeg_set_quality(&to, quality, TRUE);
  to.dct_method = method;
  const int factors[3][2] = {{kind.h, kind.v},
                             {kind.others[0][0], kind.others[0][1]},
                             {kind.others[1][0], kind.others[1][1]}};
  int blocks = 0;
  for (int c = 0; c < to.num_components; c++) {
    to.comp_info[c].h_samp_factor = factors[c][0];
    to.comp_info[c].v_samp_factor = factors[c][1];
    blocks += factors[c][0] * factors[c][1];
  }
  // A scan of all components has no room for more.
  constexpr jpeg_scan_info kScans[] = {
      {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  if (blocks > C_MAX_BLOCKS_IN_MCU) {
    to.scan_info = kScans;
    to.num_scans = 3;
  }
  jpeg_start_compress(&to, TRUE);
  while (to.next_scanline < to.image_height) {
    auto* row = const_cast<guint8*>(&picture.rgb[size_t{3} * to.next_scanline * to.image_width]);
    jpeg_write_scanlines(&to, &row, 1);
  }
  return to.finish();
}

Picture decoded(const std::vector<guint8>& file, int scale, bool fancy, J_DCT_METHOD method) {
  Decompressor from(file);
  from.scale_denom = static_cast<unsigned>(scale);
  from.out_color_space = JCS_RGB;
  from.dct_method = method;
  from.do_fancy_upsampling = fancy ? TRUE : FALSE;
  jpeg_start_decompress(&from);
  Picture picture{static_cast<int>(from.output_width), static_cast<int>(from.output_height), {}};
  picture.rgb.resize(size_t{3} * from.output_width * from.output_height);
  while (from.output_scanline < from.output_height) {
    guint8* row = &picture.rgb[size_t{3} * from.output_scanline * from.output_width];
    jpeg_read_scanlines(&from, &row, 1);
  }
  jpeg_finish_decompress(&from);
  return picture;
}

GstVideoInfo rgb_info(const char* format, int width, int height) {
  return video_info(gst_video_format_from_string(format), width, height);
}

Picture source_picture(int width, int height, guint seed) {
  const GstVideoInfo info = rgb_info("RGB", width, height);
  g_autoptr(GstBuffer) frame = make_frame(info, seed);
  return picture_of(frame, info, -1);
}

GstBuffer* buffer_of(const std::vector<guint8>& bytes) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, bytes.size(), nullptr);
  gst_buffer_fill(buffer, 0, bytes.data(), bytes.size());
  return buffer;
}

struct Size {
  int width, height;
};
// Small pictures, where chroma has one or two columns, and blocks and MCUs that are not whole.
constexpr Size kSizes[] = {{1, 1},   {2, 1},   {1, 2},   {3, 3},   {4, 5},   {5, 4},    {6, 2},
                           {7, 9},   {8, 8},   {15, 17}, {16, 16}, {17, 15}, {18, 3},   {31, 34},
                           {33, 32}, {64, 48}, {65, 49}, {130, 7}, {9, 131}, {203, 155}};

// ---- To RGB ----

struct Decoding {
  int scale = 1;
  bool fancy = true;
  J_DCT_METHOD method = JDCT_ISLOW;
  const char* format = "RGB";
};

std::string text(const Decoding& way) {
  return std::string("chroma-upsampling=") + (way.fancy ? "fancy" : "nearest") +
         (way.method == JDCT_ISLOW ? " method=islow" : " method=ifast") +
         " scale=" + std::to_string(way.scale);
}

// `memory`: of the output's caps.
void check_decoding(const Decoding& way, const std::string& memory) {
  g_autoptr(GstHarness) h =
      new_harness("jpegcoefdec ! " + inverse(text(way)) + " ! capsfilter caps=\"video/x-raw" +
                  memory + ",format=" + way.format + "\"");
  gst_harness_set_src_caps_str(h, "image/jpeg,parsed=true,framerate=0/1");
  guint number = 0;
  for (const Kind& kind : all_kinds()) {
    for (const Size& size : kSizes) {
      if (number++ % 5 != 0 && quick()) continue;
      const std::vector<guint8> file =
          file_of(source_picture(size.width, size.height, number), kind, 75 + 5 * (number % 5));
      g_autoptr(GstBuffer) buffer = passed(h, buffer_of(file));
      const GstVideoInfo info = output_info(h);
      fail_unless_equals_string(GST_VIDEO_INFO_NAME(&info), way.format);
      const Picture ours = picture_of(buffer, info, 255);
      const Picture wanted = decoded(file, way.scale, way.fancy, way.method);
      fail_unless_equals_int(ours.width, wanted.width);
      fail_unless_equals_int(ours.height, wanted.height);
      fail_unless(ours.rgb == wanted.rgb, "%s of %dx%d, %s to %s", kind.sampling, size.width,
                  size.height, text(way).c_str(), way.format);
    }
  }
}

constexpr Decoding kDecodings[] = {
    {1, true, JDCT_ISLOW, "RGB"},   {1, false, JDCT_ISLOW, "BGR"},  {1, true, JDCT_IFAST, "RGBx"},
    {2, true, JDCT_ISLOW, "BGRx"},  {2, false, JDCT_IFAST, "RGBA"}, {4, true, JDCT_IFAST, "BGRA"},
    {4, false, JDCT_ISLOW, "ARGB"}, {8, true, JDCT_ISLOW, "ABGR"},  {8, false, JDCT_IFAST, "RGBP"},
    {1, true, JDCT_ISLOW, "BGRP"},  {2, true, JDCT_IFAST, "xRGB"},  {1, true, JDCT_ISLOW, "xBGR"},
};

CHECK_LOOP_TEST(test_pictures, 0, G_N_ELEMENTS(kDecodings)) {
  check_decoding(kDecodings[__i__], "");
  if (is_cuda() && kDecodings[__i__].format[0] != 'x')
    check_decoding(kDecodings[__i__], "(memory:CUDAMemory)");
}

// Its scale and upsampling may change between two frames.
CHECK_TEST(test_changes_while_playing) {
  g_autoptr(GstHarness) h = new_harness("jpegcoefdec ! " + inverse("name=inverse") +
                                        " ! capsfilter caps=video/x-raw,format=RGB");
  GstElement* element = gst_bin_get_by_name(GST_BIN(h->element), "inverse");
  gst_harness_set_src_caps_str(h, "image/jpeg,parsed=true,framerate=0/1");
  const std::vector<guint8> file = file_of(source_picture(57, 43, 1), kKinds[0], 80);
  for (const int scale : {1, 2, 1, 8, 4, 2}) {
    for (const bool fancy : {true, false, true}) {
      g_object_set(element, "scale", scale, "chroma-upsampling", fancy ? 0 : 1, nullptr);
      g_autoptr(GstBuffer) buffer = passed(h, buffer_of(file));
      const GstVideoInfo info = output_info(h);
      fail_unless(picture_of(buffer, info, -1).rgb == decoded(file, scale, fancy, JDCT_ISLOW).rgb);
    }
  }
  gst_object_unref(element);
}

// ---- From RGB ----

void check_encoding(const Kind& kind, const char* format, int quality, bool in_cuda) {
  const std::string upload =
      in_cuda ? "cudaupload ! capsfilter caps=video/x-raw(memory:CUDAMemory) ! " : "";
  const bool fast = quality == 90;
  g_autoptr(GstHarness) h = new_harness(
      upload +
      forward("quality=" + std::to_string(quality) + (fast ? " method=ifast" : " method=islow")) +
      " ! capsfilter caps=\"video/x-dct(ANY),sampling=(string)\\\"" + kind.sampling + "\\\"\" ! " +
      encoder("n-threads=1"));
  guint number = 0;
  for (const Size& size : kSizes) {
    if (number++ % 5 != 0 && quick()) continue;
    const GstVideoInfo info = rgb_info(format, size.width, size.height);
    gst_harness_set_src_caps(h, video_caps(info));
    GstBuffer* frame = make_frame(info, number);
    const Picture picture = picture_of(frame, info, -1);
    const std::vector<guint8> ours = encode(h, frame);
    const std::vector<guint8> wanted =
        file_of(picture, kind, quality, fast ? JDCT_IFAST : JDCT_ISLOW);
    if (ours == wanted) continue;
    fail("%s of %dx%d to %s at %d: %s", format, size.width, size.height, kind.sampling, quality,
         difference(read_jpeg(ours), read_jpeg(wanted)).c_str());
  }
}

// The emulator has no cudaupload.
bool has_upload() {
  g_autoptr(GstElementFactory) factory = gst_element_factory_find("cudaupload");
  return factory != nullptr;
}

CHECK_LOOP_TEST(test_files, 0, G_N_ELEMENTS(kKinds)) {
  constexpr int kQualities[] = {75, 1, 90, 100, 50};
  for (int i = 0; i < static_cast<int>(G_N_ELEMENTS(kRgbFormats)); i++) {
    const char* format = kRgbFormats[i];
    check_encoding(kKinds[__i__], format, kQualities[(i + __i__) % 5], false);
    if (is_cuda() && format[0] != 'x' && has_upload())
      check_encoding(kKinds[__i__], format, kQualities[(i + __i__) % 5], true);
  }
}

// ---- Caps ----

std::string output_caps(GstHarness* h) {
  g_autoptr(GstCaps) caps = current_caps(h);
  gchar* text = gst_caps_to_string(caps);
  const std::string result = text;
  g_free(text);
  return result;
}

CHECK_TEST(test_caps_of_coefficients) {
  const GstVideoInfo info = rgb_info("BGRx", 20, 10);
  g_autoptr(GstHarness) h = harness_of(forward(), info);
  fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_OK);
  const std::string caps = output_caps(h);
  fail_unless(contains(caps, "sampling=(string)YCbCr-4:2:0"), "%s", caps.c_str());
  fail_unless(contains(caps, "colorimetry=(string)1:4:0:0"), "%s", caps.c_str());
  fail_if(contains(caps, "chroma-site"), "%s", caps.c_str());
}

// Colors that a converter could also bring as GBR come as they are, and become YCbCr.
CHECK_TEST(test_behind_a_converter) {
  if (require_element_or_skip("videoconvert") != 0) return;
  const GstVideoInfo info = rgb_info("RGB", 20, 10);
  g_autoptr(GstHarness) h = harness_of("videoconvert ! " + forward(), info);
  fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_OK);
  const std::string caps = output_caps(h);
  fail_unless(contains(caps, "sampling=(string)YCbCr-4:2:0"), "%s", caps.c_str());
}

// Frames in planes are preferred to RGB, for any order of the peer; RGB is sRGB.
CHECK_TEST(test_caps_of_frames) {
  const struct {
    const char* peer;
    const char* wanted;
  } cases[] = {
      {"video/x-raw", "format=(string)I420"},
      {"video/x-raw,format={RGB,BGRx,NV12,I420}", "format=(string)I420"},
      {"video/x-raw,format=RGB;video/x-raw,format=NV12", "format=(string)NV12"},
      {"video/x-raw,format={BGRA,GRAY8,BGRx}", "format=(string)BGRx"},
      {"video/x-raw,format=ARGB", "colorimetry=(string)sRGB"},
  };
  const std::vector<guint8> file = file_of(source_picture(20, 10, 1), kKinds[0], 80);
  for (const auto& one : cases) {
    g_autoptr(GstHarness) h =
        new_harness("jpegcoefdec ! " + inverse() + " ! capsfilter caps=\"" + one.peer + "\"");
    gst_harness_set_src_caps_str(h, "image/jpeg,parsed=true,framerate=0/1");
    fail_unless_equals_int(gst_harness_push(h, buffer_of(file)), GST_FLOW_OK);
    const std::string caps = output_caps(h);
    fail_unless(contains(caps, one.wanted), "%s: %s", one.peer, caps.c_str());
  }
}

// Colors of another matrix or range are not made.
CHECK_TEST(test_colorimetry) {
  const std::string source = "videotestsrc num-buffers=1 ! video/x-raw,width=32,height=16,format=";
  for (const char* colorimetry : {"bt601", "bt709", "1:3:5:1"})
    expect(run_pipeline(source + "I420,colorimetry=" + colorimetry + " ! " + forward() + " ! " +
                        inverse() + " ! video/x-raw,format=RGB ! fakesink"),
           {"1:4:0:0", "videoconvert"});
  for (const char* good : {"I420,colorimetry=1:4:0:0", "I420,colorimetry=1:4:7:1", "GRAY8", "GBR"})
    run_well(source + good + " ! " + forward() + " ! " + inverse() +
             " ! video/x-raw,format=RGB ! fakesink");
  run_well(source + "I420,colorimetry=bt709 ! " + forward() + " ! " + inverse() +
           " ! video/x-raw,format={RGB,I420} ! fakesink");
  expect(run_pipeline(source + "I420_10LE,colorimetry=1:4:0:0 ! " + forward() + " ! " + inverse() +
                      " ! video/x-raw,format=RGB ! fakesink"),
         {"format=(string)RGB"});
}

// ---- Measurements ----

// The forward's PSNR is that of the samples that it quantized, and so is the inverse's, which
// converts the source again.
CHECK_TEST(test_psnr) {
  for (const Kind& kind : kKinds) {
    for (const char* out : {"format=RGB", "format={I420,Y42B,Y444,Y41B,YUV9,GRAY8,GBR}"}) {
      const std::string filter =
          std::string("capsfilter caps=\"video/x-dct(ANY),sampling=(string)\\\"") + kind.sampling +
          "\\\"\"";
      Pair pair("quality=40 keep-reference=true measure=psnr", "measure=psnr+time",
                GST_VIDEO_FORMAT_BGR, 64, 32, filter);
      gst_harness_set_sink_caps_str(pair.h, (std::string("video/x-raw,") + out).c_str());
      fail_unless_equals_int(gst_harness_push(pair.h, make_frame(pair.info)), GST_FLOW_OK);
      gst_harness_push_event(pair.h, gst_event_new_eos());  // waits for the measurements
      for (const char* field : kPsnrFields) {
        double coded = -2, decoded = -3;
        g_object_get(pair.fwd, field, &coded, nullptr);
        g_object_get(pair.inv, field, &decoded, nullptr);
        fail_unless(coded == decoded && (coded > 20 || coded == -1), "%s %s %s: %g, %g",
                    kind.sampling, out, field, coded, decoded);
      }
      GstClockTime time = 0;
      g_object_get(pair.inv, "kernel-time", &time, nullptr);
      fail_unless(time > 0 && GST_CLOCK_TIME_IS_VALID(time));
    }
  }
}

// A scaled inverse that makes chroma by itself counts all zeros as well.
CHECK_TEST(test_zeros_at_parts) {
  const std::vector<guint8> file = file_of(source_picture(70, 50, 3), kKinds[0], 60);
  double wanted = -1;
  for (const int scale : {1, 2, 4, 8}) {
    g_autoptr(GstHarness) h =
        new_harness("jpegcoefdec ! " +
                    inverse("name=inverse measure=zeros+time scale=" + std::to_string(scale)) +
                    " ! capsfilter caps=video/x-raw,format=RGB");
    gst_harness_set_src_caps_str(h, "image/jpeg,parsed=true,framerate=0/1");
    fail_unless_equals_int(gst_harness_push(h, buffer_of(file)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());  // waits for the measurements
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(h->element), "inverse");
    GstStructure* stats = nullptr;
    g_object_get(element, "stats", &stats, nullptr);
    double zeros = -1;
    gst_structure_get_double(stats, "zeros", &zeros);
    gst_structure_free(stats);
    if (scale == 1) wanted = zeros;
    fail_unless(zeros > 0 && zeros == wanted, "1/%d: %g, not %g", scale, zeros, wanted);
    g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
    const GstVideoInfo info = output_info(h);
    fail_unless(picture_of(buffer, info, -1).rgb == ::decoded(file, scale, true, JDCT_ISLOW).rgb);
  }
}

}  // namespace
