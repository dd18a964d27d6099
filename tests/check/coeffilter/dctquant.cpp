// cudadctquant: quantized coefficients, tables, measurements and refusals.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tests/engine judges its arithmetic.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/check/coeffilter/qcoefs.h"

namespace {

using namespace testing;

std::string line_of(const std::string& properties) {
  return coef_filter("cudadctquant", "name=quant " + properties) + " ! capsfilter caps=video/x-dct";
}

std::string luma_table(int entry) {
  std::string table = "<" + std::to_string(entry);
  for (int i = 1; i < 64; i++) table += "," + std::to_string(entry);
  return table + ">";
}

struct Result {
  double sse = 0, qcoefs = 0, zeros = 0;
};

// Checks each quantized coefficient of `out` against its divisors and those of `in`.
Result check_qcoefs(const GstDctInfo& info, GstBuffer* in, GstBuffer* out) {
  Result result;
  const std::vector<guint8> from = bytes_of(in), to = bytes_of(out);
  const GstDctMeta *before = gst_buffer_get_dct_meta(in), *after = gst_buffer_get_dct_meta(out);
  for (guint c = 0; c < info.n_components; c++)
    for (guint by = 0; by < info.components[c].blocks_h; by++)
      for (guint bx = 0; bx < info.components[c].blocks_w; bx++)
        for (guint i = 0; i < 64; i++) {
          const int q = before->tables[before->components[c].table].values[i];
          const int wanted = after->tables[after->components[c].table].values[i];
          const int qcoef = qcoef_at(info, in, from, c, bx, by, i);
          const int size = (2 * std::abs(qcoef) * q + wanted) / (2 * wanted);
          const int made = qcoef_at(info, out, to, c, bx, by, i);
          fail_unless_equals_int(made, qcoef < 0 ? -size : size);
          const double error = double(qcoef) * q - double(made) * wanted;
          result.sse += error * error;
          result.qcoefs++;
          result.zeros += made == 0;
        }
  return result;
}

// A picture that is small enough keeps its tables, which may have zeros; also one whose tables are
// those of its caps, so that it cannot be forwarded unchanged.
CHECK_TEST(test_zeros_in_tables_that_stay) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_GRAYSCALE, 50, 39);
  guint16 table[64];
  std::fill_n(table, 64, guint16(16));
  table[7] = 0;
  const guint component_tables[] = {0};
  GstCaps* caps = qcoefs_caps(info);
  fail_unless(gst_dct_caps_set_tables(caps, table, 64, component_tables, 1, nullptr));
  g_autoptr(GstHarness) h = new_harness(line_of("target-size=10000000"));
  gst_harness_set_src_caps(h, caps);
  g_autoptr(GstBuffer) in = make_qcoefs(info);
  gst_buffer_remove_meta(in, &gst_buffer_get_dct_meta(in)->meta);
  g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
  if (!is_deferred()) fail_unless(bytes_of(out) == bytes_of(in));
  const GstDctMeta* meta = gst_buffer_get_dct_meta(out);
  fail_unless(std::equal(table, table + 64, meta->tables[meta->components[0].table].values));
}

constexpr GstCoefSampling kSamplings[] = {GST_COEF_SAMPLING_GRAYSCALE, GST_COEF_SAMPLING_420,
                                          GST_COEF_SAMPLING_441,       GST_COEF_SAMPLING_RGB,
                                          GST_COEF_SAMPLING_CMYK,      GST_COEF_SAMPLING_YCCK_422};

