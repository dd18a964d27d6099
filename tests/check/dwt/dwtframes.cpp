// Frames in cudadwt and cudaidwt: without quantization every sample comes back, of every format,
// filter and size; with it, metas and measurements state the loss.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/controller/controller.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/rawformats.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr const char* kWavelets[] = {"dd97",       "legall53", "dd137",  "haar",
                                     "haar-shift", "fidelity", "daub97", "j2k53"};

// Whether the elements take such frames in CUDA memory; GStreamer 1.22 has few such formats.
bool fits_cuda_memory(const GstVideoInfo& info) {
  g_autoptr(GstElement) element = gst_element_factory_make("cudadwt", nullptr);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
  g_autoptr(GstCaps) templates = gst_pad_get_pad_template_caps(pad);
  g_autoptr(GstCaps) caps = video_caps(info);
  gst_caps_set_features(caps, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
  return is_cuda() && gst_caps_can_intersect(templates, caps);
}

// The frame that comes back from `line` equals the input.
void check_lossless_line(const std::string& line, const GstVideoInfo& info, guint seed) {
  g_autoptr(GstHarness) h = new_harness(line);
  gst_harness_set_sink_caps(h, video_caps(info));
  gst_harness_set_src_caps(h, video_caps(info));
  g_autoptr(GstBuffer) in = make_frame(info, seed);
  g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
  const int difference = largest_difference(info, in, out);
  fail_unless(difference == 0, "%s, %s, %dx%d: samples differ by %d", line.c_str(),
              GST_VIDEO_INFO_NAME(&info), info.width, info.height, difference);
}

void check_lossless(const std::string& properties, const GstVideoInfo& info, guint seed = 1) {
  check_lossless_line(forward_dwt(properties) + " ! " + inverse_dwt() + " ! capsfilter", info,
                      seed);
}

// Both ways, and then both ways again from a frame in CUDA memory, where there are such frames.
void check_lossless_on_device(const std::string& properties, const GstVideoInfo& info, guint seed) {
  if (!fits_cuda_memory(info)) return;
  const std::string forward_on_device =
      forward_dwt(properties) + " ! video/x-dwt(memory:CUDAMemory) ! ";
  check_lossless_line(forward_on_device + inverse_dwt() +
                          " ! video/x-raw(memory:CUDAMemory),format=" + GST_VIDEO_INFO_NAME(&info) +
                          " ! " + forward_on_device + inverse_dwt() + " ! capsfilter",
                      info, seed);
}

std::string with_wavelet(const char* wavelet, int levels) {
  return std::string("wavelet=") + wavelet + " levels=" + std::to_string(levels);
}

CHECK_LOOP_TEST(test_lossless, 0, G_N_ELEMENTS(kWavelets)) {
  const char* wavelet = kWavelets[__i__];
  constexpr int kSizes[][2] = {{1, 1}, {2, 3}, {17, 9}, {64, 48}, {97, 31}, {5, 130}};
  int pick = 0;
  for (const Raw& raw : kRaws) {
    for (const auto& size : kSizes) {
      pick++;
      if (quick() && pick % 6 != __i__ % 6) continue;
      const GstVideoInfo info = video_info(raw.format, size[0], size[1]);
      const std::string properties = with_wavelet(wavelet, 1 + pick % 6);
      check_lossless(properties, info, static_cast<guint>(pick));
      // Each format with each filter, in one size.
      if (pick % 6 == __i__ % 6) check_lossless_on_device(properties, info, 1);
    }
  }
}

CHECK_LOOP_TEST(test_large, 0, G_N_ELEMENTS(kWavelets)) {
  check_lossless(with_wavelet(kWavelets[__i__], 6), video_info(GST_VIDEO_FORMAT_I420, 1922, 1081));
  if (__i__ == 1 && !quick())
    check_lossless("levels=6", video_info(GST_VIDEO_FORMAT_I420, 7680, 4320));
}

CHECK_TEST(test_two_filters) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_Y42B, 75, 42);
  for (const char* wavelet : kWavelets)
    for (const char* wavelet_ho : kWavelets)
      if (g_str_equal(wavelet, "j2k53") == g_str_equal(wavelet_ho, "j2k53"))
        check_lossless(with_wavelet(wavelet, 3) + " wavelet-ho=" + wavelet_ho, info);
  for (int levels = 0; levels <= 6; levels++)
    for (int ho = levels ? 0 : 1; ho <= 4; ho++)
      check_lossless(with_wavelet("legall53", levels) + " levels-ho=" + std::to_string(ho), info);
}

