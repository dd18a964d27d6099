// Tests of GstDctInfo: caps to geometry and back, every kind of caps that must be refused, types.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <string>

#include <gst/coef/dct.h>
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

struct Kind {
  GstCoefFormat format;
  gboolean quantized;
  guint depth;
};

// Every allowed combination of format, quantized and depth.
constexpr Kind kKinds[] = {
    {GST_COEF_FORMAT_S16LE, TRUE, 8},   {GST_COEF_FORMAT_S16LE, TRUE, 10},
    {GST_COEF_FORMAT_S16LE, TRUE, 12},  {GST_COEF_FORMAT_S32LE, TRUE, 16},
    {GST_COEF_FORMAT_S32LE, FALSE, 8},  {GST_COEF_FORMAT_S32LE, FALSE, 10},
    {GST_COEF_FORMAT_S32LE, FALSE, 12}, {GST_COEF_FORMAT_S32LE, FALSE, 16},
    {GST_COEF_FORMAT_F32LE, FALSE, 8},  {GST_COEF_FORMAT_F32LE, FALSE, 10},
    {GST_COEF_FORMAT_F32LE, FALSE, 12}, {GST_COEF_FORMAT_F32LE, FALSE, 16},
    {GST_COEF_FORMAT_F16LE, FALSE, 8},  {GST_COEF_FORMAT_F16LE, FALSE, 10},
    {GST_COEF_FORMAT_F16LE, FALSE, 12}, {GST_COEF_FORMAT_F16LE, FALSE, 16},
};

struct Arrangement {
  GstDctLayout layout;
  GstDctOrder order;
};

constexpr Arrangement kArrangements[] = {
    {GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER},
    {GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_ZIGZAG},
    {GST_DCT_LAYOUT_PLANE, GST_DCT_ORDER_RASTER},
    {GST_DCT_LAYOUT_BAND, GST_DCT_ORDER_ZIGZAG},
};

// The chroma divisors, written down apart from the library's own table.
struct Sampling {
  GstCoefSampling sampling;
  const char* name;
  const char* colorspace;
  guint components;
  gint divide_w, divide_h;
};

constexpr Sampling kSamplings[] = {
    {GST_COEF_SAMPLING_GRAYSCALE, "GRAYSCALE", "GRAY", 1, 1, 1},
    {GST_COEF_SAMPLING_420, "YCbCr-4:2:0", "sYUV", 3, 2, 2},
    {GST_COEF_SAMPLING_422, "YCbCr-4:2:2", "sYUV", 3, 2, 1},
    {GST_COEF_SAMPLING_444, "YCbCr-4:4:4", "sYUV", 3, 1, 1},
    {GST_COEF_SAMPLING_440, "YCbCr-4:4:0", "sYUV", 3, 1, 2},
    {GST_COEF_SAMPLING_411, "YCbCr-4:1:1", "sYUV", 3, 4, 1},
    {GST_COEF_SAMPLING_RGB, "RGB", "sRGB", 3, 1, 1},
    {GST_COEF_SAMPLING_CMYK, "CMYK-4:4:4", "CMYK", 4, 1, 1},
    {GST_COEF_SAMPLING_YCCK_420, "YCCK-4:2:0", "YCCK", 4, 2, 2},
    {GST_COEF_SAMPLING_YCCK_422, "YCCK-4:2:2", "YCCK", 4, 2, 1},
    {GST_COEF_SAMPLING_YCCK_444, "YCCK-4:4:4", "YCCK", 4, 1, 1},
    {GST_COEF_SAMPLING_YCCK_440, "YCCK-4:4:0", "YCCK", 4, 1, 2},
    {GST_COEF_SAMPLING_YCCK_411, "YCCK-4:1:1", "YCCK", 4, 4, 1},
    {GST_COEF_SAMPLING_441, "YCbCr-4:4:1", "sYUV", 3, 1, 4},
    {GST_COEF_SAMPLING_YCCK_441, "YCCK-4:4:1", "YCCK", 4, 1, 4},
};

