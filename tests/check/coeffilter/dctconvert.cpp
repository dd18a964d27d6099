// cudadctconvert: every way there and back, caps, metas, renegotiation, bad input.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cmath>
#include <string>
#include <vector>

#include <gst/coef/coef.h>
#include "tests/check/coeffilter/qcoefs.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

std::string convert(const std::string& properties = "") {
  return std::string("cudadctconvert backend=") + backend() + " " + properties;
}

std::string filter(const std::string& caps) { return " ! capsfilter caps=\"" + caps + "\""; }

// ---- Coefficients ----

struct Way {
  const char* caps;  // of the coefficients, without format where depth decides
  bool quantized;
};
constexpr Way kWays[] = {
    {"quantized=true,layout=block,order=raster", true},
    {"quantized=true,layout=block,order=zigzag", true},
    {"quantized=true,layout=plane,order=raster", true},
    {"quantized=true,layout=band,order=zigzag", true},
    {"quantized=false,format=F32LE,layout=band,order=zigzag", false},
    {"quantized=false,format=F16LE,layout=band,order=zigzag", false},
    {"quantized=false,format=F16LE,layout=plane,order=raster", false},
    {"quantized=false,format=S32LE,layout=block,order=raster", false},
};
constexpr GstCoefSampling kSamplings[] = {
    GST_COEF_SAMPLING_GRAYSCALE, GST_COEF_SAMPLING_420,  GST_COEF_SAMPLING_422,
    GST_COEF_SAMPLING_444,       GST_COEF_SAMPLING_440,  GST_COEF_SAMPLING_411,
    GST_COEF_SAMPLING_RGB,       GST_COEF_SAMPLING_CMYK, GST_COEF_SAMPLING_YCCK_420,
};

std::string caps_of(const Way& way, const char* features = "ANY") {
  return std::string("video/x-dct(") + features + ")," + way.caps;
}

GstDctInfo qcoefs_info(GstCoefSampling sampling, guint depth, int width, int height) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, depth == 16 ? GST_COEF_FORMAT_S32LE : GST_COEF_FORMAT_S16LE,
                               GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER, TRUE, depth, sampling,
                               width, height, nullptr));
  return info;
}

// Quantized coefficients that differ at all places, with a table for each component. Their values
// are those of pictures of 8 bits: halves hold them to within an eighth of a divisor.
GstBuffer* make_qcoefs(const GstDctInfo& info, guint seed = 1) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  for (guint t = 0; t < info.n_components; t++) {
    guint16 table[64];
    for (guint k = 0; k < 64; k++) table[k] = static_cast<guint16>(8 + (5 * k + 3 * t) % 23);
    fail_unless(gst_dct_meta_set_table(meta, t, table));
    meta->components[t].table = t;
  }
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  const guint size = gst_coef_format_size(info.format);
  for (gsize i = 0; i < info.size / size; i++) {
    seed = seed * 1664525 + 1013904223;
    const int qcoef = static_cast<int>(seed >> 16) % 127 - 63;
    if (size == 2)
      GST_WRITE_UINT16_LE(map.data + 2 * i, static_cast<guint16>(qcoef));
    else
      GST_WRITE_UINT32_LE(map.data + 4 * i, static_cast<guint32>(qcoef));
  }
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = 0;
  return buffer;
}

// ---- Harnesses ----

struct Output {
  GstDctInfo info;
  GstBuffer* buffer = nullptr;

  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { gst_clear_buffer(&buffer); }
};

// Pushes a buffer, and takes the result, which is valid.
void push(GstHarness* h, GstBuffer* in, Output* out) {
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
  out->buffer = gst_harness_pull(h);
  g_autoptr(GstCaps) caps = current_caps(h);
  fail_unless(gst_dct_info_from_caps(&out->info, caps, nullptr));
  gchar* reason = nullptr;
  fail_unless(gst_dct_meta_validate(gst_buffer_get_dct_meta(out->buffer), &out->info,
                                    gst_buffer_get_size(out->buffer), &reason),
              "%s", reason);
}

GstHarness* harness_for(const std::string& line, const GstDctInfo& info) {
  GstHarness* h = new_harness(line);
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
  return h;
}