// Frames with padding between rows, in both directions.
CHECK_TEST(test_unquantized) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 50, 38);
  g_autoptr(GstHarness) h = new_harness(forward_dwt("quant-index=40") +
                                        " ! video/x-dwt(ANY),quantized=false ! " + inverse_dwt());
  gst_harness_set_src_caps(h, video_caps(info));
  g_autoptr(GstBuffer) in = make_frame(info);
  g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
  fail_unless_equals_int(largest_difference(info, in, out), 0);
}

// ---- Metas ----

// The coefficients of one frame; `info` gets their caps' contents.
GstBuffer* transformed(const std::string& properties, GstDwtInfo* info, int width = 70,
                       int height = 45) {
  g_autoptr(GstHarness) h = new_harness(forward_dwt(properties));
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, width, height);
  gst_harness_set_src_caps(h, video_caps(raw));
  fail_unless_equals_int(gst_harness_push(h, make_frame(raw)), GST_FLOW_OK);
  GstBuffer* out = gst_harness_pull(h);
  g_autoptr(GstCaps) caps = current_caps(h);
  gchar* reason = nullptr;
  fail_unless(gst_dwt_info_from_caps(info, caps, &reason), "%s", reason);
  return out;
}

void check_indices(const std::string& properties, const std::vector<int>& wanted) {
  GstDwtInfo info;
  g_autoptr(GstBuffer) buffer = transformed(properties, &info);
  const GstDwtMeta* meta = gst_buffer_get_dwt_meta(buffer);
  gchar* reason = nullptr;
  fail_unless(gst_dwt_meta_validate(meta, &info, gst_buffer_get_size(buffer), &reason), "%s",
              reason);
  fail_unless_equals_uint64(gst_dwt_info_get_n_bands(&info), wanted.size());
  for (guint c = 0; c < 3; c++)
    for (guint b = 0; b < wanted.size(); b++)
      fail_unless(gst_dwt_meta_get_quant_index(meta, c, b) == wanted[b], "%s: band %u has %d",
                  properties.c_str(), b, gst_dwt_meta_get_quant_index(meta, c, b));
}

CHECK_TEST(test_indices) {
  check_indices("levels=2", {0, 0, 0, 0, 0, 0, 0});
  check_indices("levels=2 quant-index=115", {115, 115, 115, 115, 115, 115, 115});
  check_indices("levels=2 quant-index=3 quant-matrix=flat", {3, 3, 3, 3, 3, 3, 3});
  check_indices("levels=2 quant-index=20 quant-matrix=vc2", {16, 18, 18, 20, 16, 16, 18});
  check_indices("levels=2 quant-index=3 quant-matrix=vc2", {0, 1, 1, 3, 0, 0, 1});
  check_indices("levels=2 quant-index=20 quant-matrix=\"<0,1, 2 ,3,4,5,6>\"",
                {20, 19, 18, 17, 16, 15, 14});
  check_indices("levels=1 levels-ho=2 wavelet=dd97 quant-index=10 quant-matrix=vc2",
                {7, 10, 7, 5, 5, 7});
  check_indices("levels=2 wavelet=haar quant-index=30 quant-matrix=vc2",
                {18, 22, 22, 26, 26, 26, 30});
  check_indices("levels=1 levels-ho=1 wavelet=haar quant-index=30 quant-matrix=vc2",
                {20, 24, 26, 26, 30});
  check_indices("levels=1 wavelet=haar wavelet-ho=legall53 quant-index=30 quant-matrix=vc2",
                {24, 26, 28, 30});
  check_indices("levels=0 levels-ho=2 wavelet=haar-shift quant-index=30 quant-matrix=vc2",
                {26, 30, 28});
}