constexpr gint kSizes[][2] = {{1, 1}, {7, 9}, {8, 8}, {16, 16}, {17, 33}, {33, 17}, {1920, 1080}};

void check_components(const GstDctInfo& info, const Sampling& s) {
  fail_unless_equals_int(info.n_components, s.components);
  gsize end = 0;
  for (guint i = 0; i < info.n_components; i++) {
    const GstDctComponent& c = info.components[i];
    const bool is_full = i == 0 || i == 3;
    const gint dw = is_full ? 1 : s.divide_w, dh = is_full ? 1 : s.divide_h;
    fail_unless_equals_int(c.width, (info.width + dw - 1) / dw);
    fail_unless_equals_int(c.height, (info.height + dh - 1) / dh);
    fail_unless_equals_int(c.blocks_w, (c.width + 7) / 8);
    fail_unless_equals_int(c.blocks_h, (c.height + 7) / 8);
    fail_unless_equals_uint64(c.offset, end);
    fail_unless_equals_uint64(c.stride, gst_dct_info_row_bytes(&info, i));
    const bool is_short =
        info.format == GST_COEF_FORMAT_S16LE || info.format == GST_COEF_FORMAT_F16LE;
    const gsize bytes = gsize{c.blocks_w} * c.blocks_h * 64 * (is_short ? 2 : 4);
    fail_unless_equals_uint64(c.stride * gst_dct_info_rows(&info, i), bytes);
    fail_unless(gst_dct_info_get_component(&info, i) == &info.components[i]);
    end += bytes;
  }
  fail_unless_equals_uint64(info.size, end);
  fail_unless(gst_dct_info_get_component(&info, info.n_components) == nullptr);
}

CHECK_LOOP_TEST(test_round_trip, 0, G_N_ELEMENTS(kSamplings)) {
  const Sampling& s = kSamplings[__i__];
  for (const Arrangement& a : kArrangements) {
    for (const Kind& k : kKinds) {
      for (const auto& size : kSizes) {
        GstDctInfo info, back;
        fail_unless(gst_dct_info_set(&info, k.format, a.layout, a.order, k.quantized, k.depth,
                                     s.sampling, size[0], size[1], nullptr));
        check_components(info, s);
        g_autoptr(GstCaps) caps = gst_dct_info_to_caps(&info);
        fail_unless(gst_caps_is_fixed(caps));
        fail_unless(gst_dct_info_from_caps(&back, caps, nullptr));
        fail_unless(std::memcmp(&info, &back, sizeof(info)) == 0, "%s", gst_caps_to_string(caps));
        g_autoptr(GstCaps) again = gst_dct_info_to_caps(&back);
        fail_unless(gst_caps_is_strictly_equal(caps, again));
      }
    }
  }
}

// The factors of every component, computed by hand.
struct Factored {
  const char* name;
  const char* colorspace;
  guint components;
  guint h[4], v[4];
  guint width[4], height[4];  // of 33x17 samples
};
constexpr Factored kFactored[] = {
    {"YCbCr-1x1,2x2,2x2", "sYUV", 3, {1, 2, 2}, {1, 2, 2}, {17, 33, 33}, {9, 17, 17}},
    {"YCbCr-3x1,2x1,1x1", "sYUV", 3, {3, 2, 1}, {1, 1, 1}, {33, 22, 11}, {17, 17, 17}},
    {"RGB-2x2,2x2,1x1", "sRGB", 3, {2, 2, 1}, {2, 2, 1}, {33, 33, 17}, {17, 17, 9}},
    {"2CLR-1x1,1x1", "2CLR", 2, {1, 1}, {1, 1}, {33, 33}, {17, 17}},
    {"CMYK-4x1,1x1,1x1,4x3", "CMYK", 4, {4, 1, 1, 4}, {1, 1, 1, 3}, {33, 9, 9, 33}, {6, 6, 6, 17}},
};

