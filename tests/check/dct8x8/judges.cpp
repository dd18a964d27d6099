// PSNR by other judges: FFmpeg's psnr filter, and the picture of NVIDIA's whitepaper.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/dct8x8/measured.h"
#include "tests/check/files.h"

namespace {

using namespace testing;  // the helpers are half of every line here

// ---- FFmpeg as the judge ----

const char* pixel_format(GstVideoFormat format) {
  switch (format) {
    case GST_VIDEO_FORMAT_I420:
      return "yuv420p";
    case GST_VIDEO_FORMAT_Y42B:
      return "yuv422p";
    case GST_VIDEO_FORMAT_Y444:
      return "yuv444p";
    case GST_VIDEO_FORMAT_Y41B:
      return "yuv411p";
    case GST_VIDEO_FORMAT_YUV9:
      return "yuv410p";
    case GST_VIDEO_FORMAT_GRAY8:
      return "gray";
    case GST_VIDEO_FORMAT_GBR:
      return "gbrp";
    case GST_VIDEO_FORMAT_I420_10LE:
      return "yuv420p10le";
    case GST_VIDEO_FORMAT_I422_12LE:
      return "yuv422p12le";
    default:
      return nullptr;
  }
}

// FFmpeg's raw video has no padding between rows; ours may.
void append_tight(const GstVideoInfo& info, GstBuffer* buffer, GByteArray* out) {
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++) {
    gint components[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(info.finfo, p, components);
    const guint row = static_cast<guint>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, components[0]) *
                                         GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, components[0]));
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, components[0]); y++) {
      const auto* data = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
      g_byte_array_append(out, data + y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p), row);
    }
  }
  gst_video_frame_unmap(&frame);
}

std::string write_bytes(const Folder& folder, const char* name, GByteArray* bytes) {
  const std::string path = folder.file(name);
  fail_unless(g_file_set_contents(path.c_str(), reinterpret_cast<const gchar*>(bytes->data),
                                  static_cast<gssize>(bytes->len), nullptr));
  g_byte_array_unref(bytes);
  return path;
}

// The value after "NAME:" in a line of the filter's statistics; -1 where there is none.
double judged(const std::string& line, const char* name) {
  const size_t at = line.find(std::string(" ") + name + ":");
  if (at == std::string::npos) return -1;
  const std::string value = line.substr(at + std::strlen(name) + 2);
  return value.compare(0, 3, "inf") == 0 ? HUGE_VAL : g_ascii_strtod(value.c_str(), nullptr);
}

std::string judge;  // the program's argument

CHECK_LOOP_TEST(test_ffmpeg, 0, judge == "ffmpeg" ? G_N_ELEMENTS(kFormats) : 0) {
  const GstVideoFormat format = kFormats[__i__];
  const char* pixels = pixel_format(format);
  if (pixels == nullptr) return;
  const Folder folder;
  Pair pair("quality=40 measure=psnr post-messages=true", "", format, 118, 94);
  GByteArray *source = g_byte_array_new(), *result = g_byte_array_new();
  constexpr guint kFrames = 4;
  for (guint i = 0; i < kFrames; i++) {
    g_autoptr(GstBuffer) in = make_frame(pair.info, 10 + i);
    g_autoptr(GstBuffer) out = pair.push(in);
    append_tight(pair.info, in, source);
    append_tight(pair.info, out, result);
  }
  pair.drain();
  const std::string a = write_bytes(folder, "a.raw", source);
  const std::string b = write_bytes(folder, "b.raw", result);
  const std::string log = folder.file("psnr.log");
  const std::string input = std::string(" -f rawvideo -pix_fmt ") + pixels + " -s 118x94 -r 25 -i ";
  const std::string command = std::string(g_getenv("FFMPEG")) + " -nostdin -v error" + input + b +
                              input + a + " -lavfi psnr=stats_file=" + log + " -f null -";
  gint status = -1;
  fail_unless(g_spawn_command_line_sync(command.c_str(), nullptr, nullptr, &status, nullptr));
  fail_unless_equals_int(status, 0);
  g_autofree gchar* text = nullptr;
  fail_unless(g_file_get_contents(log.c_str(), &text, nullptr, nullptr));
  gchar** lines = g_strsplit(text, "\n", -1);

  const bool rgb = format == GST_VIDEO_FORMAT_GBR;
  const char* names[4] = {rgb ? "psnr_r" : "psnr_y", rgb ? "psnr_g" : "psnr_u",
                          rgb ? "psnr_b" : "psnr_v", "psnr_avg"};
  const std::vector<GstStructure*> messages = pair.messages();
  fail_unless_equals_uint64(messages.size(), kFrames);
  for (size_t i = 0; i < kFrames; i++) {
    const std::string line = std::string(" ") + lines[i];
    for (size_t f = 0; f < 4; f++) {
      const double theirs = judged(line, names[f]);
      const double ours = number(messages[i], kPsnrFields[f]);
      // They print two decimals.
      fail_unless(std::fabs(theirs - ours) <= 0.0101, "%s frame %d %s: ffmpeg %f, ours %f", pixels,
                  static_cast<int>(i), names[f], theirs, ours);
    }
    gst_structure_free(messages[i]);
  }
  g_strfreev(lines);
}

// ---- The whitepaper's picture ----

CHECK_LOOP_TEST(test_whitepaper, 0, judge == "whitepaper" ? 7 : 0) {
  const char* methods[] = {"float",     "reference",  "naive",  "matrix",
                           "separable", "decomposed", "shuffle"};
  const std::string method = std::string("method=") + methods[__i__];
  const std::string line =
      std::string("filesrc location=") + g_getenv("CUDATRANSFORM_TEST_DATA") +
      "/images/barbara.pgm ! pnmdec ! video/x-raw,format=GRAY8 ! " +
      forward("name=fwd quant-preset=whitepaper measure=psnr+zeros post-messages=true " + method) +
      " ! " + inverse(method) + " ! fakesink";
  g_autoptr(GstElement) pipeline = launch(line);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
      bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR));
  fail_unless(message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT);
  const GstStructure* s = gst_message_get_structure(message);
  std::printf("%s: %.6f dB, %.2f %% zeros\n", methods[__i__], number(s, "psnr"),
              100 * number(s, "zeros"));
  fail_unless(std::fabs(number(s, "psnr") - 32.7771) <= 0.0005);
  fail_unless(std::fabs(number(s, "zeros") - 0.8320) <= 0.0001);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  judge = argc > 1 ? argv[1] : "";
  if (judge == "ffmpeg" && g_getenv("FFMPEG") == nullptr) return testing::skip("no ffmpeg");
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  const std::string picture = std::string(data ? data : "") + "/images/barbara.pgm";
  if (judge == "whitepaper" && !g_file_test(picture.c_str(), G_FILE_TEST_EXISTS))
    return testing::skip("no barbara.pgm (-Dtest-data)");
  return testing::run(argc, argv);
}
