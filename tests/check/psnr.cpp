// Measuring: PSNR against FFmpeg's psnr filter and against our own sum, zero shares, times, the
// stats structure and the messages.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <glib/gstdio.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using testing::forward;
using testing::inverse;

constexpr GstVideoFormat kFormats[] = {
    GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_Y42B,      GST_VIDEO_FORMAT_Y444,
    GST_VIDEO_FORMAT_Y41B,      GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_GBR,
    GST_VIDEO_FORMAT_NV12,      GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I422_12LE,
    GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_GRAY16_LE,
};

constexpr const char* kPsnrFields[] = {"psnr-y", "psnr-u", "psnr-v", "psnr"};

double psnr_of(double mse, int depth) {
  if (mse < 0) return -1;
  const double peak = (1 << depth) - 1;
  return mse == 0 ? HUGE_VAL : 10 * std::log10(peak * peak / mse);
}

// A pair of elements in a harness, and the messages of both.
struct Pair {
  GstHarness* h;
  GstBus* bus;
  GstElement *fwd, *inv;
  GstVideoInfo info;

  Pair(const std::string& fwd_properties, const std::string& inv_properties, GstVideoFormat format,
       int width, int height, const std::string& caps = "video/x-dct(ANY)") {
    h = gst_harness_new_parse((forward("name=fwd " + fwd_properties) + " ! " + caps + " ! " +
                               inverse("name=inv " + inv_properties))
                                  .c_str());
    fwd = gst_bin_get_by_name(GST_BIN(h->element), "fwd");
    inv = gst_bin_get_by_name(GST_BIN(h->element), "inv");
    bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
    info = testing::video_info(format, width, height);
    gst_harness_set_sink_caps(h, testing::video_caps(info));
    gst_harness_set_src_caps(h, testing::video_caps(info));
  }
  ~Pair() {
    gst_element_set_bus(h->element, nullptr);
    gst_object_unref(bus);
    gst_object_unref(fwd);
    gst_object_unref(inv);
    gst_harness_teardown(h);
  }

  GstBuffer* push(GstBuffer* in) {
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
    return gst_harness_pull(h);
  }

  // After EOS everything has been measured and posted.
  void drain() { gst_harness_push_event(h, gst_event_new_eos()); }

  // The element messages of `name` so far, in order. Transfer full.
  std::vector<GstStructure*> messages(const char* name) {
    std::vector<GstStructure*> found;
    while (GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) {
      const GstStructure* s = gst_message_get_structure(message);
      if (gst_structure_has_name(s, name)) found.push_back(gst_structure_copy(s));
      gst_message_unref(message);
    }
    return found;
  }
};

double number(const GstStructure* s, const char* field) {
  double value = -12345;
  fail_unless(gst_structure_get_double(s, field, &value), "%s is missing or no double: %s", field,
              gst_structure_to_string(s));
  return value;
}

guint64 count(const GstStructure* s, const char* field) {
  guint64 value = 12345;
  fail_unless(gst_structure_get_uint64(s, field, &value), "%s is missing or no uint64: %s", field,
              gst_structure_to_string(s));
  return value;
}

double property(GstElement* element, const char* name) {
  double value = 0;
  g_object_get(element, name, &value, nullptr);
  return value;
}

// The measured PSNR is that of the frame that really comes out of cudaidct8x8.
void check_against_own_sum(GstVideoFormat format, const char* method, double tolerance) {
  const std::string properties = std::string("method=") + method;
  Pair pair(properties + " quality=60 measure=psnr keep-reference=true",
            properties + " measure=psnr", format, 75, 45);
  const int depth = static_cast<int>(GST_VIDEO_INFO_COMP_DEPTH(&pair.info, 0));
  for (guint i = 0; i < 3; i++) {
    GstBuffer* in = testing::make_frame(pair.info, i);
    GstBuffer* out = pair.push(in);
    const std::vector<double> mse = testing::mean_squared_errors(pair.info, in, out);
    gst_buffer_unref(in);
    gst_buffer_unref(out);
    if (i < 2) continue;
    pair.drain();
    for (size_t f = 0; f < 4; f++) {
      const double expected = psnr_of(mse[f], depth);
      const double measured_fwd = property(pair.fwd, kPsnrFields[f]);
      const double measured_inv = property(pair.inv, kPsnrFields[f]);
      fail_unless(std::fabs(measured_fwd - expected) <= tolerance, "%s %s %s: %f, expected %f",
                  gst_video_format_to_string(format), method, kPsnrFields[f], measured_fwd,
                  expected);
      fail_unless(std::fabs(measured_inv - expected) <= 1e-9, "inverse %s %s %s: %f, expected %f",
                  gst_video_format_to_string(format), method, kPsnrFields[f], measured_inv,
                  expected);
    }
  }
}