CHECK_LOOP_TEST(test_factors, 0, G_N_ELEMENTS(kFactored)) {
  const Factored& f = kFactored[__i__];
  const GstCoefSampling sampling = gst_coef_sampling_from_string(f.name);
  fail_unless((sampling & GST_COEF_SAMPLING_FACTORS) != 0);
  fail_unless_equals_string(gst_coef_sampling_to_string(sampling), f.name);
  fail_unless_equals_string(gst_coef_sampling_get_colorspace(sampling), f.colorspace);
  fail_unless_equals_int(gst_coef_sampling_from_factors(f.colorspace, f.h, f.v, f.components),
                         sampling);
  GstDctInfo info, back;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, TRUE, 8, sampling, 33, 17, nullptr));
  fail_unless_equals_int(info.n_components, f.components);
  for (guint c = 0; c < f.components; c++) {
    guint h = 0, v = 0;
    fail_unless(gst_coef_sampling_get_factors(sampling, c, &h, &v));
    fail_unless(h == f.h[c] && v == f.v[c]);
    const GstDctComponent& component = info.components[c];
    fail_unless(component.h_samp == h && component.v_samp == v);
    fail_unless_equals_int(component.width, f.width[c]);
    fail_unless_equals_int(component.height, f.height[c]);
    const bool is_chroma = g_str_equal(f.colorspace, "sYUV") && c > 0;
    fail_unless_equals_int(component.table, is_chroma);
  }
  g_autoptr(GstCaps) caps = gst_dct_info_to_caps(&info);
  g_autofree gchar* text = gst_caps_to_string(caps);
  g_autoptr(GstCaps) read = gst_caps_from_string(text);
  fail_unless(gst_dct_info_from_caps(&back, read, nullptr), "%s", text);
  fail_unless(std::memcmp(&info, &back, sizeof info) == 0);
}

CHECK_TEST(test_wrong_factors) {
  for (const char* name :
       {"YCbCr-2x2,1x1,1x1", "YCbCr-2x2,2x2,2x2", "YCbCr-0x1,1x1,1x1", "YCbCr-5x1,1x1,1x1",
        "YCbCr-2x1,1x1", "YCbCr-2x1,1x1,1x1,1x1", "RGB-1x1,1x1,1x1", "GRAYSCALE-1x1", "RGB-",
        "XYZ-2x1,1x1,1x1", "YCbCr 3x1,1x1,1x1", "YCbCr-3:1,1x1,1x1", ""})
    fail_unless_equals_int(gst_coef_sampling_from_string(name), GST_COEF_SAMPLING_UNKNOWN);
  const guint ones[] = {1, 1, 1, 1}, twos[] = {2, 2, 2, 2}, wrong[] = {2, 5, 1, 1};
  const auto made = [&](const char* colorspace, const guint* h, guint n) {
    return gst_coef_sampling_from_factors(colorspace, h, ones, n);
  };
  fail_unless_equals_int(made("sYUV", twos, 3), GST_COEF_SAMPLING_444);
  fail_unless_equals_int(made("GRAY", twos, 1), GST_COEF_SAMPLING_GRAYSCALE);
  fail_unless_equals_int(made("sYUV", wrong, 3), GST_COEF_SAMPLING_UNKNOWN);
  fail_unless_equals_int(made("sYUV", ones, 4), GST_COEF_SAMPLING_UNKNOWN);
  fail_unless_equals_int(made(nullptr, ones, 3), GST_COEF_SAMPLING_UNKNOWN);
  // Values that are none: of no colorspace, with a common divisor, of a sampling with a name.
  for (const guint bits : {0u, 0xfffffu, 0x10555u, 0x10000u, 0x5ffffu}) {
    const auto value = static_cast<GstCoefSampling>(GST_COEF_SAMPLING_FACTORS | bits);
    guint h = 0, v = 0;
    fail_unless(gst_coef_sampling_to_string(value) == nullptr, "%x", bits);
    fail_unless(gst_coef_sampling_get_colorspace(value) == nullptr);
    fail_if(gst_coef_sampling_get_factors(value, 0, &h, &v));
    GstDctInfo info;
    fail_if(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                             GST_DCT_ORDER_RASTER, TRUE, 8, value, 33, 17, nullptr));
  }
}

