// Tests of GstDwtMeta: life, copies, every fault that validate must find, and the serial form.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <vector>

#include <gst/coef/coef.h>
#include <gst/coef/serial-private.h>
#include "tests/check/coef/metas.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

// 17 x 33, 4:2:0, 2 + 1 levels: 3008 bytes; components at 0, 1728, 2368; 8 bands.
GstDwtInfo make_info(gboolean quantized = TRUE) {
  GstDwtInfo info;
  fail_unless(gst_dwt_info_set(&info, GST_DWT_WAVELET_LEGALL53, GST_DWT_WAVELET_HAAR, 2, 1,
                               quantized, 8, GST_COEF_SAMPLING_420, 17, 33, nullptr));
  return info;
}

GstBuffer* make_buffer(const GstDwtInfo& info, GstDwtMeta** meta) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  *meta = gst_buffer_add_dwt_meta(buffer, &info);
  fail_unless(*meta != nullptr);
  for (guint c = 0; info.quantized && c < 3; c++)
    for (guint b = 0; b < 8; b++)
      fail_unless(gst_dwt_meta_set_quant_index(*meta, c, b, 10 * c + b));
  return buffer;
}

const MetaKind<GstDwtInfo, GstDwtMeta> kDwt = {
    gst_dwt_meta_api_get_type,
    gst_buffer_add_dwt_meta,
    gst_buffer_get_dwt_meta,
    gst_dwt_meta_set_fence,
    gst_dwt_meta_validate,
    gstcoef::serialize,
    gstcoef::deserialize,
    gstcoef::kDwtSerialVersion,
    make_buffer,
    [](const GstDwtMeta& a, const GstDwtMeta& b) {
      return a.n_components == b.n_components &&
             std::memcmp(a.components, b.components, sizeof a.components) == 0 &&
             std::memcmp(a.quantizers, b.quantizers, sizeof a.quantizers) == 0;
    }};

CHECK_TEST(test_fresh) {
  g_autoptr(GstBuffer) buffer = check_fresh(kDwt, make_info());
  for (guint c = 0; c < 3; c++)
    for (guint b = 0; b < GST_DWT_MAX_BANDS; b++)
      fail_unless_equals_int(gst_dwt_meta_get_quant_index(gst_buffer_get_dwt_meta(buffer), c, b),
                             0);
}

CHECK_TEST(test_indices) {
  const GstDwtInfo info = make_info();
  GstDwtMeta* meta;
  g_autoptr(GstBuffer) buffer = make_buffer(info, &meta);
  fail_unless_equals_int(gst_dwt_meta_get_quant_index(meta, 2, 7), 27);
  fail_unless(gst_dwt_meta_set_quant_index(meta, 0, 22, GST_DWT_MAX_QUANT_INDEX));
  fail_unless_equals_int(meta->quantizers[0].indices[22], 115);
  fail_if(gst_dwt_meta_set_quant_index(meta, 0, 0, GST_DWT_MAX_QUANT_INDEX + 1));
  fail_if(gst_dwt_meta_set_quant_index(meta, 3, 0, 1));
  fail_if(gst_dwt_meta_set_quant_index(meta, 0, GST_DWT_MAX_BANDS, 1));
  fail_unless_equals_int(gst_dwt_meta_get_quant_index(meta, 3, 0), -1);
  fail_unless_equals_int(gst_dwt_meta_get_quant_index(meta, 0, GST_DWT_MAX_BANDS), -1);
  meta->n_components = 9;  // a lie
  fail_unless(gst_dwt_meta_get_component(meta, 4) == nullptr);
  fail_unless_equals_int(gst_dwt_meta_get_quant_index(meta, 4, 0), -1);
}

CHECK_TEST(test_copies) { check_copies(kDwt, make_info()); }

CHECK_TEST(test_set_fence) { check_set_fence(kDwt, make_info(FALSE)); }