double half_step(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1, std::max(exponent - 1, -14) - 11);
}

// Whether `out` has the coefficients of `in`, which are quantized coefficients, at any place.
void check_values(const GstDctInfo& in_info, GstBuffer* in, const Output& out) {
  const std::vector<guint8> in_bytes = bytes_of(in), out_bytes = bytes_of(out.buffer);
  const GstDctMeta* meta = gst_buffer_get_dct_meta(in);
  for (guint c = 0; c < in_info.n_components; c++) {
    const GstDctComponent& component = in_info.components[c];
    const guint16* divisors = meta->tables[meta->components[c].table].values;
    for (guint by = 0; by < component.blocks_h; by++)
      for (guint bx = 0; bx < component.blocks_w; bx++)
        for (guint k = 0; k < 64; k++) {
          double wanted = coefficient_at(in_info, in, in_bytes, c, bx, by, k % 8, k / 8);
          if (!out.info.quantized) wanted *= divisors[k];
          const double got =
              coefficient_at(out.info, out.buffer, out_bytes, c, bx, by, k % 8, k / 8);
          const double allowed = out.info.format == GST_COEF_FORMAT_F16LE ? half_step(wanted) : 0;
          if (std::fabs(got - wanted) > allowed)
            fail("component %u block %u,%u coefficient %u: %g, expected %g", c, bx, by, k, got,
                 wanted);
        }
  }
}

void check_tables(GstBuffer* in, const Output& out) {
  const GstDctMeta *from = gst_buffer_get_dct_meta(in), *to = gst_buffer_get_dct_meta(out.buffer);
  fail_unless_equals_int(to->n_tables, out.info.quantized ? from->n_tables : 0);
  for (guint t = 0; t < to->n_tables; t++)
    fail_unless(memcmp(&from->tables[t], &to->tables[t], sizeof from->tables[t]) == 0);
  for (guint c = 0; c < to->n_components; c++)
    fail_unless_equals_int(to->components[c].table,
                           out.info.quantized ? from->components[c].table : 0);
}

// ---- Every way there and back ----

constexpr int kSizes[][2] = {{1, 1}, {7, 9}, {130, 34}, {519, 17}};

// From quantized coefficients in blocks to `way`, and to quantized coefficients in another layout.
void check_way(const GstDctInfo& info, const Way& way, const Way& back) {
  g_autoptr(GstBuffer) in = make_qcoefs(info);
  g_autoptr(GstHarness) there = harness_for(convert() + filter(caps_of(way)), info);
  Output out;
  push(there, in, &out);
  check_values(info, in, out);
  check_tables(in, out);
  if (!way.quantized) return;
  g_autoptr(GstHarness) both = harness_for(
      convert() + filter(caps_of(way)) + " ! " + convert() + filter(caps_of(back)), info);
  Output again;
  push(both, in, &again);
  check_values(info, in, again);
  check_tables(in, again);
}

CHECK_LOOP_TEST(test_ways, 0, G_N_ELEMENTS(kWays)) {
  int n = 0;
  for (const GstCoefSampling sampling : kSamplings)
    for (const guint depth : {8u, 12u, 16u})
      for (const auto& size : kSizes) {
        if ((n++ + __i__) % (quick() ? 29 : 7) != 0) continue;
        check_way(qcoefs_info(sampling, depth, size[0], size[1]), kWays[__i__],
                  kWays[(__i__ + 1 + n % 3) % 4]);
      }
}

void set_quality(GstHarness* h, std::initializer_list<const char*> names, int quality) {
  for (const char* name : names) {
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(h->element), name);
    g_object_set(element, "quality", quality, nullptr);
  }
}