// Figures computed by hand, so that the formulas above cannot be wrong together.
CHECK_TEST(test_figures) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, TRUE, 8, GST_COEF_SAMPLING_420, 17, 33,
                               nullptr));
  fail_unless_equals_int(info.components[0].blocks_w, 3);
  fail_unless_equals_int(info.components[0].blocks_h, 5);
  fail_unless_equals_int(info.components[1].width, 9);
  fail_unless_equals_int(info.components[1].height, 17);
  fail_unless_equals_int(info.components[2].blocks_w, 2);
  fail_unless_equals_int(info.components[2].blocks_h, 3);
  fail_unless_equals_uint64(info.components[0].stride, 384);
  fail_unless_equals_uint64(info.components[1].offset, 1920);
  fail_unless_equals_uint64(info.components[2].offset, 2688);
  fail_unless_equals_uint64(info.size, 3456);
  fail_unless_equals_int(info.components[0].h_samp, 2);
  fail_unless_equals_int(info.components[0].v_samp, 2);
  fail_unless_equals_int(info.components[1].h_samp, 1);
  fail_unless_equals_int(info.components[0].id, 1);
  fail_unless_equals_int(info.components[2].id, 3);
  fail_unless_equals_int(info.components[0].table, 0);
  fail_unless_equals_int(info.components[1].table, 1);
  fail_unless_equals_int(info.components[2].table, 1);

  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_F32LE, GST_DCT_LAYOUT_PLANE,
                               GST_DCT_ORDER_RASTER, FALSE, 12, GST_COEF_SAMPLING_RGB, 9, 1,
                               nullptr));
  fail_unless_equals_uint64(info.components[0].stride, 64);
  fail_unless_equals_int(gst_dct_info_rows(&info, 2), 8);
  fail_unless_equals_uint64(info.size, 1536);
  fail_unless_equals_int(info.components[0].id, 'R');
  fail_unless_equals_int(info.components[1].id, 'G');
  fail_unless_equals_int(info.components[2].id, 'B');
  fail_unless_equals_int(info.components[2].table, 0);

  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_F16LE, GST_DCT_LAYOUT_BAND,
                               GST_DCT_ORDER_ZIGZAG, FALSE, 8, GST_COEF_SAMPLING_420, 17, 33,
                               nullptr));
  fail_unless_equals_uint64(info.components[0].stride, 6);
  fail_unless_equals_int(gst_dct_info_rows(&info, 0), 320);
  fail_unless_equals_uint64(info.components[1].offset, 1920);
  fail_unless_equals_uint64(info.size, 3456);
}