GST_START_TEST(test_own_sum) {
  const GstVideoFormat format = kFormats[__i__];
  check_against_own_sum(format, "islow", 1e-3);
  if (format == GST_VIDEO_FORMAT_I420 || format == GST_VIDEO_FORMAT_GBR) {
    check_against_own_sum(format, "islow", 1e-9);
    check_against_own_sum(format, "ifast", 1e-9);
    for (const char* method :
         {"float", "reference", "naive", "matrix", "separable", "decomposed", "shuffle"})
      check_against_own_sum(format, method, 1e-3);
  }
}
GST_END_TEST;

// With quantized=false it is the round trip through the negotiated format.
GST_START_TEST(test_unquantised) {
  for (const char* type : {"S32LE", "F32LE"}) {
    Pair pair("method=float measure=psnr keep-reference=true", "method=float measure=psnr",
              GST_VIDEO_FORMAT_Y42B, 33, 31,
              std::string("video/x-dct(ANY),quantized=false,format=") + type);
    GstBuffer* in = testing::make_frame(pair.info);
    GstBuffer* out = pair.push(in);
    const std::vector<double> mse = testing::mean_squared_errors(pair.info, in, out);
    gst_buffer_unref(in);
    gst_buffer_unref(out);
    pair.drain();
    const double expected = psnr_of(mse[3], 8);
    for (GstElement* element : {pair.fwd, pair.inv}) {
      const double measured = property(element, "psnr");
      fail_unless(measured == expected || std::fabs(measured - expected) < 1e-3, "%s: %f, not %f",
                  type, measured, expected);
    }
  }
}
GST_END_TEST;

GST_START_TEST(test_identical_is_infinity) {
  Pair pair("measure=psnr keep-reference=true", "measure=psnr", GST_VIDEO_FORMAT_I420, 32, 16);
  GstBuffer* in = gst_buffer_new_allocate(nullptr, pair.info.size, nullptr);
  gst_buffer_memset(in, 0, 128, pair.info.size);
  gst_buffer_unref(pair.push(in));
  gst_buffer_unref(in);
  pair.drain();
  for (GstElement* element : {pair.fwd, pair.inv})
    for (const char* field : kPsnrFields) fail_unless(std::isinf(property(element, field)));
}
GST_END_TEST;

GST_START_TEST(test_not_measured) {
  Pair pair("", "measure=psnr post-messages=true", GST_VIDEO_FORMAT_GRAY8, 32, 16);
  GstBuffer* in = testing::make_frame(pair.info);
  gst_buffer_unref(pair.push(in));
  gst_buffer_unref(in);
  pair.drain();
  // The forward element was not asked, the inverse has nothing to compare with.
  for (GstElement* element : {pair.fwd, pair.inv})
    for (const char* field : kPsnrFields) fail_unless(property(element, field) == -1);
  GstStructure* stats = nullptr;
  g_object_get(pair.fwd, "stats", &stats, nullptr);
  fail_unless_equals_uint64(count(stats, "frames"), 1);
  fail_unless_equals_uint64(count(stats, "measured-frames"), 0);
  fail_unless(number(stats, "mean-psnr") == -1);
  fail_unless(number(stats, "zeros") == -1);
  gst_structure_free(stats);
  fail_unless_equals_uint64(pair.messages("cudadct8x8").size(), 0);
}
GST_END_TEST;

GST_START_TEST(test_grey_has_one_component) {
  Pair pair("measure=psnr", "", GST_VIDEO_FORMAT_GRAY8, 32, 16);
  GstBuffer* in = testing::make_frame(pair.info);
  gst_buffer_unref(pair.push(in));
  gst_buffer_unref(in);
  pair.drain();
  fail_unless(property(pair.fwd, "psnr") > 20);
  fail_unless(property(pair.fwd, "psnr-y") == property(pair.fwd, "psnr"));
  fail_unless(property(pair.fwd, "psnr-u") == -1);
  fail_unless(property(pair.fwd, "psnr-v") == -1);
}
GST_END_TEST;