CHECK_LOOP_TEST(test_qcoefs, 0, G_N_ELEMENTS(kSamplings)) {
  const GstDctInfo info = qcoefs_info(kSamplings[__i__], 50, 39);
  for (const bool coarser_only : {true, false}) {
    g_autoptr(GstHarness) h =
        new_harness(line_of(std::string("quality=30 measure=psnr+zeros coarser-only=") +
                            (coarser_only ? "true" : "false")));
    g_autoptr(GstElement) quant = gst_bin_get_by_name(GST_BIN(h->element), "quant");
    gst_harness_set_src_caps(h, qcoefs_caps(info));
    for (const int quality : {30, 80}) {
      g_object_set(quant, "quality", quality, nullptr);
      g_autoptr(GstBuffer) in = make_qcoefs(info);
      g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
      gst_harness_push_event(h, gst_event_new_segment_done(GST_FORMAT_TIME, 0));  // measures
      const GstDctMeta *before = gst_buffer_get_dct_meta(in), *after = gst_buffer_get_dct_meta(out);
      guint least = G_MAXUINT;
      for (guint c = 0; c < info.n_components; c++)
        for (guint i = 0; i < 64; i++) {
          const guint16 entry = after->tables[after->components[c].table].values[i];
          const guint16 old = before->tables[before->components[c].table].values[i];
          if (coarser_only) fail_unless(entry >= old);
          least = std::min<guint>(least, entry);
        }
      if (!coarser_only) {
        // Luma's first entry of Annex K is 16; K has luma's table.
        fail_unless_equals_int(after->tables[after->components[0].table].values[0],
                               quality == 30 ? 27 : 6);
        if (kSamplings[__i__] == GST_COEF_SAMPLING_YCCK_422)
          fail_unless_equals_int(after->components[3].table, after->components[0].table);
        fail_unless_equals_int(after->n_tables,
                               kSamplings[__i__] == GST_COEF_SAMPLING_420 ||
                                       kSamplings[__i__] == GST_COEF_SAMPLING_441 ||
                                       kSamplings[__i__] == GST_COEF_SAMPLING_YCCK_422
                                   ? 2
                                   : 1);
      }
      if (is_deferred()) continue;
      const Result result = check_qcoefs(info, in, out);
      gdouble psnr = 0;
      g_object_get(quant, "psnr", &psnr, nullptr);
      if (info.n_components == 4) {
        fail_unless(psnr == -1);
        continue;
      }
      const double expected = 10 * std::log10(255 * 255 / (result.sse / result.qcoefs));
      fail_unless(std::abs(psnr - expected) < 1e-9, "%g dB, expected %g", psnr, expected);
      g_autoptr(GstStructure) stats = stats_of(quant);
      gdouble zeros = 0;
      fail_unless(gst_structure_get_double(stats, "zeros", &zeros));
      fail_unless(std::abs(zeros - result.zeros / result.qcoefs) < 1e-12);
    }
  }
}

// Equal tables of components become one; equal to the old ones, they change nothing.
CHECK_TEST(test_tables) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_444, 16, 16);
  const struct {
    std::string properties;
    guint tables;  // 0: the buffer itself comes out
  } cases[] = {{"luma-qtable=" + luma_table(300) + " chroma-qtable=" + luma_table(300), 1},
               {"luma-qtable=" + luma_table(300) + " chroma-qtable=" + luma_table(1000), 2},
               {"quality=100", 0},
               {"quant-preset=flat coarser-only=false", 1}};
  for (const auto& c : cases) {
    g_autoptr(GstHarness) h = new_harness(line_of(c.properties));
    gst_harness_set_src_caps(h, qcoefs_caps(info));
    g_autoptr(GstBuffer) in = make_qcoefs(info);
    g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
    fail_unless_equals_int(out == in, c.tables == 0);
    if (c.tables) fail_unless_equals_int(gst_buffer_get_dct_meta(out)->n_tables, c.tables);
  }
}

// Buffers without meta have the tables of their caps, which the result has not.
CHECK_TEST(test_tables_of_caps) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_GRAYSCALE, 16, 16);
  for (const char* properties : {"quality=1", "quality=100"}) {
    g_autoptr(GstHarness) h = new_harness(line_of(properties));
    g_autoptr(GstBuffer) in = make_qcoefs(info);
    GstCaps* caps = qcoefs_caps(info);
    const guint of_component = 0;
    fail_unless(gst_dct_caps_set_tables(caps, gst_buffer_get_dct_meta(in)->tables[0].values, 64,
                                        &of_component, 1, nullptr));
    gst_harness_set_src_caps(h, caps);
    GstBuffer* bare = gst_buffer_copy(in);
    gst_buffer_remove_meta(bare, reinterpret_cast<GstMeta*>(gst_buffer_get_dct_meta(bare)));
    g_autoptr(GstBuffer) out = passed(h, bare);
    g_autoptr(GstCaps) made = current_caps(h);
    fail_if(gst_structure_has_field(gst_caps_get_structure(made, 0), "quantization-tables"));
    fail_unless(gst_buffer_get_dct_meta(out) != nullptr);
    if (!is_deferred()) check_qcoefs(info, in, out);
  }
}

CHECK_TEST(test_refusals) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 32, 32);
  const auto run = [](const char* properties) {
    return run_pipeline("videotestsrc num-buffers=1 ! " + forward() + " ! " +
                        coef_filter("cudadctquant", properties) + " ! fakesink");
  };
  expect(run("luma-qtable=<1,2>"), {"luma-qtable", "2 entries"});
  expect(run("qtable-file=/nowhere"), {"qtable-file", "/nowhere"});
  GstBuffer* bare = make_qcoefs(info);
  gst_buffer_get_dct_meta(bare)->n_tables = 0;
  expect(push_one(coef_filter("cudadctquant"), qcoefs_caps(info), bare), {"table"});
  GstCaps* values = qcoefs_caps(info);
  gst_caps_set_simple(values, "quantized", G_TYPE_BOOLEAN, FALSE, "format", G_TYPE_STRING, "F32LE",
                      nullptr);
  fail_unless(refuses_caps(coef_filter("cudadctquant"), values));
}

}  // namespace