CHECK_TEST(test_strings) {
  for (const Sampling& s : kSamplings) {
    fail_unless_equals_string(gst_coef_sampling_to_string(s.sampling), s.name);
    fail_unless_equals_string(gst_coef_sampling_get_colorspace(s.sampling), s.colorspace);
    fail_unless_equals_int(gst_coef_sampling_from_string(s.name), s.sampling);
  }
  const struct {
    GstCoefFormat format;
    const char* name;
    guint size;
  } formats[] = {{GST_COEF_FORMAT_S16LE, "S16LE", 2},
                 {GST_COEF_FORMAT_S32LE, "S32LE", 4},
                 {GST_COEF_FORMAT_F32LE, "F32LE", 4},
                 {GST_COEF_FORMAT_F16LE, "F16LE", 2}};
  for (const auto& f : formats) {
    fail_unless_equals_string(gst_coef_format_to_string(f.format), f.name);
    fail_unless_equals_int(gst_coef_format_from_string(f.name), f.format);
    fail_unless_equals_int(gst_coef_format_size(f.format), f.size);
  }
  fail_unless(gst_coef_format_to_string(GST_COEF_FORMAT_UNKNOWN) == nullptr);
  fail_unless(gst_coef_sampling_to_string(GST_COEF_SAMPLING_UNKNOWN) == nullptr);
  fail_unless(gst_coef_sampling_get_colorspace(GST_COEF_SAMPLING_UNKNOWN) == nullptr);
  fail_unless_equals_int(gst_coef_format_size(GST_COEF_FORMAT_UNKNOWN), 0);
  for (const char* wrong : {"", "s16le", "YCbCr-4:2:1", "I420"}) {
    fail_unless_equals_int(gst_coef_format_from_string(wrong), GST_COEF_FORMAT_UNKNOWN);
    fail_unless_equals_int(gst_coef_sampling_from_string(wrong), GST_COEF_SAMPLING_UNKNOWN);
  }
  fail_unless_equals_int(gst_coef_format_from_string(nullptr), GST_COEF_FORMAT_UNKNOWN);
  fail_unless_equals_int(gst_coef_sampling_from_string(nullptr), GST_COEF_SAMPLING_UNKNOWN);
}

constexpr char kGood[] =
    "video/x-dct,format=S16LE,layout=block,order=raster,quantized=true,depth=8,"
    "sampling=YCbCr-4:2:0,colorspace=sYUV,width=64,height=48,framerate=25/1";

// The reason for refusing caps; empty: they are not refused.
std::string refusal(GstCaps* caps) {
  GstDctInfo info;
  std::memset(&info, 0xa5, sizeof(info));
  auto* reason = reinterpret_cast<gchar*>(1);
  const bool ok = gst_dct_info_from_caps(&info, caps, &reason);
  const GstDctInfo zero = {};
  if (!ok) fail_unless(std::memcmp(&info, &zero, sizeof(info)) == 0, "info left half filled");
  fail_unless(ok == (reason == nullptr), "a reason for what is accepted, or none for a refusal");
  fail_unless_equals_int(gst_dct_info_from_caps(&info, caps, nullptr), ok);
  const std::string why = reason != nullptr ? reason : "";
  g_free(reason);
  gst_caps_unref(caps);
  return why;
}

bool accepted(GstCaps* caps) { return refusal(caps).empty(); }

