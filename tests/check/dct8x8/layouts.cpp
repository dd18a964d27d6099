// Every raw format with every kind of coefficients through both elements: the same numbers in every
// layout, and the right ones.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/rawformats.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

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

// Coarse tables would hide a wrong layout in the quantizer's error; ones do not.
const char kFine[] = "quality=100 method=float";

void check_round_trips(const Raw& raw, const Coding& coding) {
  const std::string line =
      forward(kFine) + " ! " + coding_caps(coding, raw.depth) + " ! " + inverse("method=float");
  g_autoptr(GstHarness) h = new_harness(line);
  // A step of one in 64 coefficients may move a sample by a little more than one quantized
  // coefficient; a larger move means a misplaced coefficient.
  const int allowed = std::string(coding.format) == "F32LE" ? 1 : 4;
  // Under valgrind every format, size and coding still occurs, in some of the pairs.
  const auto shift = (&coding - kCodings) / 3 + (&raw - kRaws) / 3;
  for (const auto& size : kSizes) {
    if (under_valgrind() && (&size - kSizes + shift) % 3 != 0) continue;
    const GstVideoInfo info = video_info(raw.format, size[0], size[1]);
    gst_harness_set_sink_caps(h, video_caps(info));
    gst_harness_set_src_caps(h, video_caps(info));
    g_autoptr(GstBuffer) in = make_frame(info);
    g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
    const int difference = largest_difference(info, in, out);
    fail_unless(difference <= allowed, "%s %dx%d %s: samples differ by %d",
                gst_video_format_to_string(raw.format), size[0], size[1], line.c_str(), difference);
  }
}

CHECK_LOOP_TEST(test_matrix, 0, G_N_ELEMENTS(kRaws)) {
  for (int i = 0; i < int(G_N_ELEMENTS(kCodings)); i++)
    if (!under_valgrind() || (i + __i__) % 5 == 0) check_round_trips(kRaws[__i__], kCodings[i]);
}

struct Coefficients {
  GstDctInfo info;
  GstBuffer* buffer;
};

Coefficients transform(const GstVideoInfo& raw, GstBuffer* frame, const std::string& properties,
                       const std::string& caps) {
  g_autoptr(GstHarness) h =
      new_harness(forward(properties) + " ! capsfilter caps=\"" + caps + "\"");
  gst_harness_set_src_caps(h, video_caps(raw));
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(frame)), GST_FLOW_OK);
  Coefficients result;
  result.buffer = gst_harness_pull(h);
  g_autoptr(GstCaps) negotiated = current_caps(h);
  fail_unless(gst_dct_info_from_caps(&result.info, negotiated, nullptr));
  gchar* reason = nullptr;
  fail_unless(gst_dct_meta_validate(gst_buffer_get_dct_meta(result.buffer), &result.info,
                                    gst_buffer_get_size(result.buffer), &reason),
              "%s", reason);
  return result;
}

// The same numbers in every layout and order.
void check_same(const Coefficients& a, const Coefficients& b) {
  const std::vector<guint8> bytes_a = bytes_of(a.buffer);
  const std::vector<guint8> bytes_b = bytes_of(b.buffer);
  for (guint c = 0; c < a.info.n_components; c++) {
    const GstDctComponent& component = a.info.components[c];
    for (guint by = 0; by < component.blocks_h; by++)
      for (guint bx = 0; bx < component.blocks_w; bx++)
        for (guint k = 0; k < 64; k++) {
          const double x = coefficient_at(a.info, a.buffer, bytes_a, c, bx, by, k % 8, k / 8);
          const double y = coefficient_at(b.info, b.buffer, bytes_b, c, bx, by, k % 8, k / 8);
          if (x != y)  // fail_unless() takes longer than the comparison
            fail("component %u block %u,%u coefficient %u: %g and %g", c, bx, by, k, x, y);
        }
  }
}

// The number of formats that tests of numbers need: test_matrix covers their memory as well.
int compared() { return under_valgrind() ? 3 : G_N_ELEMENTS(kRaws); }

CHECK_LOOP_TEST(test_layouts_hold_the_same_numbers, 0, compared()) {
  const Raw& raw = kRaws[__i__];
  const GstVideoInfo info = video_info(raw.format, 35, 21);
  g_autoptr(GstBuffer) frame = make_frame(info);
  for (size_t first = 0; first < G_N_ELEMENTS(kCodings); first += 3) {
    if (under_valgrind() && first / 3 != __i__ % 3u) continue;
    const Coefficients block = transform(info, frame, "", coding_caps(kCodings[first], raw.depth));
    for (size_t other = first + 1; other < first + 3; other++) {
      const Coefficients c = transform(info, frame, "", coding_caps(kCodings[other], raw.depth));
      check_same(block, c);
      gst_buffer_unref(c.buffer);
    }
    gst_buffer_unref(block.buffer);
  }
}

// Unquantized values are orthonormal: DC = 8 x (mean - 2^(depth-1)). The mean is taken here.
CHECK_LOOP_TEST(test_dc_is_eight_means, 0, compared()) {
  const Raw& raw = kRaws[__i__];
  const GstVideoInfo info = video_info(raw.format, 16, 8);
  g_autoptr(GstBuffer) frame = make_frame(info);
  const Coefficients c =
      transform(info, frame, "method=float", coding_caps(kCodings[6], raw.depth));
  fail_unless_equals_int(c.info.depth, raw.depth);
  fail_unless_equals_string(gst_coef_sampling_to_string(c.info.sampling), raw.sampling);
  struct Sum {
    double value = 0;
    int x = 0;
  } sum;
  // The first block of the first component (of GBR, R): the first eight of every row of 16.
  visit_samples(
      info, frame, frame,
      [](int component, int a, int, gpointer data) {
        auto* s = static_cast<Sum*>(data);
        if (component == 0 && s->x++ % 16 < 8) s->value += a;
      },
      &sum);
  const double expected = 8 * (sum.value / 64 - (1 << (raw.depth - 1)));
  const std::vector<guint8> bytes = bytes_of(c.buffer);
  const double dc = coefficient_at(c.info, c.buffer, bytes, 0, 0, 0, 0, 0);
  fail_unless(std::fabs(dc - expected) < 0.01 * (1 << (raw.depth - 8)), "%s: DC %g, expected %g",
              gst_video_format_to_string(raw.format), dc, expected);
  gst_buffer_unref(c.buffer);
}

// 4:4:0 has no raw format in GStreamer: it comes out as Y444 with each chroma row twice.
CHECK_TEST(test_440) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_F32LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_COEF_SAMPLING_440, 9, 19,
                               nullptr));
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

  g_autoptr(GstHarness) h = new_harness(inverse("method=float"));
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
  g_autoptr(GstBuffer) out = passed(h, in);
  const GstVideoInfo raw = output_info(h);
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
}

}  // namespace