// The index that a controller gives each frame at its time.
CHECK_TEST(test_controlled) {
  g_autoptr(GstHarness) h = new_harness(forward_dwt("name=dwt levels=1"));
  g_autoptr(GstElement) dwt = gst_bin_get_by_name(GST_BIN(h->element), "dwt");
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 0.0);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 5 * GST_SECOND, 1.0);
  gst_object_add_control_binding(
      GST_OBJECT(dwt), gst_direct_control_binding_new(GST_OBJECT(dwt), "quant-index", source));
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_GRAY8, 16, 16);
  gst_harness_set_src_caps(h, video_caps(raw));
  for (guint time = 0; time <= 5; time++) {
    GstBuffer* in = make_frame(raw);
    GST_BUFFER_PTS(in) = time * GST_SECOND;
    g_autoptr(GstBuffer) out = passed(h, in);
    fail_unless_equals_int(gst_dwt_meta_get_quant_index(gst_buffer_get_dwt_meta(out), 0, 3),
                           23 * time);
  }
  gst_object_unref(source);
}

CHECK_TEST(test_carried_metas) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 33, 21);
  g_autoptr(GstHarness) h = new_harness(forward_dwt("keep-reference=true") + " ! " + inverse_dwt());
  gst_harness_set_src_caps(h, video_caps(info));
  GstBuffer* in = make_frame(info);
  GST_BUFFER_PTS(in) = 7 * GST_SECOND;
  GST_BUFFER_DURATION(in) = GST_SECOND;
  gst_buffer_add_video_region_of_interest_meta(in, "face", 3, 4, 5, 6);
  g_autoptr(GstBuffer) out = passed(h, in);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), 7 * GST_SECOND);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(out), GST_SECOND);
  const auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_get_meta(out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  fail_unless(region != nullptr && region->x == 3 && region->h == 6);
  fail_unless(gst_buffer_get_dwt_meta(out) == nullptr);
  fail_unless(gst_buffer_get_coef_reference_meta(out) == nullptr);
}

CHECK_TEST(test_allocation) {
  GstDwtInfo info;
  fail_unless(gst_dwt_info_set(&info, GST_DWT_WAVELET_HAAR, GST_DWT_WAVELET_HAAR, 2, 0, TRUE, 8,
                               GST_COEF_SAMPLING_420, 64, 48, nullptr));
  g_autoptr(GstHarness) h = new_harness(inverse_dwt());
  gst_harness_set_src_caps(h, gst_dwt_info_to_caps(&info));
  fail_unless(lists_meta(h, gst_dwt_info_to_caps(&info), GST_DWT_META_API_TYPE));
  fail_unless(lists_meta(h, gst_dwt_info_to_caps(&info), GST_COEF_FENCE_API_TYPE));
}

// ---- Measuring ----

double psnr_of(double mse, double peak) { return 10 * std::log10(peak * peak / mse); }

// Both elements measure the actual errors of the frames.
CHECK_TEST(test_psnr) {
  for (const char* wavelet : kWavelets) {
    for (GstVideoFormat format :
         {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I422_10LE}) {
      const GstVideoInfo info = video_info(format, 101, 67);
      g_autoptr(GstHarness) h = new_harness(
          forward_dwt(with_wavelet(wavelet, 3) +
                      " name=f quant-index=22 keep-reference=true measure=psnr+zeros+time") +
          " ! " + inverse_dwt("name=i measure=psnr+zeros+time") + " ! capsfilter");
      gst_harness_set_sink_caps(h, video_caps(info));
      gst_harness_set_src_caps(h, video_caps(info));
      g_autoptr(GstBuffer) in = make_frame(info);
      fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
      fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
      g_autoptr(GstBuffer) out = gst_harness_pull(h);
      const std::vector<double> mse = mean_squared_errors(info, in, out);
      const double peak = (1 << GST_VIDEO_INFO_COMP_DEPTH(&info, 0)) - 1;
      double zeros[2];
      for (int side = 0; side < 2; side++) {
        g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(h->element), side ? "i" : "f");
        g_autoptr(GstStructure) stats = stats_of(element);
        const char* fields[] = {"psnr-y", "psnr-u", "psnr-v", "psnr"};
        for (size_t f = 0; f < 4; f++) {
          double psnr = 0;
          fail_unless(gst_structure_get_double(stats, fields[f], &psnr));
          fail_unless(std::fabs(psnr - psnr_of(mse[f], peak)) < 1e-6, "%s of %s: %g, expected %g",
                      fields[f], wavelet, psnr, psnr_of(mse[f], peak));
        }
        fail_unless(gst_structure_get_double(stats, "zeros", &zeros[side]));
        GstClockTime time = 0;
        fail_unless(gst_structure_get_uint64(stats, "kernel-time", &time));
        fail_unless(time > 0 && GST_CLOCK_TIME_IS_VALID(time));
      }
      fail_unless(zeros[0] > 0.3 && zeros[0] < 1 && zeros[0] == zeros[1], "%g %g", zeros[0],
                  zeros[1]);
      fail_unless(mse[3] > 0);
    }
  }
}