// One message a frame, in order, all before EOS, with the frame's own times.
GST_START_TEST(test_messages) {
  Pair pair("measure=psnr+time+zeros post-messages=true keep-reference=true",
            "measure=psnr+time+zeros post-messages=true", GST_VIDEO_FORMAT_I420, 64, 48);
  constexpr guint kFrames = 20;
  std::vector<std::vector<double>> errors;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.time = 3 * GST_SECOND;
  segment.base = 1 * GST_SECOND;
  gst_harness_push_event(pair.h, gst_event_new_segment(&segment));
  for (guint i = 0; i < kFrames; i++) {
    GstBuffer* in = testing::make_frame(pair.info, i);
    GST_BUFFER_PTS(in) = 10 * GST_SECOND + i * 40 * GST_MSECOND;
    GST_BUFFER_DURATION(in) = 40 * GST_MSECOND;
    GstBuffer* out = pair.push(in);
    errors.push_back(testing::mean_squared_errors(pair.info, in, out));
    gst_buffer_unref(in);
    gst_buffer_unref(out);
  }
  pair.drain();
  guint seen[2] = {0, 0};
  while (GstMessage* message = gst_bus_pop_filtered(pair.bus, GST_MESSAGE_ELEMENT)) {
    const GstStructure* s = gst_message_get_structure(message);
    const bool is_forward = GST_MESSAGE_SRC(message) == GST_OBJECT(pair.fwd);
    fail_unless(gst_structure_has_name(s, is_forward ? "cudadct8x8" : "cudaidct8x8"));
    const guint i = seen[is_forward]++;
    const guint64 late = i * 40 * GST_MSECOND;
    fail_unless_equals_uint64(count(s, "timestamp"), 10 * GST_SECOND + late);
    fail_unless_equals_uint64(count(s, "stream-time"), 3 * GST_SECOND + late);
    fail_unless_equals_uint64(count(s, "running-time"), 1 * GST_SECOND + late);
    fail_unless_equals_uint64(count(s, "duration"), 40 * GST_MSECOND);
    for (size_t f = 0; f < 4; f++)
      fail_unless(std::fabs(number(s, kPsnrFields[f]) - psnr_of(errors[i][f], 8)) < 1e-9);
    fail_unless(count(s, "kernel-time") > 0 && count(s, "kernel-time") < GST_SECOND);
    fail_unless(number(s, "zeros") > 0.05 && number(s, "zeros") < 1);
    gst_message_unref(message);
  }
  fail_unless_equals_int(seen[0], kFrames);
  fail_unless_equals_int(seen[1], kFrames);

  // The stream's figures: pooled errors, not means of PSNRs.
  GstStructure* stats = nullptr;
  g_object_get(pair.fwd, "stats", &stats, nullptr);
  fail_unless_equals_uint64(count(stats, "frames"), kFrames);
  fail_unless_equals_uint64(count(stats, "measured-frames"), kFrames);
  for (size_t f = 0; f < 4; f++) {
    double mean = 0;
    for (const auto& mse : errors) mean += mse[f] / kFrames;
    const std::string psnr = std::string("mean-") + kPsnrFields[f];
    fail_unless(std::fabs(number(stats, psnr.c_str()) - psnr_of(mean, 8)) < 1e-9);
    const std::string last = std::string("mse") + (kPsnrFields[f] + 4);
    fail_unless(std::fabs(number(stats, last.c_str()) - errors.back()[f]) < 1e-9);
  }
  fail_unless(count(stats, "kernel-time-min") <= count(stats, "kernel-time-mean"));
  fail_unless(count(stats, "kernel-time-mean") <= count(stats, "kernel-time-max"));
  fail_unless(count(stats, "kernel-time-p99") <= count(stats, "kernel-time-max"));
  fail_unless(count(stats, "kernel-time-p99") >= count(stats, "kernel-time-min"));
  fail_unless(number(stats, "gbps-mean") > 0);
  fail_unless_equals_string(gst_structure_get_string(stats, "backend"), testing::backend());
  fail_unless_equals_string(gst_structure_get_string(stats, "method"), "islow");
  fail_unless(std::strlen(gst_structure_get_string(stats, "device")) > 0);
  const bool on_gpu = g_str_equal(testing::backend(), "cuda");
  fail_unless_equals_int(count(stats, "upload-time") > 0, on_gpu);
  gst_structure_free(stats);
}
GST_END_TEST;