// Values become quantized coefficients again by the tables of `quality`, which may change with
// every frame.
CHECK_TEST(test_qcoefs_of_values) {
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 129, 67);
  g_autoptr(GstBuffer) frame = make_frame(raw);
  for (const char* format : {"S32LE", "F32LE", "F16LE"}) {
    const std::string qcoefs =
        forward("name=forward") + filter("video/x-dct(ANY),layout=block,order=raster");
    const std::string values =
        convert() +
        filter(std::string("video/x-dct(ANY),quantized=false,layout=band,format=") + format);
    const std::string back =
        convert("name=back") + filter("video/x-dct(ANY),layout=block,quantized=true,order=raster");
    g_autoptr(GstHarness) direct = new_harness(qcoefs);
    g_autoptr(GstHarness) round = new_harness(qcoefs + " ! " + values + " ! " + back);
    gst_harness_set_src_caps(direct, video_caps(raw));
    gst_harness_set_src_caps(round, video_caps(raw));
    for (const int quality : {60, 20, 95}) {
      set_quality(direct, {"forward"}, quality);
      set_quality(round, {"forward", "back"}, quality);
      Output wanted, got;
      push(direct, frame, &wanted);
      push(round, frame, &got);
      check_values(wanted.info, wanted.buffer, got);
      check_tables(wanted.buffer, got);
    }
  }
}

// Between memories: only the CUDA engine has two.
CHECK_TEST_IF(test_memories, is_cuda()) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 8, 333, 77);
  g_autoptr(GstBuffer) in = make_qcoefs(info);
  for (const Way& way : kWays)
    for (const char* first : {"memory:CUDAMemory", "memory:SystemMemory"})
      for (const char* second : {"memory:CUDAMemory", "memory:SystemMemory"}) {
        g_autoptr(GstHarness) h = harness_for(convert() + filter(caps_of(kWays[3], first)) + " ! " +
                                                  convert() + filter(caps_of(way, second)),
                                              info);
        Output out;
        push(h, in, &out);
        check_values(info, in, out);
      }
}

// ---- Equal caps ----

// The buffer itself is forwarded, with all its metas.
CHECK_TEST(test_equal_caps_pass) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_422, 8, 50, 30);
  g_autoptr(GstHarness) h = harness_for(convert("name=convert measure=time+zeros+psnr"), info);
  for (int i = 0; i < 3; i++) {
    g_autoptr(GstBuffer) in = make_qcoefs(info);
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    fail_unless(out == in);
  }
  GstElement* element = gst_harness_find_element(h, "cudadctconvert");
  fail_unless_equals_int(stat_of(element, "frames"), 3);
  gst_object_unref(element);
}

// ---- Metas, statistics, changes ----

CHECK_TEST(test_metas_stay) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 8, 40, 40);
  g_autoptr(GstHarness) h = harness_for(convert() + filter("video/x-dct(ANY),layout=band"), info);
  g_autoptr(GstBuffer) in = make_qcoefs(info);
  static const char kSegment[] = "\xff\xfe\0\4ab";
  g_autoptr(GBytes) segments = g_bytes_new_static(kSegment, 6);
  gst_buffer_add_dct_jpeg_meta(in, segments);
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 40, 40);
  g_autoptr(GstBuffer) source = make_frame(raw);
  gst_buffer_add_coef_reference_meta(in, source, &raw);
  GST_BUFFER_PTS(in) = 7 * GST_SECOND;
  Output out;
  push(h, in, &out);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out.buffer), 7 * GST_SECOND);
  const GstDctJpegMeta* jpeg = gst_buffer_get_dct_jpeg_meta(out.buffer);
  fail_unless(jpeg != nullptr && g_bytes_equal(jpeg->segments, segments));
  fail_unless(gst_buffer_get_coef_reference_meta(out.buffer)->source == source);
}

// Tables in caps are those of buffers without a meta. They stay with quantized coefficients and
// leave with values.
CHECK_TEST(test_tables_in_caps) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 8, 40, 24);
  g_autoptr(GstBuffer) reported = make_qcoefs(info);
  const GstDctMeta* meta = gst_buffer_get_dct_meta(reported);
  guint16 values[3 * 64];
  for (guint t = 0; t < 3; t++) std::copy_n(meta->tables[t].values, 64, values + 64 * t);
  const guint of_component[] = {0, 1, 2};
  const std::vector<guint8> bytes = bytes_of(reported);
  for (const Way& way : {kWays[3], kWays[4]}) {
    g_autoptr(GstHarness) h = new_harness(convert() + filter(caps_of(way)));
    GstCaps* caps = gst_dct_info_to_caps(&info);
    fail_unless(gst_dct_caps_set_tables(caps, values, 3 * 64, of_component, 3, nullptr));
    gst_harness_set_src_caps(h, caps);
    g_autoptr(GstBuffer) bare = gst_buffer_new_memdup(bytes.data(), bytes.size());
    Output out;
    push(h, bare, &out);
    check_values(info, reported, out);
    check_tables(reported, out);
    g_autoptr(GstCaps) made = current_caps(h);
    fail_unless_equals_int(
        gst_structure_has_field(gst_caps_get_structure(made, 0), "quantization-tables"),
        way.quantized);
  }
}

