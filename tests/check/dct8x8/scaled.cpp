// The scale property of cudaidct8x8: sizes and samples for every format, caps in both directions,
// and changes while playing.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/dct8x8/measured.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

// Denominators, which are the values of the property's nicks.
inline constexpr int kScales[] = {1, 2, 4, 8};

inline std::string property_of(int scale) { return "scale=" + std::to_string(scale) + " "; }

inline int scaled(int size, int scale) { return (size + scale - 1) / scale; }

}  // namespace testing

namespace {

using namespace testing;

// ---- Samples ----

using Samples = std::vector<std::vector<int>>;  // by component, rows contiguous

Samples samples_of(const GstVideoInfo& info, GstBuffer* buffer) {
  Samples samples(GST_VIDEO_INFO_N_COMPONENTS(&info));
  visit_samples(
      info, buffer, buffer,
      [](int component, int value, int, gpointer data) {
        (*static_cast<Samples*>(data))[static_cast<size_t>(component)].push_back(value);
      },
      &samples);
  return samples;
}

// Coefficients with the caps that they came with.
struct Coefficients {
  GstCaps* caps;
  GstDctInfo info;
  GstBuffer* buffer;
  std::vector<double> values[3];  // of the components, dequantized, 64 a block

  Coefficients(const GstVideoInfo& raw, const std::string& properties, const std::string& filter) {
    GstHarness* h = new_harness(forward(properties) + " ! capsfilter caps=\"" + filter + "\"");
    gst_harness_set_src_caps(h, video_caps(raw));
    fail_unless_equals_int(gst_harness_push(h, make_frame(raw)), GST_FLOW_OK);
    buffer = gst_harness_pull(h);
    caps = gst_pad_get_current_caps(h->sinkpad);
    fail_unless(gst_dct_info_from_caps(&info, caps, nullptr));
    end_harness(h);
    const std::vector<guint8> bytes = bytes_of(buffer);
    const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
    for (guint c = 0; c < info.n_components; c++)
      for (guint i = 0; i < info.components[c].blocks_w * info.components[c].blocks_h * 64; i++) {
        const guint k = i % 64, bx = i / 64 % info.components[c].blocks_w,
                    by = i / 64 / info.components[c].blocks_w;
        const double stored = coefficient_at(info, buffer, bytes, c, bx, by, k % 8, k / 8);
        const guint16 q = info.quantized ? meta->tables[meta->components[c].table].values[k] : 1;
        values[c].push_back(stored * q);
      }
  }
  Coefficients(const Coefficients&) = delete;
  ~Coefficients() {
    gst_buffer_unref(buffer);
    gst_caps_unref(caps);
  }

  const double* block(guint c, guint bx, guint by) const {
    return &values[c][64 * (by * info.components[c].blocks_w + bx)];
  }
};

double basis(guint k, int n, int points) {
  return (k == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * n + 1) * k * G_PI / (2 * points));
}

// The sample (x, y) of a component at 1/scale: the mean of the 8-point inverse's samples in its
// place (islow), or the inverse of as many points over the lowest frequencies.
double expected_sample(const Coefficients& coefs, guint c, int x, int y, int scale, bool means) {
  const int points = 8 / scale;
  const auto bx = static_cast<guint>(x / points), by = static_cast<guint>(y / points);
  const guint used = means ? 8 : static_cast<guint>(points);
  const auto weight = [&](guint k, int n) {
    if (!means) return basis(k, n, points);
    double sum = 0;
    for (int i = 0; i < scale; i++) sum += basis(k, scale * n + i, 8) / scale;
    return sum;
  };
  const double* block = coefs.block(c, bx, by);
  double sum = 0;
  for (guint v = 0; v < used; v++) {
    double row = 0;
    for (guint u = 0; u < used; u++) row += block[8 * v + u] * weight(u, x % points);
    sum += row * weight(v, y % points);
  }
  const int peak = (1 << coefs.info.depth) - 1;
  return CLAMP(sum + (1 << (coefs.info.depth - 1)), 0.0, static_cast<double>(peak));
}