CHECK_TEST(test_refusals) {
  fail_unless(accepted(gst_caps_from_string(kGood)));
  const struct {
    const char* field;
    const char* value;
    const char* named;  // part of the reason
  } wrong[] = {
      {"format", "", "format is (NULL), expected S16LE, S32LE, F32LE or F16LE"},
      {"layout", "", "layout is (NULL), expected block, plane or band"},
      {"order", "", "order is (NULL), expected raster or zigzag"},
      {"quantized", "", "quantized, depth, width or height is missing"},
      {"depth", "", "quantized, depth, width or height is missing"},
      {"sampling", "", "sampling is (NULL), expected GRAYSCALE"},
      {"colorspace", "", "colorspace (NULL) contradicts sampling YCbCr-4:2:0"},
      {"width", "", "quantized, depth, width or height is missing"},
      {"height", "", "quantized, depth, width or height is missing"},
      {"format", "S8", "format is S8, expected"},
      {"format", "S32LE", "format=S32LE with quantized=true at depth=8, expected S16LE"},
      {"format", "F32LE", "format=F32LE with quantized=true at depth=8, expected S16LE"},
      {"format", "(int)2", "format"},
      {"layout", "band", "order=raster with layout=band, expected order=zigzag"},
      {"format", "F16LE", "format=F16LE with quantized=true at depth=8, expected S16LE"},
      {"layout", "tile", "layout is tile, expected block, plane or band"},
      {"order", "alternate", "order is alternate, expected raster or zigzag"},
      {"quantized", "false", "quantized=false at depth=8, expected S32LE, F32LE or F16LE"},
      {"quantized", "(int)1", "of another type"},
      {"depth", "0", "depth 0, expected"},
      {"depth", "-8", "depth 0, expected"},
      {"depth", "9", "depth 9, expected"},
      {"depth", "16", "quantized=true at depth=16, expected S32LE"},
      {"depth", "(string)8", "of another type"},
      {"sampling", "I420", "sampling is I420"},
      {"sampling", "RGB", "colorspace sYUV contradicts sampling RGB"},
      {"sampling", "CMYK", "sampling is CMYK"},
      {"sampling", "YCCK", "sampling is YCCK"},
      {"sampling", "CMYK-4:2:0", "sampling is CMYK-4:2:0"},
      {"sampling", "YCCK-4:2:0", "colorspace sYUV contradicts sampling YCCK-4:2:0"},
      {"colorspace", "GRAY", "colorspace GRAY contradicts"},
      {"colorspace", "sRGB", "colorspace sRGB contradicts"},
      {"width", "0", "size 0 x 48"},
      {"width", "-64", "size -64 x 48"},
      {"height", "0", "size 64 x 0"},
      {"height", "-1", "size 64 x -1"},
      {"height", "(string)a", "of another type"},
      {"width", "[1,64]", "not fixed"},
      {"framerate", "(int)5", "framerate"},
      {"framerate", "-1/1", "framerate"},
      {"interlace-mode", "alternate", "interlace-mode=alternate"},
  };
  for (const auto& w : wrong) {
    const std::string why = refusal(testing::with_field(kGood, w.field, w.value));
    fail_unless(why.find(w.named) != std::string::npos, "%s=%s: expected '%s' in '%s'", w.field,
                w.value, w.named, why.c_str());
  }
  fail_if(accepted(gst_caps_from_string("video/x-raw,format=I420,width=64,height=48")));
  fail_if(accepted(gst_caps_new_any()));
  fail_if(accepted(gst_caps_new_empty()));

  fail_unless(accepted(testing::with_field(kGood, "interlace-mode", "interleaved")));
  fail_unless(accepted(testing::with_field(kGood, "framerate", "")));
  fail_unless(accepted(testing::with_field(kGood, "framerate", "0/1")));
  fail_unless(accepted(testing::with_field(kGood, "order", "zigzag")));
  fail_unless(accepted(testing::with_field(kGood, "layout", "plane")));
  GstCaps* zigzag_plane = testing::with_field(kGood, "layout", "plane");
  gst_caps_set_simple(zigzag_plane, "order", G_TYPE_STRING, "zigzag", nullptr);
  fail_unless(refusal(zigzag_plane) == "order=zigzag with layout=plane, expected order=raster");
  GstCaps* on_device = gst_caps_from_string(kGood);
  gst_caps_set_features(on_device, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
  fail_unless(accepted(on_device));
}

CHECK_TEST(test_pairs) {
  for (GstCoefFormat format : {GST_COEF_FORMAT_S16LE, GST_COEF_FORMAT_S32LE, GST_COEF_FORMAT_F32LE,
                               GST_COEF_FORMAT_F16LE}) {
    for (gboolean quantized : {1, 0}) {
      for (guint depth = 0; depth <= 32; depth++) {
        bool allowed = false;
        for (const Kind& k : kKinds)
          allowed |= k.format == format && k.quantized == quantized && k.depth == depth;
        GstDctInfo info;
        fail_unless_equals_int(
            gst_dct_info_set(&info, format, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER, quantized,
                             depth, GST_COEF_SAMPLING_GRAYSCALE, 8, 8, nullptr),
            allowed);
      }
    }
  }
  GstDctInfo info;
  fail_if(gst_dct_info_set(&info, GST_COEF_FORMAT_UNKNOWN, GST_DCT_LAYOUT_BLOCK,
                           GST_DCT_ORDER_RASTER, TRUE, 8, GST_COEF_SAMPLING_420, 8, 8, nullptr));
  fail_if(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER,
                           TRUE, 8, GST_COEF_SAMPLING_UNKNOWN, 8, 8, nullptr));
  fail_if(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, static_cast<GstDctLayout>(3),
                           GST_DCT_ORDER_RASTER, TRUE, 8, GST_COEF_SAMPLING_420, 8, 8, nullptr));
  fail_if(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                           static_cast<GstDctOrder>(2), TRUE, 8, GST_COEF_SAMPLING_420, 8, 8,
                           nullptr));
}