CHECK_TEST(test_saturation_is_counted) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_GRAYSCALE, 8, 64, 64);
  g_autoptr(GstHarness) h = harness_for(convert() + filter("video/x-dct(ANY),format=F16LE"), info);
  g_autoptr(GstBuffer) in = make_qcoefs(info);
  guint16 table[64];
  std::fill_n(table, 64, guint16{2000});
  fail_unless(gst_dct_meta_set_table(gst_buffer_get_dct_meta(in), 0, table));
  const std::vector<guint8> bytes = bytes_of(in);
  guint64 large = 0;
  for (gsize i = 0; i < bytes.size(); i += 2)
    large += std::abs(static_cast<gint16>(GST_READ_UINT16_LE(&bytes[i]))) > 32;
  Output out;
  push(h, in, &out);
  GstElement* element = gst_harness_find_element(h, "cudadctconvert");
  if (!is_deferred()) {
    fail_unless(large > 0);
    bytes_of(out.buffer);
    fail_unless_equals_uint64(stat_of(element, "saturated"), large);
  }
  gst_object_unref(element);
}

// Source and peer change while frames flow; in between, the element is passthrough.
CHECK_TEST(test_changes) {
  g_autoptr(GstHarness) h = new_harness(convert() + "! capsfilter name=ask");
  g_autoptr(GstElement) ask = gst_bin_get_by_name(GST_BIN(h->element), "ask");
  const std::pair<GstCoefSampling, int> sources[] = {
      {GST_COEF_SAMPLING_420, 90}, {GST_COEF_SAMPLING_GRAYSCALE, 90}, {GST_COEF_SAMPLING_CMYK, 17}};
  for (const auto& [sampling, size] : sources) {
    const GstDctInfo info = qcoefs_info(sampling, 8, size, 35);
    gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
    for (const Way& way : kWays) {
      g_autoptr(GstCaps) caps = gst_caps_from_string(caps_of(way).c_str());
      g_object_set(ask, "caps", caps, nullptr);
      for (guint i = 0; i < 2; i++) {
        g_autoptr(GstBuffer) in = make_qcoefs(info, i);
        Output out;
        push(h, in, &out);
        fail_unless_equals_int(out.info.width, size);
        check_values(info, in, out);
      }
    }
  }
}

// ---- Bad input ----

CHECK_TEST(test_bad_input) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 8, 40, 40);
  const struct {
    void (*spoil)(GstDctMeta* meta);
    const char* named;
  } cases[] = {
      {[](GstDctMeta* meta) { meta->n_tables = 0; }, "0 quantization tables"},
      {[](GstDctMeta* meta) { meta->tables[0] = {}; }, "quantization table 0 are 0"},
      {[](GstDctMeta* meta) { meta->components[1].offset += 100000; }, "component 1"},
      {[](GstDctMeta* meta) { meta->components[0].stride = 2; }, "stride"},
      {[](GstDctMeta* meta) { meta->components[2].blocks_w = 9; }, "blocks"},
      {[](GstDctMeta* meta) { meta->n_components = 1; }, "components"},
  };
  for (const char* way : {"layout=band", "layout=block"}) {
    const std::string line = convert() + filter(std::string("video/x-dct(ANY),") + way);
    for (const auto& test : cases) {
      GstBuffer* in = make_qcoefs(info);
      test.spoil(gst_buffer_get_dct_meta(in));
      expect(push_one(line, gst_dct_info_to_caps(&info), in), {test.named});
    }
    GstBuffer* bare = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    gst_buffer_memset(bare, 0, 0, info.size);
    expect(push_one(line, gst_dct_info_to_caps(&info), bare), {"quantization tables are missing"});
  }
}