// The measured share of zeros is that of the buffer.
CHECK_TEST(test_zeros) {
  GstDwtInfo info;
  GstBuffer* buffer = transformed("levels=3 quant-index=24", &info);
  g_autoptr(GstCaps) caps = gst_dwt_info_to_caps(&info);
  const std::vector<guint8> bytes = samples_of(buffer, caps);
  fail_unless_equals_uint64(bytes.size(), info.size);
  gsize zeros = 0;
  for (gsize i = 0; i < bytes.size(); i += 2) zeros += bytes[i] == 0 && bytes[i + 1] == 0;
  gst_buffer_unref(buffer);

  g_autoptr(GstHarness) h =
      new_harness(forward_dwt("name=f levels=3 quant-index=24 measure=zeros"));
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 70, 45);
  gst_harness_set_src_caps(h, video_caps(raw));
  fail_unless_equals_int(gst_harness_push(h, make_frame(raw)), GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(h->element), "f");
  g_autoptr(GstStructure) stats = stats_of(element);
  double share = 0;
  fail_unless(gst_structure_get_double(stats, "zeros", &share));
  fail_unless(std::fabs(share - static_cast<double>(zeros) * 2 / static_cast<double>(info.size)) <
              1e-9);
}

// Without a source frame there is nothing to compare with, and one warning says so.
CHECK_TEST(test_no_reference) {
  g_autoptr(GstHarness) h = new_harness(forward_dwt() + " ! " + inverse_dwt("measure=psnr"));
  const Messages bus(h->element);
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 32, 24);
  gst_harness_set_src_caps(h, video_caps(info));
  for (int i = 0; i < 3; i++)
    fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_OK);
  const std::vector<Report> warnings = take_messages(bus, GST_MESSAGE_WARNING);
  fail_unless_equals_uint64(warnings.size(), 1);
  expect(warnings[0].text, {"PSNR unavailable", "keep-reference=true on cudadwt"});
}

// The engine under test makes the same bytes as the CPU engine on one thread.
CHECK_LOOP_TEST(test_engines_agree, 0, G_N_ELEMENTS(kWavelets)) {
  const auto line = [&](const char* engine, const char* format) {
    const std::string of = std::string(" backend=") + engine;
    return std::string("videotestsrc num-buffers=3 ! video/x-raw,format=") + format +
           ",width=205,height=131 ! cudadwt quant-index=17 levels=5 wavelet=" + kWavelets[__i__] +
           of +
           " ! video/x-dwt ! tee name=t ! queue ! appsink name=a sync=false t. ! queue ! "
           "cudaidwt" +
           of + " ! video/x-raw ! appsink name=b sync=false";
  };
  for (const char* format : {"I420", "NV12", "GBR", "I422_10LE", "GRAY16_LE"}) {
    const auto wanted = play_sinks(line("cpu n-threads=1", format), {"a", "b"});
    const auto found = play_sinks(line(backend(), format), {"a", "b"});
    for (const char* sink : {"a", "b"}) compare(wanted.at(sink), found.at(sink), sink);
  }
}

}  // namespace