// The share of zero coefficients, counted here from the buffer.
GST_START_TEST(test_zero_share) {
  for (const char* coding : {"video/x-dct,layout=block", "video/x-dct,layout=plane",
                             "video/x-dct,quantized=false,format=S32LE"}) {
    GstHarness* h = gst_harness_new_parse(
        (forward("name=fwd measure=zeros quality=30") + " ! capsfilter caps=" + coding).c_str());
    GstElement* fwd = gst_bin_get_by_name(GST_BIN(h->element), "fwd");
    const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 50, 38);
    gst_harness_set_src_caps(h, testing::video_caps(info));
    gst_harness_push(h, testing::make_frame(info));
    GstBuffer* out = gst_harness_pull(h);
    GstCaps* caps = gst_pad_get_current_caps(h->sinkpad);
    GstDctInfo dct;
    fail_unless(gst_dct_info_from_caps(&dct, caps));
    const std::vector<guint8> bytes = testing::bytes_of(out);
    const gsize size = gst_dct_format_size(dct.format);
    double zeros = 0;
    for (gsize at = 0; at < dct.size; at += size) {
      bool zero = true;
      for (gsize i = 0; i < size; i++) zero = zero && bytes[at + i] == 0;
      zeros += zero;
    }
    gst_harness_push_event(h, gst_event_new_eos());
    GstStructure* stats = nullptr;
    g_object_get(fwd, "stats", &stats, nullptr);
    fail_unless(std::fabs(number(stats, "zeros") - zeros / (dct.size / size)) < 1e-12);
    fail_unless(number(stats, "psnr") == -1);
    gst_structure_free(stats);
    gst_caps_unref(caps);
    gst_buffer_unref(out);
    gst_object_unref(fwd);
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

// A source whose pool is small gets copies, one warning, and the same figures.
GST_START_TEST(test_reference_from_small_pool) {
  Pair pair("measure=psnr keep-reference=true", "measure=psnr", GST_VIDEO_FORMAT_I420, 48, 32);
  GstBufferPool* pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  GstCaps* caps = testing::video_caps(pair.info);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(pair.info.size), 1, 1);
  gst_buffer_pool_set_config(pool, config);
  gst_buffer_pool_set_active(pool, TRUE);
  for (guint i = 0; i < 5; i++) {
    GstBuffer* in = nullptr;
    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &in, nullptr), GST_FLOW_OK);
    GstBuffer* pattern = testing::make_frame(pair.info, i);
    const std::vector<guint8> bytes = testing::bytes_of(pattern);
    gst_buffer_fill(in, 0, bytes.data(), bytes.size());
    gst_buffer_unref(pattern);
    fail_unless_equals_int(gst_harness_push(pair.h, in), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(pair.h));
  }
  pair.drain();
  fail_unless(std::fabs(property(pair.fwd, "psnr") - property(pair.inv, "psnr")) < 1e-9);
  guint warnings = 0;
  while (GstMessage* message = gst_bus_pop_filtered(pair.bus, GST_MESSAGE_WARNING)) {
    warnings++;
    gst_message_unref(message);
  }
  fail_unless(warnings <= 1);
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_caps_unref(caps);
}
GST_END_TEST;

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

