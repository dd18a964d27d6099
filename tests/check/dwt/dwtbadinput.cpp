// Bad input of cudadwt and cudaidwt: wrong settings, caps, metas and buffers. Each must end in an
// error that says what was wrong and what was expected, and the element must start again.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

GstDwtInfo dwt_info(gboolean quantized = TRUE) {
  GstDwtInfo info;
  fail_unless(gst_dwt_info_set(&info, GST_DWT_WAVELET_LEGALL53, GST_DWT_WAVELET_HAAR, 2, 1,
                               quantized, 8, GST_COEF_SAMPLING_420, 17, 33, nullptr));
  return info;  // 3008 bytes
}

GstBuffer* coefficients(const GstDwtInfo& info, gsize size, GstDwtMeta** meta) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, size, nullptr);
  gst_buffer_memset(buffer, 0, 0, size);
  *meta = gst_buffer_add_dwt_meta(buffer, &info);
  return buffer;
}

CHECK_TEST(test_short_frames) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 32, 24);  // 1152 bytes
  for (gsize size : {gsize{0}, gsize{1}, info.size - 1})
    expect(
        push_one(forward_dwt(), video_caps(info), gst_buffer_new_allocate(nullptr, size, nullptr)),
        {std::to_string(size).c_str(), "1152"});
}

CHECK_TEST(test_short_coefficients) {
  const GstDwtInfo info = dwt_info();
  GstDwtMeta* meta;
  for (gsize size : {gsize{0}, gsize{64}, info.size - 1})
    expect(push_one(inverse_dwt(), gst_dwt_info_to_caps(&info), coefficients(info, size, &meta)),
           {std::to_string(size).c_str(), "component"});
  const std::string text =
      push_one(inverse_dwt(), gst_dwt_info_to_caps(&info), coefficients(info, info.size, &meta));
  fail_unless(text.empty(), "%s", text.c_str());
}

CHECK_TEST(test_missing_meta) {
  GstDwtInfo info = dwt_info(TRUE);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  expect(push_one(inverse_dwt(), gst_dwt_info_to_caps(&info), buffer),
         {"GstDwtMeta", "quantizer indices are missing"});
  // Not quantized, the default layout needs no meta; but it needs all the bytes.
  info = dwt_info(FALSE);
  buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 0, info.size);
  const std::string text = push_one(inverse_dwt(), gst_dwt_info_to_caps(&info), buffer);
  fail_unless(text.empty(), "%s", text.c_str());
  buffer = gst_buffer_new_allocate(nullptr, info.size - 2, nullptr);
  expect(push_one(inverse_dwt(), gst_dwt_info_to_caps(&info), buffer), {"3006", "3008"});
}

struct Lie {
  void (*apply)(GstDwtMeta* meta);
  const char* named;
};

// Some of those of dwtmeta.cpp.
const Lie kLies[] = {
    {[](GstDwtMeta* m) { m->n_components = 1; }, "1 components in the meta, expected 3"},
    {[](GstDwtMeta* m) { m->components[1].padded_width = 1024; }, "1024 x 20"},
    {[](GstDwtMeta* m) { m->components[2].offset = G_MAXSIZE - 1; }, "address space"},
    {[](GstDwtMeta* m) { m->components[0].stride = 2; }, "stride of 2 bytes, expected at least 48"},
    {[](GstDwtMeta* m) { m->quantizers[2].indices[7] = 116; }, "index 116, expected 0 to 115"},
};

CHECK_LOOP_TEST(test_lying_meta, 0, G_N_ELEMENTS(kLies)) {
  const GstDwtInfo info = dwt_info();
  GstDwtMeta* meta;
  GstBuffer* buffer = coefficients(info, info.size, &meta);
  kLies[__i__].apply(meta);
  expect(push_one(inverse_dwt(), gst_dwt_info_to_caps(&info), buffer), {kLies[__i__].named});
}