// The largest picture that still fits, and one that does not: 2^31 - 1 squared samples make 2^62
// coefficients a component.
CHECK_TEST(test_huge) {
  GstDctInfo info;
  fail_if(gst_dct_info_set(&info, GST_COEF_FORMAT_F32LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER,
                           FALSE, 8, GST_COEF_SAMPLING_GRAYSCALE, G_MAXINT, G_MAXINT, nullptr));
  fail_if(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_PLANE, GST_DCT_ORDER_RASTER,
                           TRUE, 8, GST_COEF_SAMPLING_444, G_MAXINT, G_MAXINT, nullptr));
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_F32LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_COEF_SAMPLING_GRAYSCALE,
                               G_MAXINT, 8, nullptr));
  fail_unless_equals_int(info.components[0].blocks_w, 1 << 28);
  fail_unless_equals_uint64(info.size, G_GUINT64_CONSTANT(1) << 36);
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_PLANE,
                               GST_DCT_ORDER_RASTER, TRUE, 8, GST_COEF_SAMPLING_440, 8, G_MAXINT,
                               nullptr));
  fail_unless_equals_uint64(gst_dct_info_rows(&info, 0), G_GUINT64_CONSTANT(1) << 31);
}

CHECK_TEST(test_boxed) {
  GstDctInfo* info = gst_dct_info_new();
  const GstDctInfo zero = {};
  fail_unless(std::memcmp(info, &zero, sizeof zero) == 0);
  fail_unless(gst_dct_info_set(info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, TRUE, 8, GST_COEF_SAMPLING_420, 17, 33,
                               nullptr));
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_DCT_INFO);
  g_value_set_boxed(&value, info);
  const auto* held = static_cast<const GstDctInfo*>(g_value_get_boxed(&value));
  fail_unless(held != info && std::memcmp(held, info, sizeof *info) == 0);
  auto* part = static_cast<GstDctComponent*>(
      g_boxed_copy(GST_TYPE_DCT_COMPONENT, gst_dct_info_get_component(held, 2)));
  gst_dct_info_free(info);
  g_value_unset(&value);
  fail_unless_equals_uint64(part->offset, 2688);
  g_boxed_free(GST_TYPE_DCT_COMPONENT, part);
}

// The values of a type are those of its enum, which start at 0 without gaps.
void check_enum(GType type, const char* nick_of_0, const char* last, int count) {
  auto* klass = static_cast<GEnumClass*>(g_type_class_ref(type));
  fail_unless_equals_int(klass->n_values, count);
  fail_unless_equals_int(klass->minimum, 0);
  fail_unless_equals_int(klass->maximum, count - 1);
  fail_unless_equals_string(klass->values[0].value_nick, nick_of_0);
  fail_unless_equals_string(g_enum_get_value(klass, count - 1)->value_name, last);
  g_type_class_unref(klass);
}

CHECK_TEST(test_enums) {
  check_enum(GST_TYPE_COEF_FORMAT, "unknown", "GST_COEF_FORMAT_F16LE", 5);
  check_enum(GST_TYPE_DCT_LAYOUT, "block", "GST_DCT_LAYOUT_BAND", 3);
  check_enum(GST_TYPE_DCT_ORDER, "raster", "GST_DCT_ORDER_ZIGZAG", 2);
  check_enum(GST_TYPE_COEF_SAMPLING, "unknown", "GST_COEF_SAMPLING_YCCK_441", 16);
}

}  // namespace
