// Negotiation: every raw format with every kind of coefficients through both elements, what is
// chosen when nobody asks, what is refused, and which caps fields survive.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using testing::forward;
using testing::inverse;

struct Raw {
  GstVideoFormat format;
  guint depth;
  const char* sampling;
};

constexpr Raw kRaws[] = {
    {GST_VIDEO_FORMAT_GRAY8, 8, "GRAYSCALE"},
    {GST_VIDEO_FORMAT_GRAY16_LE, 16, "GRAYSCALE"},
    {GST_VIDEO_FORMAT_I420, 8, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_YV12, 8, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_NV12, 8, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_NV21, 8, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_I420_10LE, 10, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_P010_10LE, 10, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_I420_12LE, 12, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_Y42B, 8, "YCbCr-4:2:2"},
    {GST_VIDEO_FORMAT_I422_10LE, 10, "YCbCr-4:2:2"},
    {GST_VIDEO_FORMAT_I422_12LE, 12, "YCbCr-4:2:2"},
    {GST_VIDEO_FORMAT_Y444, 8, "YCbCr-4:4:4"},
    {GST_VIDEO_FORMAT_Y444_10LE, 10, "YCbCr-4:4:4"},
    {GST_VIDEO_FORMAT_Y444_12LE, 12, "YCbCr-4:4:4"},
    {GST_VIDEO_FORMAT_Y41B, 8, "YCbCr-4:1:1"},
    {GST_VIDEO_FORMAT_GBR, 8, "RGB"},
};

struct Coding {
  const char* quantized;
  const char* format;  // "" where depth decides
  const char* layout;
  const char* order;
};

constexpr Coding kCodings[] = {
    {"true", "", "block", "raster"},       {"true", "", "block", "zigzag"},
    {"true", "", "plane", "raster"},       {"false", "S32LE", "block", "raster"},
    {"false", "S32LE", "block", "zigzag"}, {"false", "S32LE", "plane", "raster"},
    {"false", "F32LE", "block", "raster"}, {"false", "F32LE", "block", "zigzag"},
    {"false", "F32LE", "plane", "raster"},
};

constexpr int kSizes[][2] = {{1, 1}, {7, 9}, {16, 16}, {17, 33}, {64, 40}};

std::string coding_caps(const Coding& coding, guint depth) {
  std::string format = coding.format;
  if (format.empty()) format = depth == 16 ? "S32LE" : "S16LE";
  return "video/x-dct(ANY),format=" + format + ",layout=" + coding.layout +
         ",order=" + coding.order + ",quantized=" + coding.quantized;
}

GstCaps* current_caps(GstHarness* h) { return gst_pad_get_current_caps(h->sinkpad); }

// Coarse tables would hide a wrong layout in the quantiser's error; ones do not.
const char kFine[] = "quality=100 method=float";

void check_round_trips(const Raw& raw, const Coding& coding) {
  const std::string line =
      forward(kFine) + " ! " + coding_caps(coding, raw.depth) + " ! " + inverse("method=float");
  GstHarness* h = gst_harness_new_parse(line.c_str());
  // A step of one in 64 coefficients may move a sample by a little more than one level; more would
  // be a misplaced coefficient.
  const int allowed = std::string(coding.format) == "F32LE" ? 1 : 4;
  // Under valgrind every format still gets every size, and every coding too.
  const auto shift = (&coding - kCodings) / 3 + (&raw - kRaws) / 3;
  for (const auto& size : kSizes) {
    if (testing::under_valgrind() && (&size - kSizes + shift) % 3 != 0) continue;
    const GstVideoInfo info = testing::video_info(raw.format, size[0], size[1]);
    gst_harness_set_sink_caps(h, testing::video_caps(info));
    gst_harness_set_src_caps(h, testing::video_caps(info));
    GstBuffer* in = testing::make_frame(info);
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
    GstBuffer* out = gst_harness_pull(h);
    const int difference = testing::largest_difference(info, in, out);
    fail_unless(difference <= allowed, "%s %dx%d %s: samples differ by %d",
                gst_video_format_to_string(raw.format), size[0], size[1], line.c_str(), difference);
    gst_buffer_unref(out);
    gst_buffer_unref(in);
  }
  gst_harness_teardown(h);
}

GST_START_TEST(test_matrix) {
  for (int i = 0; i < int(G_N_ELEMENTS(kCodings)); i++)
    if (!testing::under_valgrind() || (i + __i__) % 3 == 0)
      check_round_trips(kRaws[__i__], kCodings[i]);
}
GST_END_TEST;