// Transforms `coefs` back and compares every sample. Returns how many there were.
int check_frame(const Coefficients& coefs, const std::string& method, int scale) {
  g_autoptr(GstHarness) h = new_harness(inverse("method=" + method + " " + property_of(scale)) +
                                        " ! capsfilter caps=video/x-raw");
  gst_harness_set_src_caps(h, gst_caps_ref(coefs.caps));
  g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(coefs.buffer));
  const GstVideoInfo info = output_info(h);
  fail_unless_equals_int(info.width, scaled(coefs.info.width, scale));
  fail_unless_equals_int(info.height, scaled(coefs.info.height, scale));
  const Samples samples = samples_of(info, out);
  int count = 0;
  for (guint c = 0; c < coefs.info.n_components; c++) {
    // GStreamer's planes of the scaled picture are the components, scaled.
    const int width = GST_VIDEO_INFO_COMP_WIDTH(&info, c);
    const int height = GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
    fail_unless_equals_int(width, scaled(static_cast<int>(coefs.info.components[c].width), scale));
    fail_unless_equals_int(height,
                           scaled(static_cast<int>(coefs.info.components[c].height), scale));
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++, count++) {
        const double expected =
            expected_sample(coefs, c, x, y, scale, method == "islow" && scale > 1);
        const int got = samples[c][static_cast<size_t>(y * width + x)];
        fail_unless(std::fabs(got - expected) <= 1.5,
                    "%s at 1/%d, component %u (%d,%d): %d, not %g", method.c_str(), scale, c, x, y,
                    got, expected);
      }
  }
  return count;
}

constexpr GstVideoFormat kFormats[] = {
    GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_YV12,      GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_NV21,      GST_VIDEO_FORMAT_Y42B,      GST_VIDEO_FORMAT_Y444,
    GST_VIDEO_FORMAT_Y41B,      GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_GBR,
    GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_I422_12LE,
    GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_YUV9,
};

CHECK_LOOP_TEST(test_samples, 0, G_N_ELEMENTS(kFormats)) {
  constexpr int kSizes[][2] = {{1, 1}, {7, 9}, {17, 33}, {35, 21}};
  constexpr const char* kCodings[] = {
      "video/x-dct(ANY),quantized=true",
      "video/x-dct(ANY),quantized=true,order=zigzag",
      "video/x-dct(ANY),quantized=false,format=F32LE,layout=plane",
      "video/x-dct(ANY),quantized=false,format=S32LE",
  };
  const GstVideoFormat format = kFormats[__i__];
  const int coding = __i__;
  for (const auto& size : kSizes) {
    // One size for each format, and all four sizes and codings over the formats.
    if (under_valgrind() && &size - kSizes != (__i__ + __i__ / 4) % 4) continue;
    const GstVideoInfo raw = video_info(format, size[0], size[1]);
    const Coefficients coefs(raw, "quality=95", kCodings[(coding + (&size - kSizes)) % 4]);
    const bool deep = GST_VIDEO_INFO_COMP_DEPTH(&raw, 0) > 8;
    for (const int scale : kScales)
      for (const char* method : {deep ? "float" : "islow", "float", "reference"}) {
        // For "reference", the code of its kind of methods handles a frame.
        if (under_valgrind() && g_str_equal(method, "reference") && __i__ % 4 != 0) continue;
        fail_unless(check_frame(coefs, method, scale) > 0);
      }
  }
}

// 4:4:0 comes out as Y444 with each chroma row twice, scaled like everything else.
CHECK_TEST(test_440) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_F32LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_COEF_SAMPLING_440, 9, 39,
                               nullptr));
  for (const int scale : kScales) {
    GstBuffer* in = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    GstMapInfo map;
    gst_buffer_map(in, &map, GST_MAP_WRITE);
    auto* values = reinterpret_cast<gfloat*>(map.data);
    std::memset(values, 0, info.size);
    // Chroma rows of blocks of different gray.
    for (guint c : {1u, 2u})
      for (guint by = 0; by < info.components[c].blocks_h; by++)
        for (guint bx = 0; bx < info.components[c].blocks_w; bx++)
          values[info.components[c].offset / 4 + by * info.components[c].stride / 4 + 64 * bx] =
              static_cast<float>(80 * c + 160 * by);
    gst_buffer_unmap(in, &map);
    g_autoptr(GstHarness) h = new_harness(inverse("method=float " + property_of(scale)) +
                                          " ! capsfilter caps=video/x-raw");
    gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
    g_autoptr(GstBuffer) out = passed(h, in);
    const GstVideoInfo raw = output_info(h);
    fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&raw), GST_VIDEO_FORMAT_Y444);
    fail_unless_equals_int(raw.width, scaled(9, scale));
    fail_unless_equals_int(raw.height, scaled(39, scale));
    const Samples samples = samples_of(raw, out);
    for (int c : {1, 2})
      for (int row = 0; row < raw.height; row++) {
        const int expected = 128 + 10 * c + 20 * (row / 2 / (8 / scale));
        for (int x = 0; x < raw.width; x++)
          fail_unless_equals_int(
              samples[static_cast<size_t>(c)][static_cast<size_t>(row * raw.width + x)], expected);
      }
  }
}