// Coefficients of one transform under caps of another.
CHECK_TEST(test_meta_of_another_transform) {
  const GstDwtInfo info = dwt_info();
  GstDwtInfo other;
  fail_unless(gst_dwt_info_set(&other, info.wavelet, info.wavelet_ho, 5, 0, TRUE, 8, info.sampling,
                               17, 33, nullptr));
  GstDwtMeta* meta;
  expect(push_one(inverse_dwt(), gst_dwt_info_to_caps(&other), coefficients(info, 9999, &meta)),
         {"24 x 36", "32 x 64"});
}

constexpr char kGood[] =
    "video/x-dwt,format=S16LE,wavelet=dd97,wavelet-ho=dd97,levels=4,levels-ho=0,depth=8,"
    "quantized=true,sampling=GRAYSCALE,colorspace=GRAY,width=16,height=16,framerate=25/1";

// Wrong values of one field that templates cannot exclude, or wrong pairs of fields.
CHECK_TEST(test_lying_caps) {
  const struct {
    const char* field;
    const char* value;
    const char* named;
  } lies[] = {
      {"format", "S32LE", "format=S32LE, expected S16LE for 8 bits, wavelet=dd97"},
      {"levels", "5", "format=S16LE, expected S32LE for 8 bits, wavelet=dd97"},
      {"levels", "0", "levels + levels-ho must be at least 1"},
      {"wavelet", "j2k53", "wavelet=j2k53 with wavelet-ho=dd97"},
      {"depth", "16", "format=S16LE, expected S32LE for 16 bits"},
      {"colorspace", "sYUV", "colorspace sYUV contradicts sampling GRAYSCALE"},
  };
  for (const auto& lie : lies) {
    g_autoptr(GstHarness) h = gst_harness_new_parse(inverse_dwt().c_str());
    const Messages bus(h->element);
    gst_harness_set_src_caps(h, with_field(kGood, lie.field, lie.value));
    fail_if(gst_harness_push(h, gst_buffer_new_allocate(nullptr, 4096, nullptr)) == GST_FLOW_OK);
    expect(take_text(bus, GST_MESSAGE_ERROR), {lie.named});
  }
}

// Caps that are wrong in themselves do not link.
CHECK_TEST(test_refused_caps) {
  const struct {
    const char* field;
    const char* value;
  } lies[] = {{"wavelet", "db4"}, {"levels", "7"},     {"levels-ho", "5"},
              {"depth", "9"},     {"format", "F32LE"}, {"sampling", "YCbCr-4:4:0"}};
  for (const auto& lie : lies)
    fail_unless(refuses_caps(inverse_dwt(), with_field(kGood, lie.field, lie.value)), "%s=%s",
                lie.field, lie.value);
  fail_if(refuses_caps(inverse_dwt(), gst_caps_from_string(kGood)));
  for (const char* format : {"AYUV", "A420", "RGBA", "YUY2"}) {
    GstCaps* raw = video_caps(video_info(GST_VIDEO_FORMAT_I420, 32, 24));
    gst_caps_set_simple(raw, "format", G_TYPE_STRING, format, nullptr);
    fail_unless(refuses_caps(forward_dwt(), raw), "%s", format);
  }
}

// ---- Settings ----

struct BadSetting {
  const char* properties;
  std::vector<const char*> named;
};

const BadSetting kBadSettings[] = {
    {"levels=0", {"levels + levels-ho", "at least 1"}},
    {"wavelet=j2k53 wavelet-ho=haar",
     {"wavelet=j2k53 with wavelet-ho=haar", "j2k53 requires both"}},
    {"wavelet=haar wavelet-ho=j2k53", {"wavelet=haar with wavelet-ho=j2k53"}},
    {"quant-matrix=dirac", {"quant-matrix: 'dirac', expected flat, vc2 or"}},
    {"quant-matrix=\"\"", {"quant-matrix: '', expected flat"}},
    {"quant-matrix=\"<>\"", {"quant-matrix: '' at index 0, expected 0 to 115"}},
    {"quant-matrix=\"<1,2\"", {"quant-matrix: '<1,2', expected"}},
    {"quant-matrix=\"<1,two,3,4>\" levels=1", {"'two' at index 1, expected 0 to 115"}},
    {"quant-matrix=\"<1,-2,3,4>\" levels=1", {"'-2' at index 1"}},
    {"quant-matrix=\"<1,2,3,116>\" levels=1", {"'116' at index 3"}},
    {"quant-matrix=\"<1,2,3,99999999999999999999>\" levels=1", {"at index 3"}},
    {"quant-matrix=\"<1,2,3>\" levels=1", {"3 entries, expected 4", "levels=1"}},
    {"quant-matrix=\"<1,2,3,4>\"", {"4 entries, expected 13", "levels=4, levels-ho=0"}},
    {"quant-matrix=vc2 levels=5", {"no VC-2 default matrix for wavelet=legall53", "levels=5"}},
    {"quant-matrix=vc2 levels=4 levels-ho=2", {"levels-ho=2", "and 5 with levels-ho"}},
    {"quant-matrix=vc2 wavelet=j2k53", {"no VC-2 default matrix for wavelet=j2k53"}},
    {"quant-matrix=vc2 wavelet=dd97 wavelet-ho=haar", {"wavelet=dd97, wavelet-ho=haar"}},
};

