// Cameras' limited range on its way to JPEG files, in pipelines: colors, negotiation with
// converters, and the cure that the warning of jpegcoefenc prints.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"
#include "tests/jpeg/libjpeg.h"

namespace {

using namespace testing;
using cudatransform::test::Decompressor;

using Bytes = std::vector<guint8>;

struct Color {
  int r, g, b;
};

// The pixel in the middle of a file.
Color color_of(const Bytes& file) {
  Decompressor from(file);
  from.out_color_space = JCS_RGB;
  jpeg_start_decompress(&from);
  Bytes row(size_t{3} * from.output_width);
  for (guint y = 0; y <= from.output_height / 2; y++) {
    guint8* to = row.data();
    jpeg_read_scanlines(&from, &to, 1);
  }
  const guint8* pixel = &row[size_t{from.output_width} / 2 * 3];
  const Color color = {pixel[0], pixel[1], pixel[2]};
  jpeg_abort_decompress(&from);
  return color;
}

bool are_near(const Color& a, const Color& b, int most) {
  return ABS(a.r - b.r) <= most && ABS(a.g - b.g) <= most && ABS(a.b - b.b) <= most;
}

// A source of one color in 64x48.
std::string source(const char* argb, const char* format, const char* colorimetry) {
  return std::string("videotestsrc num-buffers=2 pattern=solid-color foreground-color=") + argb +
         " ! video/x-raw,width=64,height=48,format=" + format + ",colorimetry=" + colorimetry +
         " ! ";
}

std::string bin() { return std::string("cudajpegenc quality=95 backend=") + backend(); }
std::string pair() { return forward("quality=95") + " ! " + encoder("name=encoder"); }

Bytes played(const std::string& line, int* warnings = nullptr) {
  const Frames frames = play(line + " ! appsink name=sink sync=false", warnings);
  fail_unless_equals_int(static_cast<int>(frames.size()), 2);
  return frames[1];
}

bool has_converter() {
  g_autoptr(GstElementFactory) factory = gst_element_factory_find("videoconvert");
  return factory != nullptr;
}

// White, black and the colors of cameras come out as such, also through converters.
CHECK_TEST(test_cameras) {
  if (!has_converter()) return;
  const struct {
    const char* argb;
    Color color;
  } colors[] = {{"0xffffffff", {255, 255, 255}}, {"0xff000000", {0, 0, 0}},
                {"0xffbf0000", {191, 0, 0}},     {"0xff00bf00", {0, 191, 0}},
                {"0xff0000bf", {0, 0, 191}},     {"0xffbfbfbf", {191, 191, 191}}};
  for (const auto& [argb, color] : colors) {
    for (const char* colorimetry : {"bt601", "2:4:7:1"}) {
      const std::string lines[] = {
          source(argb, "I420", colorimetry),
          source(argb, "NV12", colorimetry),
          source(argb, "Y42B", colorimetry),
          source(argb, "I420", colorimetry) + "videoconvert ! ",
          source(argb, "YUY2", colorimetry) + "videoconvert ! ",
          source(argb, "YUY2", colorimetry) + "videoconvert ! queue ! ",
          source(argb, "YUY2", colorimetry) + "queue ! videoconvert ! video/x-raw,format=NV12 ! "};
      for (const std::string& line : lines) {
        for (const std::string& encoder : {bin(), pair()}) {
          int warnings = 0;
          const Color found = color_of(played(line + encoder, &warnings));
          fail_unless(are_near(found, color, 3) && warnings == 0, "%s%s: %d %d %d, %d warnings",
                      line.c_str(), encoder.c_str(), found.r, found.g, found.b, warnings);
          if (color.r == color.g)
            fail_unless(color.r != 255 || found.g >= 253, "%s: %d", line.c_str(), found.g);
        }
      }
    }
  }
}

// Of the sink pad of an element.
std::string colorimetry_at(GstElement* pipeline, const char* name) {
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  const char* text = gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry");
  return text ? text : "";
}

// Gray keeps the range of YCbCr on its way through a converter, and is converted.
CHECK_TEST(test_gray) {
  if (!has_converter()) return;
  for (const auto& [argb, gray] : {std::pair("0xffffffff", 255), {"0xff000000", 0}}) {
    for (const char* format : {"YUY2", "I420", "GRAY8"}) {
      const std::string line =
          source(argb, format, "2:4:7:1") + "videoconvert ! video/x-raw,format=GRAY8 ! ";
      const Color found = color_of(played(line + bin()));
      fail_unless(are_near(found, {gray, gray, gray}, 1), "%s: %d", line.c_str(), found.g);
    }
  }
}

// Another matrix is converted by the converter, with the range.
CHECK_TEST(test_converters_of_another_matrix) {
  if (!has_converter()) return;
  for (const char* format : {"YUY2", "UYVY", "I420"}) {
    const std::string line =
        source("0xffff0000", format, "bt709") + "videoconvert ! " + "video/x-raw,format=Y42B ! ";
    int warnings = 0;
    const Color found = color_of(played(line + pair(), &warnings));
    fail_unless(are_near(found, {255, 0, 0}, 3) && warnings == 0, "%s: %d %d %d, %d warnings",
                line.c_str(), found.r, found.g, found.b, warnings);
  }
}

// A source that has to convert anyway makes JPEG's colorimetry immediately.
CHECK_TEST(test_rgb_sources) {
  if (!has_converter()) return;
  const std::string line =
      "videotestsrc num-buffers=2 pattern=white ! video/x-raw,format=BGRx ! videoconvert ! "
      "video/x-raw,format=I420 ! identity name=before ! " +
      pair();
  std::string colorimetry;
  play(line + " ! appsink name=sink", nullptr,
       [&](GstElement* pipeline) { colorimetry = colorimetry_at(pipeline, "before"); });
  fail_unless_equals_string(colorimetry.c_str(), "1:4:0:0");
}

// Elements between the two, and other branches, change nothing.
CHECK_TEST(test_chains) {
  for (const char* colorimetry : {"bt601", "bt709"}) {
    const std::string white = source("0xffffffff", "NV12", colorimetry) + forward("quality=95");
    for (const char* between :
         {" ! queue", " ! cudadctconvert", " ! cudadctflip video-direction=90r",
          " ! cudadctquant quality=90"}) {
      const Color found = color_of(played(white + between + " ! " + encoder("name=encoder")));
      fail_unless(are_near(found, {255, 255, 255}, 0), "%s, %s: %d %d %d", colorimetry, between,
                  found.r, found.g, found.b);
    }
    std::string label;
    auto frames = play_sinks(white + " ! tee name=t ! queue ! " + encoder("name=encoder") +
                                 " ! appsink name=files sync=false  t. ! queue ! " + inverse() +
                                 " ! appsink name=frames sync=false",
                             {"files", "frames"}, nullptr, [&](GstElement* pipeline) {
                               label = colorimetry_at(pipeline, "frames");
                             });
    fail_unless_equals_string(label.c_str(),
                              g_str_equal(colorimetry, "bt709") ? "1:3:5:1" : "1:4:0:0");
    fail_unless(are_near(color_of(frames["files"][1]), {255, 255, 255}, 0));
    fail_unless_equals_int(frames["frames"][1][0], 255);
  }
}

// Plays `line` to its end; the text of its only warning.
std::string warning_of(const std::string& line) {
  g_autoptr(GstElement) pipeline = launch(line);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  std::string text;
  for (bool done = false; !done;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, 20 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
    fail_unless(message && GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR, "%s", line.c_str());
    done = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (done) continue;
    fail_unless(text.empty(), "%s", text.c_str());
    text = report_of(message).text;
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return text;
}

// The elements that the warning prints as the remedy, except the last, cudadct8x8.
std::string cure_of(const std::string& warning) {
  const std::string before = "convert by ", last = "cudadct8x8";
  const size_t begin = warning.find(before), end = warning.find(last, begin);
  fail_unless(begin != std::string::npos && end != std::string::npos, "%s", warning.c_str());
  return warning.substr(begin + before.size(), end - begin - before.size());
}

// Following the warning gives no other, and the colors of a conversion through RGB.
CHECK_TEST(test_the_printed_cure) {
  if (!has_converter()) return;
  const struct {
    const char *colorimetry, *pinned;
    std::initializer_list<const char*> formats;
  } cases[] = {{"bt709", "", {"I420", "NV12", "Y42B"}},
               {"bt601", " ! video/x-dct(ANY),colorimetry=bt601", {"I420", "YUY2"}},
               {"bt601", " ! video/x-dct(ANY),colorimetry=bt601", {"GRAY8"}},
               {"bt709", " ! video/x-dct(ANY),colorimetry=bt709", {"I420", "NV12"}}};
  const std::string ours = forward("quality=95"), to = " ! " + encoder("name=encoder");
  for (const auto& [colorimetry, pinned, formats] : cases) {
    const std::string warning = warning_of(source("0xffffffff", *formats.begin(), colorimetry) +
                                           ours + pinned + to + " ! fakesink");
    const std::string cure = cure_of(warning);
    for (const char* format : formats) {
      for (const char* argb : {"0xffffffff", "0xff000000", "0xffff0000", "0xff0000ff"}) {
        int warnings = 0;
        const std::string from = source(argb, format, colorimetry);
        const Color found = color_of(played(from + cure + ours + to, &warnings));
        const Color wanted =
            color_of(played(from + "videoconvert ! video/x-raw,format=RGB ! " + ours + to));
        fail_unless(warnings == 0 && are_near(found, wanted, 2),
                    "%s%s: %d %d %d, not %d %d %d; %d warnings", from.c_str(), cure.c_str(),
                    found.r, found.g, found.b, wanted.r, wanted.g, wanted.b, warnings);
        if (g_str_equal(argb, "0xffffffff"))
          fail_unless(are_near(found, {255, 255, 255}, 2), "%s%s: white is %d %d %d", from.c_str(),
                      cure.c_str(), found.r, found.g, found.b);
      }
    }
  }
}

}  // namespace