// ---- Caps ----

// The caps of the element's pad when the other side is limited to `caps`.
GstCaps* caps_across(int scale, bool towards_src, const std::string& caps_string) {
  g_autoptr(GstElement) e = gst_element_factory_make("cudaidct8x8", nullptr);
  gst_util_set_object_arg(G_OBJECT(e), "backend", backend());
  g_object_set(e, "scale", scale, nullptr);
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_string.c_str());
  g_autoptr(GstPad) pad = gst_element_get_static_pad(e, towards_src ? "sink" : "src");
  auto* klass = GST_BASE_TRANSFORM_GET_CLASS(e);
  return klass->transform_caps(GST_BASE_TRANSFORM(e), towards_src ? GST_PAD_SINK : GST_PAD_SRC,
                               caps, nullptr);
}

// Whether `field` of every structure is the value that `text` spells.
void check_field(GstCaps* caps, const char* field, const std::string& text) {
  g_autoptr(GstStructure) s = gst_structure_from_string(("s,value=" + text).c_str(), nullptr);
  fail_unless(s != nullptr, "%s", text.c_str());
  const GValue* wanted = gst_structure_get_value(s, "value");
  fail_if(gst_caps_is_empty(caps));
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GValue* value = gst_structure_get_value(gst_caps_get_structure(caps, i), field);
    fail_unless(value != nullptr && gst_value_compare(value, wanted) == GST_VALUE_EQUAL,
                "%s: expected %s in %s", field, text.c_str(), gst_caps_to_string(caps));
  }
}

CHECK_TEST(test_caps) {
  const struct {
    int scale;
    bool towards_src;
    const char* width;
    const char* expected;
  } cases[] = {
      {2, true, "(int)641", "321"},
      {8, true, "(int)641", "81"},
      {1, true, "[1,640]", "[1,640]"},
      {4, true, "[1,641]", "[1,161]"},
      {8, true, "[1,8]", "1"},
      {2, true, "{640,320}", "{320,160}"},
      {8, true, "[1,2147483647]", "[1,268435456]"},
      {1, false, "(int)321", "321"},
      {2, false, "(int)321", "[641,642]"},
      {8, false, "(int)1", "[1,8]"},
      {4, false, "[10,20]", "[37,80]"},
      {8, false, "[1,2147483647]", "[1,2147483647]"},
      {8, false, "(int)268435456", "[2147483641,2147483647]"},
      {2, false, "{10,20}", "{[19,20],[39,40]}"},
  };
  for (const auto& c : cases) {
    const std::string media =
        c.towards_src ? "video/x-dct,sampling=YCbCr-4:2:0,depth=8" : "video/x-raw,format=I420";
    g_autoptr(GstCaps) caps = caps_across(
        c.scale, c.towards_src,
        media + ",width=" + c.width + ",height=16,framerate=30/1,pixel-aspect-ratio=16/15");
    check_field(caps, "width", c.expected);
    check_field(caps, "framerate", "30/1");
    check_field(caps, "pixel-aspect-ratio", "16/15");
  }
  // No coefficients are that large.
  g_autoptr(GstCaps) none =
      caps_across(8, false, "video/x-raw,format=I420,width=268435457,height=16");
  fail_unless(gst_caps_is_empty(none), "%s", gst_caps_to_string(none));
}

// A size that downstream requests reaches the source.
CHECK_TEST(test_negotiation) {
  for (const int scale : kScales)
    for (const char* format : {"I420", "GRAY8", "Y41B", "I420_10LE"}) {
      const std::string text = std::string("video/x-raw,format=") + format;
      const std::string error = run_pipeline("videotestsrc num-buffers=2 ! " + text + " ! " +
                                             forward() + " ! " + inverse(property_of(scale)) +
                                             " ! " + text + ",width=33,height=21 ! fakesink");
      fail_unless(error.empty(), "1/%d %s: %s", scale, format, error.c_str());
      const std::string wrong = run_pipeline(
          "videotestsrc num-buffers=2 ! " + text + ",width=64,height=48 ! " + forward() + " ! " +
          inverse(property_of(scale)) + " ! " + text + ",width=33,height=21 ! fakesink");
      fail_unless(!wrong.empty() && wrong != "timeout", "1/%d %s: '%s'", scale, format,
                  wrong.c_str());
    }
}