struct Coefficients {
  GstDctInfo info;
  GstBuffer* buffer;
};

Coefficients transform(const GstVideoInfo& raw, GstBuffer* frame, const std::string& properties,
                       const std::string& caps) {
  GstHarness* h =
      gst_harness_new_parse((forward(properties) + " ! capsfilter caps=\"" + caps + "\"").c_str());
  gst_harness_set_src_caps(h, testing::video_caps(raw));
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(frame)), GST_FLOW_OK);
  Coefficients result;
  result.buffer = gst_harness_pull(h);
  GstCaps* negotiated = current_caps(h);
  fail_unless(gst_dct_info_from_caps(&result.info, negotiated));
  gchar* reason = nullptr;
  fail_unless(gst_dct_meta_validate(gst_buffer_get_dct_meta(result.buffer), &result.info,
                                    gst_buffer_get_size(result.buffer), &reason),
              "%s", reason);
  gst_caps_unref(negotiated);
  gst_harness_teardown(h);
  return result;
}

// The same numbers in every layout and order.
void check_same(const Coefficients& a, const Coefficients& b) {
  const std::vector<guint8> bytes_a = testing::bytes_of(a.buffer);
  const std::vector<guint8> bytes_b = testing::bytes_of(b.buffer);
  for (guint c = 0; c < a.info.n_components; c++) {
    const GstDctComponent& component = a.info.components[c];
    for (guint by = 0; by < component.blocks_h; by++)
      for (guint bx = 0; bx < component.blocks_w; bx++)
        for (guint k = 0; k < 64; k++) {
          const double x =
              testing::coefficient_at(a.info, a.buffer, bytes_a, c, bx, by, k % 8, k / 8);
          const double y =
              testing::coefficient_at(b.info, b.buffer, bytes_b, c, bx, by, k % 8, k / 8);
          if (x != y)  // fail_unless() takes longer than the comparison
            fail("component %u block %u,%u coefficient %u: %g and %g", c, bx, by, k, x, y);
        }
  }
}

GST_START_TEST(test_layouts_hold_the_same_numbers) {
  const Raw& raw = kRaws[__i__];
  const GstVideoInfo info = testing::video_info(raw.format, 35, 21);
  GstBuffer* frame = testing::make_frame(info);
  for (size_t first = 0; first < G_N_ELEMENTS(kCodings); first += 3) {
    if (testing::under_valgrind() && first / 3 != __i__ % 3u) continue;
    const Coefficients block = transform(info, frame, "", coding_caps(kCodings[first], raw.depth));
    for (size_t other = first + 1; other < first + 3; other++) {
      const Coefficients c = transform(info, frame, "", coding_caps(kCodings[other], raw.depth));
      check_same(block, c);
      gst_buffer_unref(c.buffer);
    }
    gst_buffer_unref(block.buffer);
  }
  gst_buffer_unref(frame);
}
GST_END_TEST;

// Unquantised values are orthonormal: DC = 8 x (mean - 2^(depth-1)). The mean is taken here.
GST_START_TEST(test_dc_is_eight_means) {
  const Raw& raw = kRaws[__i__];
  const GstVideoInfo info = testing::video_info(raw.format, 16, 8);
  GstBuffer* frame = testing::make_frame(info);
  const Coefficients c =
      transform(info, frame, "method=float", coding_caps(kCodings[6], raw.depth));
  fail_unless_equals_int(c.info.depth, raw.depth);
  fail_unless_equals_string(gst_dct_sampling_to_string(c.info.sampling), raw.sampling);
  struct Sum {
    double value = 0;
    int x = 0;
  } sum;
  // The first block of the first component: the first eight of every row of 16.
  const bool rgb = raw.format == GST_VIDEO_FORMAT_GBR;
  testing::visit_samples(
      info, frame, frame,
      [](int component, int a, int, gpointer data) {
        auto* s = static_cast<Sum*>(data);
        if (component == 0 && s->x++ % 16 < 8) s->value += a;
      },
      &sum);
  (void)rgb;  // component 0 of GBR is R in GStreamer's count of components too
  const double expected = 8 * (sum.value / 64 - (1 << (raw.depth - 1)));
  const std::vector<guint8> bytes = testing::bytes_of(c.buffer);
  const double dc = testing::coefficient_at(c.info, c.buffer, bytes, 0, 0, 0, 0, 0);
  fail_unless(std::fabs(dc - expected) < 0.01 * (1 << (raw.depth - 8)), "%s: DC %g, expected %g",
              gst_video_format_to_string(raw.format), dc, expected);
  gst_buffer_unref(c.buffer);
  gst_buffer_unref(frame);
}
GST_END_TEST;