const Lie<GstDwtMeta> kLies[] = {
    {[](GstDwtMeta* m) { m->n_components = 1; }, "1 components in the meta, expected 3"},
    {[](GstDwtMeta* m) { m->n_components = 4; }, "4 components in the meta, expected 3"},
    {[](GstDwtMeta* m) { m->n_components = 0xffffffff; }, "components in the meta, expected 3"},
    {[](GstDwtMeta* m) { m->components[1].id = 3; }, "component 1 has id 3, expected 2"},
    {[](GstDwtMeta* m) { m->components[0].h_samp = 1; }, "do not match YCbCr-4:2:0"},
    {[](GstDwtMeta* m) { m->components[1].v_samp = 0; }, "do not match YCbCr-4:2:0"},
    {[](GstDwtMeta* m) { m->components[0].width = 18; }, "component 0 is 18 x 33"},
    {[](GstDwtMeta* m) { m->components[2].height = 16; }, "component 2 is 9 x 16"},
    {[](GstDwtMeta* m) { m->components[0].padded_width = 32; },
     "component 0 has 32 x 36 coefficients in the meta, expected 24 x 36"},
    {[](GstDwtMeta* m) { m->components[1].padded_height = 0; }, "component 1 has 16 x 0"},
    {[](GstDwtMeta* m) { m->components[0].padded_height = 0xffffffff; }, "component 0 has"},
    {[](GstDwtMeta* m) { m->components[0].offset = 1; }, "multiples of the 2 bytes"},
    {[](GstDwtMeta* m) { m->components[0].stride++; }, "multiples of the 2 bytes"},
    {[](GstDwtMeta* m) { m->components[0].stride -= 2; }, "expected at least 48"},
    {[](GstDwtMeta* m) { m->components[2].offset += 2; }, "component 2 ends at byte 3010"},
    {[](GstDwtMeta* m) { m->components[2].stride += 2; }, "component 2 ends at byte"},
    {[](GstDwtMeta* m) { m->components[0].stride = G_MAXSIZE - 1; }, "exceeds the address space"},
    {[](GstDwtMeta* m) { m->components[0].offset = G_MAXSIZE - 1; }, "exceeds the address space"},
    {[](GstDwtMeta* m) { m->quantizers[1].indices[7] = 116; },
     "band 7 of component 1 has quantizer index 116, expected 0 to 115"},
    {[](GstDwtMeta* m) { m->quantizers[2].indices[0] = 255; }, "band 0 of component 2"},
};

CHECK_TEST(test_lies) { check_lies(kDwt, make_info(), kLies); }

CHECK_TEST(test_places) {
  const GstDwtInfo info = make_info();
  check_places(kDwt, info);
  GstDwtMeta* meta;
  GstBuffer* buffer = make_buffer(info, &meta);
  meta->quantizers[0].indices[8] = 200;  // of a band that there is not: no lie
  gchar* reason;
  fail_unless(gst_dwt_meta_validate(meta, &info, info.size, &reason), "%s", reason);
  gst_buffer_unref(buffer);

  fail_if(gst_dwt_meta_validate(nullptr, &info, info.size, &reason));
  expect_reason(reason, "without GstDwtMeta");
  const GstDwtInfo values = make_info(FALSE);
  fail_unless(gst_dwt_meta_validate(nullptr, &values, values.size, &reason));
  fail_if(gst_dwt_meta_validate(nullptr, &values, values.size - 1, &reason));
  expect_reason(reason, "3007 bytes, expected 3008 for 17 x 33 YCbCr-4:2:0 S16LE");
  buffer = make_buffer(values, &meta);
  meta->quantizers[1].indices[3] = 1;
  fail_if(gst_dwt_meta_validate(meta, &values, values.size, &reason));
  expect_reason(reason, "index 1, expected 0: the coefficients are not quantized");
  gst_buffer_unref(buffer);
}

CHECK_TEST(test_serial) {
  const GstDwtInfo info = make_info();
  std::vector<uint8_t> bytes = check_serial(kDwt, info, 4 + 3 * (28 + 16 + 23));
  GstDwtMeta *meta, back = {};
  bytes[3] = 0xff;
  fail_if(gstcoef::deserialize(bytes.data(), bytes.size(), gstcoef::kDwtSerialVersion, &back));
  bytes.clear();
  g_autoptr(GstBuffer) buffer = make_buffer(info, &meta);
  meta->n_components = GST_DWT_MAX_COMPONENTS + 1;
  fail_if(gstcoef::serialize(*meta, &bytes));
  fail_unless(bytes.empty());
}

}  // namespace