// The value of a scale is its divisor.
CHECK_TEST(test_values) {
  static constexpr const char* kNicks[] = {"full", "half", "quarter", "eighth"};
  for (int i = 0; i < 4; i++) {
    const int scale = kScales[i];
    GstElement* by_nick = launch(std::string("cudaidct8x8 scale=") + kNicks[i]);
    GstElement* by_text = launch("cudaidct8x8 scale=" + std::to_string(scale));
    GstElement* by_number = launch("cudaidct8x8");
    g_object_set(by_number, "scale", scale, nullptr);
    for (GstElement* element : {by_nick, by_text, by_number}) {
      gint value = 0;
      g_object_get(element, "scale", &value, nullptr);
      fail_unless_equals_int(value, scale);
      gst_object_unref(element);
    }
  }
}

CHECK_TEST(test_bad_values) {
  for (const char* bad : {"0", "3", "1/2", "1/16", "-2", "third"}) {
    const std::string error = run_pipeline("videotestsrc num-buffers=1 ! " + forward() + " ! " +
                                           inverse() + " scale=" + bad + " ! fakesink");
    fail_unless(error.find("scale") != std::string::npos, "scale=%s: '%s'", bad, error.c_str());
  }
}

CHECK_TEST(test_changes) {
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 37, 19);
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      (forward() + " ! " + inverse("name=inv") + " ! capsfilter caps=video/x-raw").c_str());
  g_autoptr(GstElement) inv = gst_bin_get_by_name(GST_BIN(h->element), "inv");
  gst_harness_set_src_caps(h, video_caps(raw));
  for (const int scale : {1, 2, 2, 8, 4, 1, 8, 2}) {
    g_object_set(inv, "scale", scale, nullptr);
    for (guint i = 0; i < 3; i++) {
      g_autoptr(GstBuffer) out = passed(h, make_frame(raw, i));
      const GstVideoInfo info = output_info(h);
      fail_unless_equals_int(info.width, scaled(37, scale));
      fail_unless_equals_int(info.height, scaled(19, scale));
      fail_unless(gst_buffer_get_size(out) >= info.size);
    }
  }
}

// A picture of one sample has the same caps at every scale, but not the same sample.
CHECK_TEST(test_changes_of_one_sample) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_F32LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_COEF_SAMPLING_GRAYSCALE, 1, 1,
                               nullptr));
  g_autoptr(GstBuffer) in = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  GstMapInfo map;
  gst_buffer_map(in, &map, GST_MAP_WRITE);
  std::memset(map.data, 0, map.size);
  reinterpret_cast<gfloat*>(map.data)[1] = 240.0f;
  gst_buffer_unmap(in, &map);
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      (inverse("name=inv method=reference") + " ! capsfilter caps=video/x-raw").c_str());
  g_autoptr(GstElement) inv = gst_bin_get_by_name(GST_BIN(h->element), "inv");
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
  for (const int scale : {1, 8, 4, 2, 1, 2, 8}) {
    g_object_set(inv, "scale", scale, nullptr);
    g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
    const int points = 8 / scale;
    const double expected =
        points == 1 ? 128 : 128 + 240 / std::sqrt(32) * std::cos(G_PI / (2 * points));
    fail_unless_equals_int(bytes_of(out)[0], static_cast<int>(std::round(expected)));
  }
}

// Another thread changes the scale while frames pass; sizes and buffers always fit each other.
CHECK_TEST(test_running_pipeline) {
  const int frames = under_valgrind() ? 80 : 400;
  const std::string line = "videotestsrc num-buffers=" + std::to_string(frames) +
                           " ! video/x-raw,width=173,height=97 ! " + forward() + " ! queue ! " +
                           inverse("name=inv") +
                           " ! queue ! fakesink name=sink signal-handoffs=true";
  g_autoptr(GstElement) pipeline = launch(line);
  g_autoptr(GstElement) inv = gst_bin_get_by_name(GST_BIN(pipeline), "inv");
  SeenFrames seen;
  seen.watch(pipeline);
  play_with_changes(pipeline, [&](int i) { g_object_set(inv, "scale", kScales[i % 4], nullptr); });
  fail_unless_equals_int(seen.frames, frames);
  fail_unless_equals_int(seen.wrong, 0);
  fail_unless(seen.sizes > 1, "the scale never changed");
}

// ---- Methods, metas, measuring ----