// The cheapest of what the peer takes: nothing, or less.
CHECK_TEST(test_cheapest_way) {
  const struct {
    const char *from, *peer, *chosen;
  } cases[] = {
      {"quantized=true,format=S16LE,layout=plane,order=raster", "video/x-dct(ANY)",
       "quantized=true,format=S16LE,layout=plane,order=raster"},
      {"quantized=true,format=S16LE,layout=plane,order=raster",
       "video/x-dct(ANY),layout={(string)band,(string)block}",
       "quantized=true,format=S16LE,layout=block,order=raster"},
      {"quantized=true,format=S16LE,layout=block,order=zigzag", "video/x-dct(ANY),layout=band",
       "quantized=true,format=S16LE,layout=band,order=zigzag"},
      {"quantized=false,format=F16LE,layout=band,order=zigzag",
       "video/x-dct(ANY),layout={(string)plane,(string)block}",
       "quantized=false,format=F16LE,layout=block,order=zigzag"},
      {"quantized=true,format=S16LE,layout=block,order=raster",
       "video/x-dct(ANY),format={(string)F16LE,(string)F32LE}",
       "quantized=false,format=F32LE,layout=block,order=raster"},
      // Halves are exact in single precision; integers would round them.
      {"quantized=false,format=F16LE,layout=block,order=raster",
       "video/x-dct(ANY),format={(string)S32LE,(string)F32LE}",
       "quantized=false,format=F32LE,layout=block,order=raster"},
      {"quantized=false,format=F16LE,layout=block,order=raster",
       "video/x-dct(ANY),format=S32LE,quantized=false;video/x-dct(ANY),format=F32LE,order=zigzag",
       "quantized=false,format=F32LE,layout=block,order=zigzag"},
      // A peer in blocks, too, that is nearer.
      {"quantized=true,format=S16LE,layout=block,order=zigzag",
       "video/x-dct(ANY),quantized=false,layout=band;video/x-dct(ANY),quantized=true,layout=plane",
       "quantized=true,format=S16LE,layout=plane,order=raster"},
  };
  for (const auto& test : cases) {
    const std::string fields =
        ",depth=8,sampling=(string)YCbCr-4:2:0,colorspace=sYUV,width=40,height=24,framerate=30/1";
    g_autoptr(GstHarness) h =
        new_harness(coef_filter("cudadctconvert") + " ! capsfilter caps=\"" + test.peer + "\"");
    gst_harness_set_src_caps(
        h, gst_caps_from_string((std::string("video/x-dct,") + test.from + fields).c_str()));
    g_autoptr(GstCaps) chosen = current_caps(h);
    fail_unless(chosen != nullptr, "%s", test.from);
    g_autoptr(GstCaps) wanted =
        gst_caps_from_string((std::string("video/x-dct,") + test.chosen + fields).c_str());
    fail_unless(gst_caps_is_equal(chosen, wanted), "%s: %s", test.from, gst_caps_to_string(chosen));
  }
}

// Elements that accept no bands, or no halves, are queried in vain.
CHECK_TEST(test_others_refuse) {
  const struct {
    std::string element;
    bool takes_halves;
  } cases[] = {{inverse(), false},
               {"jpegcoefenc", false},
               {coef_filter("cudadctflip"), true},
               {coef_filter("cudadctquant"), false}};
  GstDctInfo bands, halves;
  fail_unless(gst_dct_info_set(&bands, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BAND,
                               GST_DCT_ORDER_ZIGZAG, TRUE, 8, GST_COEF_SAMPLING_420, 64, 48,
                               nullptr));
  fail_unless(gst_dct_info_set(&halves, GST_COEF_FORMAT_F16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_COEF_SAMPLING_420, 64, 48,
                               nullptr));
  for (const auto& test : cases) {
    fail_unless(refuses_caps(test.element, gst_dct_info_to_caps(&bands)), "%s",
                test.element.c_str());
    fail_unless(refuses_caps(test.element, gst_dct_info_to_caps(&halves)) != test.takes_halves,
                "%s", test.element.c_str());
  }
}

}  // namespace