// Before data flows; the element works once the setting does.
CHECK_LOOP_TEST(test_bad_settings, 0, G_N_ELEMENTS(kBadSettings)) {
  const BadSetting& bad = kBadSettings[__i__];
  g_autoptr(GstElement) pipeline =
      launch("videotestsrc num-buffers=2 ! " +
             forward_dwt(std::string("name=f ") + bad.properties) + " ! fakesink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  fail_unless_equals_int(gst_element_set_state(pipeline, GST_STATE_PLAYING),
                         GST_STATE_CHANGE_FAILURE);
  const std::string text = take_text(bus, GST_MESSAGE_ERROR);
  for (const char* named : bad.named) expect(text, {named});
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_autoptr(GstElement) dwt = gst_bin_get_by_name(GST_BIN(pipeline), "f");
  gst_util_set_object_arg(G_OBJECT(dwt), "wavelet", "haar");
  gst_util_set_object_arg(G_OBJECT(dwt), "wavelet-ho", "same");
  g_object_set(dwt, "levels", 1u, "levels-ho", 0u, "quant-matrix", "<4, 3, 2, 1>", nullptr);
  run_well(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

// While frames flow: the element refuses the next frame with the reason.
CHECK_TEST(test_bad_settings_while_playing) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 32, 24);
  for (const BadSetting& bad : kBadSettings) {
    g_autoptr(GstHarness) h = gst_harness_new_parse(forward_dwt("name=f").c_str());
    const Messages bus(h->element);
    gst_harness_set_src_caps(h, video_caps(info));
    fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_OK);
    g_autoptr(GstElement) dwt = gst_bin_get_by_name(GST_BIN(h->element), "f");
    g_autoptr(GstElement) wanted =
        gst_parse_launch((forward_dwt() + bad.properties).c_str(), nullptr);
    for (const char* property : {"wavelet", "wavelet-ho", "levels", "levels-ho", "quant-matrix"}) {
      GValue value = G_VALUE_INIT;
      GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(dwt), property);
      g_value_init(&value, G_PARAM_SPEC_VALUE_TYPE(spec));
      g_object_get_property(G_OBJECT(wanted), property, &value);
      g_object_set_property(G_OBJECT(dwt), property, &value);
      g_value_unset(&value);
    }
    fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_ERROR);
    const std::string text = take_text(bus, GST_MESSAGE_ERROR);
    for (const char* named : bad.named) expect(text, {named});
  }
}

// Levels that no encoder makes wrap as the transform defines, and end in a picture.
CHECK_TEST(test_wild_levels) {
  const GstDwtInfo info = dwt_info();
  for (int pattern = 0; pattern < kWildPatterns; pattern++) {
    GstDwtMeta* meta;
    GstBuffer* buffer = coefficients(info, info.size, &meta);
    fill_wildly(buffer, pattern);
    for (guint8& index : meta->quantizers[0].indices) index = GST_DWT_MAX_QUANT_INDEX;
    const std::string text = push_one(inverse_dwt(), gst_dwt_info_to_caps(&info), buffer);
    fail_unless(text.empty(), "%s", text.c_str());
  }
}

}  // namespace