CHECK_TEST(test_active_method) {
  const struct {
    const char* method;
    GstVideoFormat format;
    const char* active;
  } cases[] = {
      {"islow", GST_VIDEO_FORMAT_I420, "islow"},
      {"ifast", GST_VIDEO_FORMAT_I420, "islow"},
      {"float", GST_VIDEO_FORMAT_I420, "float"},
      {"reference", GST_VIDEO_FORMAT_I420, "reference"},
      {"naive", GST_VIDEO_FORMAT_I420, "float"},
      {"matrix", GST_VIDEO_FORMAT_I420, "float"},
      {"separable", GST_VIDEO_FORMAT_I420, "float"},
      {"decomposed", GST_VIDEO_FORMAT_I420, "float"},
      {"shuffle", GST_VIDEO_FORMAT_I420, "float"},
      {"islow", GST_VIDEO_FORMAT_I420_10LE, "float"},
      {"ifast", GST_VIDEO_FORMAT_I420_10LE, "float"},
  };
  for (const auto& c : cases) {
    Pair pair("", std::string("method=") + c.method, c.format, 40, 24);
    GstVideoInfo info = video_info(c.format, 10, 6);
    GstCaps* caps = gst_caps_from_string("video/x-raw");
    gst_harness_set_sink_caps(pair.h, caps);
    for (const int scale : {4, 1, 2}) {
      g_object_set(pair.inv, "scale", scale, nullptr);
      GstBuffer* in = make_frame(pair.info);
      gst_buffer_unref(pair.push(in));
      gst_buffer_unref(in);
      g_autoptr(GstStructure) stats = stats_of(pair.inv);
      const bool unchanged = scale == 1 && GST_VIDEO_INFO_COMP_DEPTH(&info, 0) == 8;
      fail_unless_equals_string(gst_structure_get_string(stats, "method"),
                                unchanged ? c.method : c.active);
    }
  }
}

// Places in the picture are scaled with it; times are not.
CHECK_TEST(test_metas) {
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  for (const int scale : kScales) {
    g_autoptr(GstHarness) h = harness_of(forward() + " ! " + inverse(property_of(scale)), raw);
    GstBuffer* in = make_frame(raw);
    gst_buffer_add_video_region_of_interest_meta(in, "face", 8, 16, 32, 24);
    gst_buffer_add_video_time_code_meta_full(in, 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1,
                                             2, 3, 4, 0);
    gst_harness_push(h, in);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
        gst_buffer_get_meta(out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
    fail_unless(roi != nullptr, "the region of interest is lost");
    fail_unless_equals_int(roi->x, 8 / scale);
    fail_unless_equals_int(roi->y, 16 / scale);
    fail_unless_equals_int(roi->w, 32 / scale);
    fail_unless_equals_int(roi->h, 24 / scale);
    fail_unless(gst_buffer_get_video_time_code_meta(out) != nullptr, "the time code is lost");
  }
}

// No picture of that size exists to compare with: one warning, PSNR -1, and the rest is measured.
CHECK_TEST(test_measuring) {
  Pair pair("keep-reference=true measure=zeros", "measure=psnr+time+zeros post-messages=true",
            GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_sink_caps(pair.h, gst_caps_from_string("video/x-raw"));
  double zeros[2] = {};
  for (const int scale : {2, 8, 1}) {
    g_object_set(pair.inv, "scale", scale, nullptr);
    for (guint i = 0; i < 3; i++) {
      g_autoptr(GstBuffer) in = make_frame(pair.info, 1);
      gst_buffer_unref(pair.push(in));
    }
    gst_harness_push_event(pair.h,
                           gst_event_new_stream_start("next"));  // waits for the measurements
    int i = 0;
    for (GstElement* element : {pair.fwd, pair.inv}) {
      g_autoptr(GstStructure) stats = stats_of(element);
      fail_unless(gst_structure_get_double(stats, "zeros", &zeros[i++]));
      const gint64 time = time_in(stats, "kernel-time");
      fail_unless(element == pair.fwd || time > 0, "no time at 1/%d", scale);
    }
    fail_unless(zeros[0] > 0 && zeros[0] == zeros[1], "zeros at 1/%d: %g, not %g", scale, zeros[1],
                zeros[0]);
    for (const char* field : kPsnrFields) {
      double psnr = 0;
      g_object_get(pair.inv, field, &psnr, nullptr);
      fail_unless(scale == 1 ? psnr > 20 : psnr == -1, "%s at 1/%d: %g", field, scale, psnr);
    }
  }
  const std::vector<Report> warnings = take_messages(pair.bus, GST_MESSAGE_WARNING);
  fail_unless_equals_uint64(warnings.size(), 1);
  expect(warnings[0].text, {"PSNR"});
}

}  // namespace
