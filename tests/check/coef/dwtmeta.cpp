// Tests of GstDwtMeta: life, copies, every lie that validate must see, and the serial form.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <vector>

#include <gst/coef/coef.h>
#include <gst/coef/dwt-serial.h>
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

CHECK_TEST(test_fresh) {
  const GstDwtInfo info = make_info();
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  fail_unless(gst_buffer_get_dwt_meta(buffer) == nullptr);
  GstDwtMeta* meta = gst_buffer_add_dwt_meta(buffer, &info);
  fail_unless(gst_buffer_get_dwt_meta(buffer) == meta);
  fail_unless_equals_int(meta->n_components, 3);
  fail_unless(std::memcmp(meta->components, info.components, sizeof info.components) == 0);
  for (guint c = 0; c < 3; c++)
    for (guint b = 0; b < GST_DWT_MAX_BANDS; b++)
      fail_unless_equals_int(gst_dwt_meta_get_quant_index(meta, c, b), 0);
  fail_unless(meta->fence == nullptr);
  fail_unless(gst_meta_api_type_has_tag(GST_DWT_META_API_TYPE,
                                        g_quark_from_static_string(GST_META_TAG_MEMORY_STR)));
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

CHECK_TEST(test_copies) {
  const GstDwtInfo info = make_info();
  GstDwtMeta* meta;
  GstBuffer* buffer = make_buffer(info, &meta);
  gint destroyed = 0;
  GstCoefFence* fence = make_watched_fence(&destroyed);
  gst_dwt_meta_set_fence(meta, fence);
  gst_coef_fence_unref(fence);
  gst_dwt_meta_set_fence(meta, meta->fence);  // must not free what it sets

  GstBuffer* shallow = gst_buffer_copy(buffer);
  GstBuffer* deep = gst_buffer_copy_deep(buffer);
  for (GstBuffer* copy : {shallow, deep}) {
    GstDwtMeta* copied = gst_buffer_get_dwt_meta(copy);
    fail_unless(copied != nullptr && copied != meta);
    fail_unless(copied->fence == meta->fence, "the fence is not shared");
    fail_unless_equals_int(copied->n_components, 3);
    fail_unless(std::memcmp(copied->components, meta->components, sizeof meta->components) == 0);
    fail_unless(std::memcmp(copied->quantizers, meta->quantizers, sizeof meta->quantizers) == 0);
    fail_unless(gst_dwt_meta_validate(copied, &info, gst_buffer_get_size(copy), nullptr));
  }
  GstBuffer* part = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, 0, info.size - 2);
  fail_unless(gst_buffer_get_dwt_meta(part) == nullptr, "part of a buffer is no picture");
  gst_buffer_unref(part);
  gst_buffer_unref(buffer);
  gst_buffer_unref(shallow);
  fail_unless_equals_int(destroyed, 0);
  gst_buffer_unref(deep);
  fail_unless_equals_int(destroyed, 1);
}

const Lie<GstDwtMeta> kLies[] = {
    {[](GstDwtMeta* m) { m->n_components = 1; }, "1 components in the meta, expected 3"},
    {[](GstDwtMeta* m) { m->n_components = 4; }, "4 components in the meta, expected 3"},
    {[](GstDwtMeta* m) { m->n_components = 0xffffffff; }, "components in the meta, expected 3"},
    {[](GstDwtMeta* m) { m->components[1].id = 3; }, "component 1 has id 3, expected 2"},
    {[](GstDwtMeta* m) { m->components[0].h_samp = 1; }, "do not make YCbCr-4:2:0"},
    {[](GstDwtMeta* m) { m->components[1].v_samp = 0; }, "do not make YCbCr-4:2:0"},
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
    {[](GstDwtMeta* m) { m->components[0].stride = G_MAXSIZE - 1; }, "beyond the address space"},
    {[](GstDwtMeta* m) { m->components[0].offset = G_MAXSIZE - 1; }, "beyond the address space"},
    {[](GstDwtMeta* m) { m->quantizers[1].indices[7] = 116; },
     "band 7 of component 1 has quantiser index 116, expected 0 to 115"},
    {[](GstDwtMeta* m) { m->quantizers[2].indices[0] = 255; }, "band 0 of component 2"},
};

CHECK_TEST(test_lies) { check_lies(make_info(), kLies, make_buffer, gst_dwt_meta_validate); }

CHECK_TEST(test_placement) {
  const GstDwtInfo info = make_info();
  GstDwtMeta* meta;
  GstBuffer* buffer = make_buffer(info, &meta);
  gchar* reason;
  for (gsize size : {gsize{0}, gsize{1}, info.size / 2, info.size - 1}) {
    fail_if(gst_dwt_meta_validate(meta, &info, size, &reason));
    expect_reason(reason, "but the buffer has");
  }
  // Another order of components, padding between rows, equal ratios of factors, and indices of
  // bands that there are not are no lies.
  meta->components[0].offset = 4096;
  meta->components[1].stride += 64;
  for (GstDwtComponent& c : meta->components) c.v_samp *= 2;
  meta->quantizers[0].indices[8] = 200;
  fail_unless(gst_dwt_meta_validate(meta, &info, 8192, &reason), "%s", reason);
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
  expect_reason(reason, "index 1, expected 0: the coefficients are not quantised");
  gst_buffer_unref(buffer);
}

CHECK_TEST(test_serial) {
  const GstDwtInfo info = make_info();
  GstDwtMeta* meta;
  GstBuffer* buffer = make_buffer(info, &meta);
  meta->components[2].offset = gsize{0x123456789a};
  std::vector<uint8_t> bytes;
  fail_unless(gstcoef::serialise(*meta, &bytes));
  fail_unless_equals_uint64(bytes.size(), 4 + 3 * (28 + 16 + 23));
  GstDwtMeta back = {};
  fail_unless(gstcoef::deserialise(bytes.data(), bytes.size(), gstcoef::kDwtSerialVersion, &back));
  fail_unless_equals_int(back.n_components, meta->n_components);
  fail_unless(std::memcmp(back.components, meta->components, sizeof back.components) == 0);
  fail_unless(std::memcmp(back.quantizers, meta->quantizers, sizeof back.quantizers) == 0);

  check_only_whole(bytes, gstcoef::kDwtSerialVersion,
                   [&](const uint8_t* data, size_t size, uint8_t version) {
                     return gstcoef::deserialise(data, size, version, &back);
                   });
  bytes[3] = 0xff;
  fail_if(gstcoef::deserialise(bytes.data(), bytes.size(), gstcoef::kDwtSerialVersion, &back));
  bytes.clear();
  meta->n_components = GST_DWT_MAX_COMPONENTS + 1;
  fail_if(gstcoef::serialise(*meta, &bytes));
  fail_unless(bytes.empty());
#if GST_CHECK_VERSION(1, 23, 0)
  meta->n_components = 3;
  GByteArray* stored = g_byte_array_new();
  fail_unless(gst_meta_serialize_simple(&meta->meta, stored));
  GstBuffer* other = gst_buffer_new();
  guint32 consumed = 0;
  fail_unless(gst_meta_deserialize(other, stored->data, stored->len, &consumed) != nullptr);
  fail_unless_equals_int(consumed, stored->len);
  fail_unless_equals_int(gst_dwt_meta_get_quant_index(gst_buffer_get_dwt_meta(other), 1, 3), 13);
  gst_buffer_unref(other);
  g_byte_array_unref(stored);
#endif
  gst_buffer_unref(buffer);
}

}  // namespace