GST_START_TEST(test_defaults) {
  const Raw& raw = kRaws[__i__];
  GstHarness* h = gst_harness_new_parse(forward().c_str());
  gst_harness_set_src_caps(h, testing::video_caps(testing::video_info(raw.format, 24, 16)));
  gst_harness_push(h, testing::make_frame(testing::video_info(raw.format, 24, 16)));
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

  // And back, with nobody asking: the first format of the sampling and depth.
  h = gst_harness_new_parse((forward() + " ! " + inverse()).c_str());
  gst_harness_set_src_caps(h, testing::video_caps(testing::video_info(raw.format, 24, 16)));
  gst_harness_push(h, testing::make_frame(testing::video_info(raw.format, 24, 16)));
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
GST_END_TEST;

GST_START_TEST(test_fields_survive) {
  GstHarness* h = gst_harness_new_parse(
      (forward() + " ! " + inverse() + " ! capsfilter caps=video/x-raw").c_str());
  gst_harness_set_src_caps_str(
      h,
      "video/x-raw,format=I420,width=32,height=16,framerate=30000/1001,pixel-aspect-ratio=16/15,"
      "interlace-mode=interleaved,field-order=top-field-first,colorimetry=bt709,chroma-site=mpeg2,"
      "multiview-mode=mono");
  gst_harness_push(h, testing::make_frame(testing::video_info(GST_VIDEO_FORMAT_I420, 32, 16)));
  // With a GPU the frames stay in CUDA memory.
  GstCaps* caps = gst_caps_make_writable(current_caps(h));
  gst_caps_set_features_simple(caps, nullptr);
  GstCaps* wanted = gst_caps_from_string(
      "video/x-raw,format=I420,width=32,height=16,framerate=30000/1001,pixel-aspect-ratio=16/15,"
      "interlace-mode=interleaved,field-order=top-field-first,colorimetry=bt709,chroma-site=mpeg2,"
      "multiview-mode=mono");
  fail_unless(gst_caps_is_subset(caps, wanted), "%s", gst_caps_to_string(caps));
  gst_caps_unref(wanted);
  gst_caps_unref(caps);
  gst_harness_teardown(h);
}
GST_END_TEST;

// Whether an element takes a stream of such caps; where it does not, no buffer gets through.
bool accepts(const char* element, const std::string& caps_string) {
  GstHarness* h =
      gst_harness_new_parse((std::string(element) + " backend=" + testing::backend()).c_str());
  GstCaps* caps = gst_caps_from_string(caps_string.c_str());
  fail_unless(caps != nullptr, "%s", caps_string.c_str());
  gst_harness_set_src_caps(h, caps);
  const GstFlowReturn flow = gst_harness_push(h, gst_buffer_new_allocate(nullptr, 8, nullptr));
  gst_harness_teardown(h);
  // A buffer of 8 bytes is too short for everything: caps that are taken end in GST_FLOW_ERROR.
  return flow != GST_FLOW_NOT_NEGOTIATED;
}

GST_START_TEST(test_refusals) {
  const std::string size = ",width=32,height=16,framerate=25/1";
  for (const char* format : {"RGB", "BGRx", "YUY2", "UYVY", "A420", "P016_LE", "GRAY16_BE",
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
GST_END_TEST;

// Linking elements that cannot agree fails while negotiating and says so; nothing hangs.
GST_START_TEST(test_disagreement) {
  for (const char* caps : {"video/x-dct(ANY),sampling=GRAYSCALE", "video/x-dct(ANY),depth=16",
                           "video/x-dct(ANY),format=F32LE,quantized=true",
                           "video/x-dct(ANY),layout=plane,order=zigzag"}) {
    const std::string error = testing::run_pipeline(
        "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=32,height=16 ! " + forward() +
        " ! " + caps + " ! " + inverse() + " ! fakesink");
    fail_if(error.empty() || error == "timeout", "%s: '%s'", caps, error.c_str());
  }
}
GST_END_TEST;

GST_START_TEST(test_no_capsfilter) {
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
    const std::string error = testing::run_pipeline(line);
    fail_unless(error.empty(), "%s: %s", line.c_str(), error.c_str());
  }
}
GST_END_TEST;

// What gst-inspect shows for a build with CUDA: both memories. From READY on an element on the CPU
// engine offers system memory alone.
GST_START_TEST(test_memory_kinds) {
  for (const char* factory : {"cudadct8x8", "cudaidct8x8"}) {
    GstElement* e = gst_element_factory_make(factory, nullptr);
    gst_util_set_object_arg(G_OBJECT(e), "backend", "cpu");
    fail_unless_equals_int(gst_element_set_state(e, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    for (const char* name : {"sink", "src"}) {
      GstPad* pad = gst_element_get_static_pad(e, name);
      GstCaps* caps = gst_pad_query_caps(pad, nullptr);
      fail_if(gst_caps_is_empty(caps));
      for (guint i = 0; i < gst_caps_get_size(caps); i++)
        fail_if(gst_caps_features_contains(gst_caps_get_features(caps, i), "memory:CUDAMemory"),
                "%s:%s %s", factory, name, gst_caps_to_string(caps));
      gst_caps_unref(caps);
      gst_object_unref(pad);
    }
    gst_element_set_state(e, GST_STATE_NULL);
    gst_object_unref(e);
  }
}
GST_END_TEST;

// 4:4:0 has no raw format in GStreamer: it comes out as Y444 with each chroma row twice.
GST_START_TEST(test_440) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_DCT_FORMAT_F32LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_DCT_SAMPLING_440, 9, 19));
  GstBuffer* in = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  GstMapInfo map;
  gst_buffer_map(in, &map, GST_MAP_WRITE);
  auto* values = reinterpret_cast<gfloat*>(map.data);
  for (gsize i = 0; i < info.size / 4; i++) values[i] = i % 64 == 0 ? 80.0f : 0.0f;
  // A vertical cosine in the chroma makes its rows differ.
  for (guint c : {1u, 2u})
    for (gsize block = 0; block < 4; block++)
      values[info.components[c].offset / 4 + 64 * block + 8] = 300.0f;
  gst_buffer_unmap(in, &map);

  GstHarness* h = gst_harness_new_parse(inverse("method=float").c_str());
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
  fail_unless_equals_int(gst_harness_push(h, in), GST_FLOW_OK);
  GstBuffer* out = gst_harness_pull(h);
  GstCaps* caps = current_caps(h);
  GstVideoInfo raw;
  fail_unless(gst_video_info_from_caps(&raw, caps));
  fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&raw), GST_VIDEO_FORMAT_Y444);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &raw, out, GST_MAP_READ));
  for (int c : {1, 2}) {
    const guint8* data = GST_VIDEO_FRAME_COMP_DATA(&frame, c);
    const int stride = GST_VIDEO_FRAME_COMP_STRIDE(&frame, c);
    for (int row = 0; row < 19; row++) {
      const double expected =
          138 + 300 / std::sqrt(32.0) * std::cos((2 * (row / 2 % 8) + 1) * G_PI / 16);
      for (int x = 0; x < 9; x++)
        fail_unless(std::fabs(data[row * stride + x] - expected) <= 1, "row %d: %d, expected %g",
                    row, data[row * stride + x], expected);
    }
  }
  gst_video_frame_unmap(&frame);
  gst_buffer_unref(out);
  gst_caps_unref(caps);
  gst_harness_teardown(h);
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("negotiation");
  TCase* tc = tcase_create("negotiation");
  suite_add_tcase(suite, tc);
  const int raws = G_N_ELEMENTS(kRaws);
  tcase_add_loop_test(tc, test_matrix, 0, raws);
  // Both look at numbers; what they do to memory, the matrix does as well.
  const int compared = testing::under_valgrind() ? 3 : raws;
  tcase_add_loop_test(tc, test_layouts_hold_the_same_numbers, 0, compared);
  tcase_add_loop_test(tc, test_dc_is_eight_means, 0, compared);
  tcase_add_loop_test(tc, test_defaults, 0, raws);
  tcase_add_test(tc, test_fields_survive);
  tcase_add_test(tc, test_refusals);
  tcase_add_test(tc, test_disagreement);
  tcase_add_test(tc, test_no_capsfilter);
  tcase_add_test(tc, test_memory_kinds);
  tcase_add_test(tc, test_440);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