std::string write_bytes(const std::string& directory, const char* name, GByteArray* bytes) {
  const std::string path = directory + "/" + name;
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

GST_START_TEST(test_ffmpeg) {
  const GstVideoFormat format = kFormats[__i__];
  const char* pixels = pixel_format(format);
  if (pixels == nullptr) return;
  gchar* made = g_dir_make_tmp("cudatransform-XXXXXX", nullptr);
  const std::string directory = made;
  g_free(made);
  Pair pair("quality=40 measure=psnr post-messages=true", "", format, 118, 94);
  GByteArray *source = g_byte_array_new(), *result = g_byte_array_new();
  constexpr guint kFrames = 4;
  for (guint i = 0; i < kFrames; i++) {
    GstBuffer* in = testing::make_frame(pair.info, 10 + i);
    GstBuffer* out = pair.push(in);
    append_tight(pair.info, in, source);
    append_tight(pair.info, out, result);
    gst_buffer_unref(in);
    gst_buffer_unref(out);
  }
  pair.drain();
  const std::string a = write_bytes(directory, "a.raw", source);
  const std::string b = write_bytes(directory, "b.raw", result);
  const std::string log = directory + "/psnr.log";
  const std::string input = std::string(" -f rawvideo -pix_fmt ") + pixels + " -s 118x94 -r 25 -i ";
  const std::string command = std::string(g_getenv("FFMPEG")) + " -nostdin -v error" + input + b +
                              input + a + " -lavfi psnr=stats_file=" + log + " -f null -";
  gint status = -1;
  fail_unless(g_spawn_command_line_sync(command.c_str(), nullptr, nullptr, &status, nullptr));
  fail_unless_equals_int(status, 0);
  gchar* text = nullptr;
  fail_unless(g_file_get_contents(log.c_str(), &text, nullptr, nullptr));
  gchar** lines = g_strsplit(text, "\n", -1);

  const bool rgb = format == GST_VIDEO_FORMAT_GBR;
  const char* names[4] = {rgb ? "psnr_r" : "psnr_y", rgb ? "psnr_g" : "psnr_u",
                          rgb ? "psnr_b" : "psnr_v", "psnr_avg"};
  const std::vector<GstStructure*> messages = pair.messages("cudadct8x8");
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
  g_free(text);
  for (const std::string& path : {a, b, log}) g_unlink(path.c_str());
  g_rmdir(directory.c_str());
}
GST_END_TEST;

// ---- The whitepaper's picture ----

GST_START_TEST(test_whitepaper) {
  const char* methods[] = {"float",     "reference",  "naive",  "matrix",
                           "separable", "decomposed", "shuffle"};
  const std::string method = std::string("method=") + methods[__i__];
  const std::string line =
      std::string("filesrc location=") + g_getenv("CUDATRANSFORM_TEST_DATA") +
      "/images/barbara.pgm ! pnmdec ! video/x-raw,format=GRAY8 ! " +
      forward("name=fwd quant-preset=whitepaper measure=psnr+zeros post-messages=true " + method) +
      " ! " + inverse(method) + " ! fakesink";
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line.c_str(), &error);
  fail_unless(error == nullptr, "%s", error ? error->message : "");
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR));
  fail_unless(message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT);
  const GstStructure* s = gst_message_get_structure(message);
  std::printf("%s: %.6f dB, %.2f %% zeros\n", methods[__i__], number(s, "psnr"),
              100 * number(s, "zeros"));
  fail_unless(std::fabs(number(s, "psnr") - 32.7771) <= 0.0005);
  fail_unless(std::fabs(number(s, "zeros") - 0.8320) <= 0.0001);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}
GST_END_TEST;

Suite* make_whitepaper_suite() {
  Suite* suite = suite_create("psnr-whitepaper");
  TCase* tc = tcase_create("whitepaper");
  suite_add_tcase(suite, tc);
  tcase_add_loop_test(tc, test_whitepaper, 0, 7);
  return suite;
}

Suite* make_suite() {
  Suite* suite = suite_create("psnr");
  TCase* tc = tcase_create("psnr");
  suite_add_tcase(suite, tc);
  const int formats = G_N_ELEMENTS(kFormats);
  tcase_add_loop_test(tc, test_own_sum, 0, formats);
  tcase_add_test(tc, test_unquantised);
  tcase_add_test(tc, test_identical_is_infinity);
  tcase_add_test(tc, test_not_measured);
  tcase_add_test(tc, test_grey_has_one_component);
  tcase_add_test(tc, test_messages);
  tcase_add_test(tc, test_zero_share);
  tcase_add_test(tc, test_reference_from_small_pool);
  return suite;
}

Suite* make_ffmpeg_suite() {
  Suite* suite = suite_create("psnr-ffmpeg");
  TCase* tc = tcase_create("ffmpeg");
  suite_add_tcase(suite, tc);
  tcase_add_loop_test(tc, test_ffmpeg, 0, G_N_ELEMENTS(kFormats));
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "ffmpeg") {
    if (g_getenv("FFMPEG") == nullptr) return testing::skip("no ffmpeg");
    return testing::run(argc, argv, make_ffmpeg_suite);
  }
  if (what == "whitepaper") {
    const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
    const std::string picture = std::string(data ? data : "") + "/images/barbara.pgm";
    if (!g_file_test(picture.c_str(), G_FILE_TEST_EXISTS))
      return testing::skip("no barbara.pgm (-Dtest-data)");
    return testing::run(argc, argv, make_whitepaper_suite);
  }
  return testing::run(argc, argv, make_suite);
}
