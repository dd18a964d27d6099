// Measuring: PSNR against our own sum, zero shares, times, the stats structure and the messages.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/dct8x8/measured.h"

namespace {

using namespace testing;  // the helpers are half of every line here

// The measured PSNR is that of the frame that really comes out of cudaidct8x8.
void check_against_own_sum(GstVideoFormat format, const char* method, double tolerance,
                           const std::string& quantizer = "round") {
  const std::string properties = std::string("method=") + method;
  // Two rows of blocks, one of them partial, are enough for valgrind.
  Pair pair(properties + " quality=60 measure=psnr keep-reference=true quantizer=" + quantizer,
            properties + " measure=psnr", format, 75, under_valgrind() ? 13 : 45);
  const int depth = static_cast<int>(GST_VIDEO_INFO_COMP_DEPTH(&pair.info, 0));
  for (guint i = 0; i < 3; i++) {
    GstBuffer* in = make_frame(pair.info, i);
    GstBuffer* out = pair.push(in);
    const std::vector<double> mse = mean_squared_errors(pair.info, in, out);
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

CHECK_LOOP_TEST(test_own_sum, 0, G_N_ELEMENTS(kFormats)) {
  const GstVideoFormat format = kFormats[__i__];
  check_against_own_sum(format, "islow", 1e-3);
  if (format == GST_VIDEO_FORMAT_I420 || format == GST_VIDEO_FORMAT_GBR) {
    check_against_own_sum(format, "islow", 1e-9);
    check_against_own_sum(format, "ifast", 1e-9);
    // The kernels are the same for both formats.
    if (under_valgrind() && format == GST_VIDEO_FORMAT_GBR) return;
    for (const char* method :
         {"float", "reference", "naive", "matrix", "separable", "decomposed", "shuffle"})
      check_against_own_sum(format, method, 1e-3);
  }
}

// Of the quantized coefficients that were decided.
CHECK_TEST(test_own_sum_of_decided_qcoefs) {
  for (const char* quantizer : {"dead-zone", "rd"}) {
    for (const GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY8})
      for (const char* method : {"islow", "ifast"})
        check_against_own_sum(format, method, 1e-9, quantizer);
    check_against_own_sum(GST_VIDEO_FORMAT_I420, "float", 1e-3, quantizer);
  }
}

// With quantized=false the PSNR is that of the round trip through the negotiated format.
CHECK_TEST(test_unquantized) {
  for (const char* type : {"S32LE", "F32LE"}) {
    Pair pair("method=float measure=psnr keep-reference=true", "method=float measure=psnr",
              GST_VIDEO_FORMAT_Y42B, 33, 31,
              std::string("video/x-dct(ANY),quantized=false,format=") + type);
    GstBuffer* in = make_frame(pair.info);
    GstBuffer* out = pair.push(in);
    const std::vector<double> mse = mean_squared_errors(pair.info, in, out);
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

CHECK_TEST(test_identical_is_infinity) {
  Pair pair("measure=psnr keep-reference=true", "measure=psnr", GST_VIDEO_FORMAT_I420, 32, 16);
  GstBuffer* in = gst_buffer_new_allocate(nullptr, pair.info.size, nullptr);
  gst_buffer_memset(in, 0, 128, pair.info.size);
  gst_buffer_unref(pair.push(in));
  gst_buffer_unref(in);
  pair.drain();
  for (GstElement* element : {pair.fwd, pair.inv})
    for (const char* field : kPsnrFields) fail_unless(std::isinf(property(element, field)));
}

CHECK_TEST(test_not_measured) {
  Pair pair("", "measure=psnr post-messages=true", GST_VIDEO_FORMAT_GRAY8, 32, 16);
  GstBuffer* in = make_frame(pair.info);
  gst_buffer_unref(pair.push(in));
  gst_buffer_unref(in);
  pair.drain();
  // The forward element does not measure, the inverse has nothing to compare with.
  for (GstElement* element : {pair.fwd, pair.inv})
    for (const char* field : kPsnrFields) fail_unless(property(element, field) == -1);
  g_autoptr(GstStructure) stats = stats_of(pair.fwd);
  fail_unless_equals_uint64(count(stats, "frames"), 1);
  fail_unless_equals_uint64(count(stats, "measured-frames"), 0);
  fail_unless(number(stats, "psnr-global") == -1);
  for (const char* field : {"zeros", "zeros-mean", "throughput", "throughput-mean"})
    fail_unless(number(stats, field) == -1, "%s", field);
  for (const char* step : {"kernel", "upload", "download"})
    for (const char* figure : {"", "-mean", "-min", "-max", "-p99"})
      fail_unless(time_in(stats, std::string(step) + "-time" + figure) == -1, "%s%s", step, figure);
  fail_unless_equals_uint64(pair.messages().size(), 0);
}

std::vector<Report> warnings_on(GstBus* bus) { return take_messages(bus, GST_MESSAGE_WARNING); }

void push_some(Pair& pair, guint frames) {
  for (guint i = 0; i < frames; i++) pair.pass(i);
}

// Nothing to compare with: the measuring element warns once in each stream.
CHECK_TEST(test_no_reference_warns) {
  Pair pair("measure=psnr", "measure=psnr", GST_VIDEO_FORMAT_I420, 32, 16);
  for (int stream = 0; stream < 2; stream++) {
    push_some(pair, 3);
    const std::vector<Report> reported = warnings_on(pair.bus);
    fail_unless_equals_uint64(reported.size(), 1);
    expect(reported[0].text, {"keep-reference=true"});
    gst_element_set_state(pair.h->element, GST_STATE_READY);
    gst_element_set_state(pair.h->element, GST_STATE_PLAYING);
    gst_harness_push_event(pair.h, gst_event_new_stream_start("again"));
    g_autoptr(GstCaps) caps = video_caps(pair.info);
    gst_harness_push_event(pair.h, gst_event_new_caps(caps));
    push_segment(pair.h);
  }
}

CHECK_TEST(test_nothing_to_warn_of) {
  for (const char* properties : {"", "measure=time+zeros"}) {
    Pair pair("", properties, GST_VIDEO_FORMAT_I420, 32, 16);
    push_some(pair, 1);
    fail_unless_equals_uint64(warnings_on(pair.bus).size(), 0);
  }
  Pair pair("keep-reference=true", "measure=psnr", GST_VIDEO_FORMAT_I420, 32, 16);
  push_some(pair, 1);
  fail_unless_equals_uint64(warnings_on(pair.bus).size(), 0);
}

// The reference has another size: the warning states it.
GstPadProbeReturn exchange_reference(GstPad*, GstPadProbeInfo* probe, gpointer) {
  GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(probe));
  GstMeta* meta = gst_buffer_get_meta(buffer, GST_COEF_REFERENCE_META_API_TYPE);
  if (meta) gst_buffer_remove_meta(buffer, meta);
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_NV12, 34, 16);
  GstBuffer* frame = make_frame(info);
  gst_buffer_add_coef_reference_meta(buffer, frame, &info);
  gst_buffer_unref(frame);
  GST_PAD_PROBE_INFO_DATA(probe) = buffer;
  return GST_PAD_PROBE_OK;
}

CHECK_TEST(test_other_reference_warns) {
  Pair pair("", "measure=psnr", GST_VIDEO_FORMAT_I420, 32, 16);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(pair.fwd, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, exchange_reference, nullptr, nullptr);
  push_some(pair, 3);
  const std::vector<Report> reported = warnings_on(pair.bus);
  fail_unless_equals_uint64(reported.size(), 1);
  expect(reported[0].text, {"NV12", "34x16", "32x16", "YCbCr-4:2:0"});
  fail_unless(reported[0].text.find("keep-reference") == std::string::npos, "%s",
              reported[0].text.c_str());
  fail_unless(property(pair.inv, "psnr") == -1);
}

// Coefficients of files never had a source frame.
CHECK_TEST(test_file_without_reference_warns) {
  GstElementFactory* factory = gst_element_factory_find("jpegcoefdec");
  if (!factory) return;  // a build without it
  gst_object_unref(factory);
  g_autoptr(GstElement) pipeline =
      launch("videotestsrc num-buffers=3 ! " + forward() + " ! jpegcoefenc ! jpegcoefdec ! " +
             inverse("measure=psnr") + " ! fakesink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  std::string text;
  for (GstMessageType type = GST_MESSAGE_UNKNOWN; type != GST_MESSAGE_EOS;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, 20 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
    fail_unless(message != nullptr && GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR);
    type = GST_MESSAGE_TYPE(message);
    if (type == GST_MESSAGE_WARNING) text += report_of(message).text;
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless(text.find("no reference frame") != std::string::npos, "%s", text.c_str());
  fail_unless(text.find("PSNR") == text.rfind("PSNR"), "more than once: %s", text.c_str());
}

CHECK_TEST(test_gray_has_one_component) {
  Pair pair("measure=psnr", "", GST_VIDEO_FORMAT_GRAY8, 32, 16);
  GstBuffer* in = make_frame(pair.info);
  gst_buffer_unref(pair.push(in));
  gst_buffer_unref(in);
  pair.drain();
  fail_unless(property(pair.fwd, "psnr") > 20);
  fail_unless(property(pair.fwd, "psnr-y") == property(pair.fwd, "psnr"));
  fail_unless(property(pair.fwd, "psnr-u") == -1);
  fail_unless(property(pair.fwd, "psnr-v") == -1);
}

// One message a frame, in order, all before EOS, with the frame's own times.
CHECK_TEST(test_messages) {
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
    g_autoptr(GstBuffer) in = make_frame(pair.info, i);
    GST_BUFFER_PTS(in) = 10 * GST_SECOND + i * 40 * GST_MSECOND;
    GST_BUFFER_DURATION(in) = 40 * GST_MSECOND;
    g_autoptr(GstBuffer) out = pair.push(in);
    errors.push_back(mean_squared_errors(pair.info, in, out));
  }
  pair.drain();
  guint seen[2] = {0, 0};
  while (GstMessage* message = gst_bus_pop_filtered(pair.bus, GST_MESSAGE_ELEMENT)) {
    const GstStructure* s = gst_message_get_structure(message);
    const bool is_forward = GST_MESSAGE_SRC(message) == GST_OBJECT(pair.fwd);
    if (is_summary(message)) {
      fail_unless_equals_int(seen[is_forward], kFrames);
      gst_message_unref(message);
      continue;
    }
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
  g_autoptr(GstStructure) stats = stats_of(pair.fwd);
  fail_unless_equals_uint64(count(stats, "frames"), kFrames);
  fail_unless_equals_uint64(count(stats, "measured-frames"), kFrames);
  for (size_t f = 0; f < 4; f++) {
    double mean = 0;
    for (const auto& mse : errors) mean += mse[f] / kFrames;
    const std::string psnr = std::string(kPsnrFields[f]) + "-global";
    fail_unless(std::fabs(number(stats, psnr.c_str()) - psnr_of(mean, 8)) < 1e-9);
    const std::string last = std::string("mse") + (kPsnrFields[f] + 4);
    fail_unless(std::fabs(number(stats, last.c_str()) - errors.back()[f]) < 1e-9);
  }
  fail_unless(time_in(stats, "kernel-time-min") <= time_in(stats, "kernel-time-mean"));
  fail_unless(time_in(stats, "kernel-time-mean") <= time_in(stats, "kernel-time-max"));
  fail_unless(time_in(stats, "kernel-time-p99") <= time_in(stats, "kernel-time-max"));
  fail_unless(time_in(stats, "kernel-time-p99") >= time_in(stats, "kernel-time-min"));
  fail_unless(number(stats, "throughput-mean") > 0);
  fail_unless_equals_string(gst_structure_get_string(stats, "backend"), backend());
  fail_unless_equals_string(gst_structure_get_string(stats, "method"), "islow");
  fail_unless(std::strlen(gst_structure_get_string(stats, "device")) > 0);
  const bool on_gpu = is_cuda();
  fail_unless_equals_int(time_in(stats, "upload-time") > 0, on_gpu);
}

// The share of zero coefficients, counted here from the buffer.
CHECK_TEST(test_zero_share) {
  for (const char* coding : {"video/x-dct,layout=block", "video/x-dct,layout=plane",
                             "video/x-dct,quantized=false,format=S32LE"}) {
    g_autoptr(GstHarness) h = gst_harness_new_parse(
        (forward("name=fwd measure=zeros quality=30") + " ! capsfilter caps=" + coding).c_str());
    g_autoptr(GstElement) fwd = gst_bin_get_by_name(GST_BIN(h->element), "fwd");
    const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 50, 38);
    gst_harness_set_src_caps(h, video_caps(info));
    gst_harness_push(h, make_frame(info));
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    GstDctInfo dct;
    fail_unless(gst_dct_info_from_caps(&dct, caps, nullptr));
    const std::vector<guint8> bytes = bytes_of(out);
    const gsize size = gst_coef_format_size(dct.format);
    double zeros = 0;
    for (gsize at = 0; at < dct.size; at += size) {
      bool zero = true;
      for (gsize i = 0; i < size; i++) zero = zero && bytes[at + i] == 0;
      zeros += zero;
    }
    gst_harness_push_event(h, gst_event_new_eos());
    g_autoptr(GstStructure) stats = stats_of(fwd);
    fail_unless(std::fabs(number(stats, "zeros") - zeros / (dct.size / size)) < 1e-12);
    fail_unless(number(stats, "psnr") == -1);
  }
}

// A source whose pool is small gets copies, one warning, and the same figures.
CHECK_TEST(test_reference_from_small_pool) {
  Pair pair("measure=psnr keep-reference=true", "measure=psnr", GST_VIDEO_FORMAT_I420, 48, 32);
  g_autoptr(GstBufferPool) pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  g_autoptr(GstCaps) caps = video_caps(pair.info);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(pair.info.size), 1, 1);
  gst_buffer_pool_set_config(pool, config);
  gst_buffer_pool_set_active(pool, TRUE);
  for (guint i = 0; i < 5; i++) {
    GstBuffer* in = acquire(pool);
    g_autoptr(GstBuffer) pattern = make_frame(pair.info, i);
    const std::vector<guint8> bytes = bytes_of(pattern);
    gst_buffer_fill(in, 0, bytes.data(), bytes.size());
    gst_buffer_unref(passed(pair.h, in));
  }
  pair.drain();
  fail_unless(std::fabs(property(pair.fwd, "psnr") - property(pair.inv, "psnr")) < 1e-9);
  fail_unless(warnings_on(pair.bus).size() <= 1);
  gst_buffer_pool_set_active(pool, FALSE);
}

}  // namespace
