// Tests of GstDctMeta and GstCoefReferenceMeta: life, copies, every fault that validate must find,
// and the serial form.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cstring>
#include <utility>
#include <vector>

#include <gst/coef/coef.h>
#include <gst/coef/serial-private.h>
#include "tests/check/coef/metas.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

// 17 x 33, 4:2:0, quantized: 3456 bytes; components at 0, 1920, 2688.
GstDctInfo make_info(gboolean quantized = TRUE, GstDctLayout layout = GST_DCT_LAYOUT_BLOCK) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, quantized ? GST_COEF_FORMAT_S16LE : GST_COEF_FORMAT_F32LE,
                               layout, GST_DCT_ORDER_RASTER, quantized, 8, GST_COEF_SAMPLING_420,
                               17, 33, nullptr));
  return info;
}

GstBuffer* make_buffer(const GstDctInfo& info, GstDctMeta** meta) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  *meta = gst_buffer_add_dct_meta(buffer, &info);
  fail_unless(*meta != nullptr);
  if (info.quantized) {
    (*meta)->n_tables = 2;
    for (int k = 0; k < 64; k++) {
      (*meta)->tables[0].values[k] = static_cast<guint16>(k + 1);
      (*meta)->tables[1].values[k] = static_cast<guint16>(65535 - k);
    }
  }
  return buffer;
}

const MetaKind<GstDctInfo, GstDctMeta> kDct = {
    gst_dct_meta_api_get_type,
    gst_buffer_add_dct_meta,
    gst_buffer_get_dct_meta,
    gst_dct_meta_set_fence,
    gst_dct_meta_validate,
    gstcoef::serialize,
    gstcoef::deserialize,
    gstcoef::kSerialVersion,
    make_buffer,
    [](const GstDctMeta& a, const GstDctMeta& b) {
      return a.n_components == b.n_components && a.n_tables == b.n_tables &&
             std::memcmp(a.components, b.components, sizeof(a.components)) == 0 &&
             std::memcmp(a.tables, b.tables, sizeof(a.tables)) == 0;
    }};

CHECK_TEST(test_fresh) {
  g_autoptr(GstBuffer) buffer = check_fresh(kDct, make_info());
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  fail_unless_equals_int(meta->n_tables, 0);
  for (const GstDctTable& table : meta->tables)
    for (guint16 value : table.values) fail_unless_equals_int(value, 0);
}

CHECK_TEST(test_tables) {
  const GstDctInfo info = make_info();
  GstDctMeta* meta;
  g_autoptr(GstBuffer) buffer = make_buffer(info, &meta);
  guint16 values[64] = {};
  fail_unless(gst_dct_meta_get_table(meta, 0, GST_DCT_ORDER_RASTER, values));
  for (int k = 0; k < 64; k++) fail_unless_equals_int(values[k], k + 1);
  // ITU-T T.81, figure 5, written out.
  const int natural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                           12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                           35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                           58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
  fail_unless(gst_dct_meta_get_table(meta, 0, GST_DCT_ORDER_ZIGZAG, values));
  for (int k = 0; k < 64; k++) fail_unless_equals_int(values[k], natural[k] + 1);

  std::memset(values, 0x55, sizeof(values));
  fail_if(gst_dct_meta_get_table(meta, 2, GST_DCT_ORDER_RASTER, values));
  meta->n_tables = 9;  // a lie
  fail_if(gst_dct_meta_get_table(meta, 4, GST_DCT_ORDER_RASTER, values));
  for (guint16 value : values) fail_unless_equals_int(value, 0x5555);
  meta->n_tables = 2;

  guint16* copy = gst_dct_meta_dup_table(meta, 1, GST_DCT_ORDER_RASTER);
  fail_unless(std::memcmp(copy, meta->tables[1].values, sizeof(values)) == 0);
  fail_unless(gst_dct_meta_set_table(meta, 3, copy));
  fail_unless_equals_int(meta->n_tables, 4);
  fail_if(gst_dct_meta_set_table(meta, 4, copy));
  g_free(copy);
  fail_unless(gst_dct_meta_dup_table(meta, 4, GST_DCT_ORDER_RASTER) == nullptr);
  fail_unless(gst_dct_meta_get_component(meta, 2) == &meta->components[2]);
  fail_unless(gst_dct_meta_get_component(meta, 3) == nullptr);
}

CHECK_TEST(test_copies) { check_copies(kDct, make_info()); }

CHECK_TEST(test_set_fence) { check_set_fence(kDct, make_info(FALSE)); }

CHECK_TEST(test_reference) {
  const GstDctInfo info = make_info(FALSE);
  GstVideoInfo video;
  gst_video_info_set_format(&video, GST_VIDEO_FORMAT_I420, 17, 33);
  g_autoptr(GstBuffer) source = gst_buffer_new_allocate(nullptr, video.size, nullptr);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  fail_unless(gst_buffer_get_coef_reference_meta(buffer) == nullptr);
  GstCoefReferenceMeta* meta = gst_buffer_add_coef_reference_meta(buffer, source, &video);
  fail_unless(gst_buffer_get_coef_reference_meta(buffer) == meta);
  fail_unless(meta->source == source);
  fail_unless(gst_video_info_is_equal(&meta->info, &video));
  ASSERT_BUFFER_REFCOUNT(source, "source", 2);
  GstBuffer* deep = gst_buffer_copy_deep(buffer);
  fail_unless(gst_buffer_get_coef_reference_meta(deep)->source == source);
  fail_unless(gst_video_info_is_equal(&gst_buffer_get_coef_reference_meta(deep)->info, &video));
  ASSERT_BUFFER_REFCOUNT(source, "source", 3);
  GstBuffer* part = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, 0, 64);
  fail_unless(gst_buffer_get_coef_reference_meta(part) == nullptr);
  ASSERT_BUFFER_REFCOUNT(source, "source", 3);
  fail_unless(gst_buffer_add_coef_reference_meta(buffer, buffer, &video) == nullptr);
  fail_unless_equals_int(take_criticals(), 1);
  gst_buffer_unref(part);
  gst_buffer_unref(deep);
  gst_buffer_unref(buffer);
  ASSERT_BUFFER_REFCOUNT(source, "source", 1);
}

const Lie<GstDctMeta> kLies[] = {
    {[](GstDctMeta* m) { m->n_components = 1; }, "1 components in the meta, expected 3"},
    {[](GstDctMeta* m) { m->n_components = 4; }, "4 components in the meta, expected 3"},
    {[](GstDctMeta* m) { m->n_components = 0xffffffff; }, "components in the meta, expected 3"},
    {[](GstDctMeta* m) { m->components[1].id = 3; }, "component 1 has id 3, expected 2"},
    {[](GstDctMeta* m) { m->components[0].h_samp = 1; }, "do not match YCbCr-4:2:0"},
    {[](GstDctMeta* m) { m->components[1].v_samp = 0; }, "do not match YCbCr-4:2:0"},
    {[](GstDctMeta* m) { m->components[2].h_samp = 0x80000000; }, "do not match YCbCr-4:2:0"},
    {[](GstDctMeta* m) { m->components[0].width = 18; }, "component 0 is 18 x 33"},
    {[](GstDctMeta* m) { m->components[2].height = 16; }, "component 2 is 9 x 16"},
    {[](GstDctMeta* m) { m->components[0].blocks_w = 4; }, "component 0 has 4 x 5 blocks"},
    {[](GstDctMeta* m) { m->components[1].blocks_h = 0; }, "component 1 has 2 x 0 blocks"},
    {[](GstDctMeta* m) { m->components[0].blocks_h = 0xffffffff; }, "component 0 has"},
    {[](GstDctMeta* m) { m->components[0].offset = 1; }, "multiples of the 2 bytes"},
    {[](GstDctMeta* m) { m->components[0].stride++; }, "multiples of the 2 bytes"},
    {[](GstDctMeta* m) { m->components[0].stride = 0; }, "stride of 0 bytes, expected at least"},
    {[](GstDctMeta* m) { m->components[0].stride -= 2; }, "expected at least 384"},
    {[](GstDctMeta* m) { m->components[2].offset += 2; }, "component 2 ends at byte 3458"},
    {[](GstDctMeta* m) { m->components[2].stride += 2; }, "component 2 ends at byte"},
    {[](GstDctMeta* m) { m->components[0].stride = G_MAXSIZE - 1; }, "exceeds the address space"},
    {[](GstDctMeta* m) { m->components[0].stride = G_MAXSIZE / 2 + 1; }, "address space"},
    {[](GstDctMeta* m) { m->components[0].offset = G_MAXSIZE - 1; }, "exceeds the address space"},
    {[](GstDctMeta* m) { m->n_tables = 0; }, "0 quantization tables, expected 1 to 4"},
    {[](GstDctMeta* m) { m->n_tables = 5; }, "5 quantization tables, expected 1 to 4"},
    {[](GstDctMeta* m) { m->n_tables = 1; }, "component 1 uses table 1 of 1"},
    {[](GstDctMeta* m) { m->components[0].table = 0xffffffff; }, "component 0 uses table"},
    {[](GstDctMeta* m) { m->tables[0] = {}; }, "quantization table 0 are 0"},
    {[](GstDctMeta* m) { m->tables[1] = {}; }, "quantization table 1 are 0"},
};

CHECK_TEST(test_lies) { check_lies(kDct, make_info(), kLies); }

CHECK_TEST(test_places) {
  const GstDctInfo info = make_info();
  check_places(kDct, info);
  // Components that describe another picture.
  GstDctInfo other;
  fail_unless(gst_dct_info_set(&other, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, TRUE, 8, GST_COEF_SAMPLING_422, 17, 33,
                               nullptr));
  GstDctMeta* meta;
  g_autoptr(GstBuffer) buffer = make_buffer(info, &meta);
  fail_if(gst_dct_meta_validate(meta, &other, 8192, nullptr));
}

CHECK_TEST(test_no_meta) {
  gchar* reason;
  const GstDctInfo quantized = make_info();
  fail_if(gst_dct_meta_validate(nullptr, &quantized, quantized.size, &reason));
  expect_reason(reason, "without GstDctMeta");
  for (GstDctLayout layout : {GST_DCT_LAYOUT_BLOCK, GST_DCT_LAYOUT_PLANE}) {
    const GstDctInfo values = make_info(FALSE, layout);
    fail_unless(gst_dct_meta_validate(nullptr, &values, values.size, &reason));
    fail_if(gst_dct_meta_validate(nullptr, &values, values.size - 1, &reason));
    expect_reason(reason, "6911 bytes, expected 6912 for 17 x 33 YCbCr-4:2:0 F32LE");
    GstDctMeta* meta;
    g_autoptr(GstBuffer) buffer = make_buffer(values, &meta);
    fail_unless(gst_dct_meta_validate(meta, &values, values.size, &reason));
    meta->components[1].offset += 2;  // aligned for 16 bits, not for 32
    fail_if(gst_dct_meta_validate(meta, &values, values.size * 2, &reason));
    g_free(reason);
    meta->components[1].offset -= 2;
    meta->n_tables = 1;
    fail_if(gst_dct_meta_validate(meta, &values, values.size, &reason));
    expect_reason(reason, "unquantized");
  }
}

CHECK_TEST(test_serial) {
  const std::vector<uint8_t> bytes = check_serial(kDct, make_info(), 12 + 3 * 48 + 2 * 128);
  GstDctMeta back = {};
  for (const auto& [at, value] : {std::pair{7, 0xff}, {11, 0xff}, {0, 1}, {1, 1}, {2, 1}, {3, 1}}) {
    std::vector<uint8_t> wrong = bytes;
    fail_unless_equals_int(std::exchange(wrong[static_cast<size_t>(at)], value), 0);
    fail_if(gstcoef::deserialize(wrong.data(), wrong.size(), gstcoef::kSerialVersion, &back));
  }
}

// A fourth component has room in the meta and in its serial form, and is refused if caps have
// three.
CHECK_TEST(test_four_components) {
  const GstDctInfo info = make_info();
  GstDctMeta* meta;
  g_autoptr(GstBuffer) buffer = make_buffer(info, &meta);
  meta->n_components = 4;
  meta->components[3] = meta->components[0];
  meta->components[3].offset = info.size;
  fail_unless(gst_dct_meta_get_component(meta, 3) == &meta->components[3]);
  std::vector<uint8_t> bytes;
  fail_unless(gstcoef::serialize(*meta, &bytes));
  fail_unless_equals_uint64(bytes.size(), 12 + 4 * 48 + 2 * 128);
  GstDctMeta back = {};
  fail_unless(gstcoef::deserialize(bytes.data(), bytes.size(), gstcoef::kSerialVersion, &back));
  fail_unless(std::memcmp(back.components, meta->components, sizeof(back.components)) == 0);
  g_autoptr(GstBuffer) copy = gst_buffer_copy(buffer);
  const GstDctMeta* copied = gst_buffer_get_dct_meta(copy);
  fail_unless(std::memcmp(copied->components, meta->components, sizeof(back.components)) == 0);
  fail_if(gst_dct_meta_validate(copied, &info, 2 * info.size, nullptr));
}

CHECK_TEST(test_cmyk) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, TRUE, 8, GST_COEF_SAMPLING_CMYK, 64, 48,
                               nullptr));
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  const std::vector<guint16> divisors(64, 3);
  fail_unless(gst_dct_meta_set_table(meta, 0, divisors.data()));
  for (guint c = 0; c < 4; c++) {
    fail_unless_equals_int(meta->components[c].id, "CMYK"[c]);
    fail_unless_equals_int(meta->components[c].table, 0);
  }
  fail_unless(gst_dct_meta_validate(meta, &info, info.size, nullptr));
  fail_if(gst_dct_meta_validate(meta, &info, info.size - 1, nullptr));
  meta->components[3].table = 1;
  fail_if(gst_dct_meta_validate(meta, &info, info.size, nullptr));
  meta->components[3].table = 0;
  meta->n_components = 3;
  fail_if(gst_dct_meta_validate(meta, &info, info.size, nullptr));
}

// A meta of any contents is copied as it is, and never stored.
CHECK_TEST(test_serial_of_lies) {
  const GstDctInfo info = make_info();
  const struct {
    void (*apply)(GstDctMeta* meta);
    const char* what;
  } lies[] = {
      {[](GstDctMeta* m) { m->n_components = GST_DCT_MAX_COMPONENTS + 1; }, "components"},
      {[](GstDctMeta* m) { m->n_components = 0xffffffff; }, "many components"},
      {[](GstDctMeta* m) { m->n_tables = GST_DCT_MAX_TABLES + 1; }, "tables"},
  };
  for (const auto& lie : lies) {
    GstDctMeta* meta;
    g_autoptr(GstBuffer) buffer = make_buffer(info, &meta);
    lie.apply(meta);
    std::vector<uint8_t> bytes;
    fail_if(gstcoef::serialize(*meta, &bytes), "%s", lie.what);
    fail_unless(bytes.empty());
    g_autoptr(GstBuffer) copy = gst_buffer_copy(buffer);
    const GstDctMeta* copied = gst_buffer_get_dct_meta(copy);
    fail_unless(copied->n_components == meta->n_components && copied->n_tables == meta->n_tables);
  }
}

std::vector<uint8_t> stored_jpeg_meta(const GstDctJpegMeta& meta) {
  std::vector<uint8_t> bytes;
  fail_unless(gstcoef::serialize_head(meta, &bytes));
  for (GBytes* part : {meta.segments, meta.trailing}) {
    gsize size = 0;
    const auto* data =
        static_cast<const uint8_t*>(part != nullptr ? g_bytes_get_data(part, &size) : nullptr);
    bytes.insert(bytes.end(), data, data + size);
  }
  return bytes;
}

void check_equal(const GstDctJpegMeta* a, const GstDctJpegMeta* b) {
  fail_unless(a != nullptr && b != nullptr);
  fail_unless_equals_int(a->irregular, b->irregular);
  fail_unless((a->segments == nullptr) == (b->segments == nullptr));
  if (a->segments) fail_unless(g_bytes_equal(a->segments, b->segments));
  fail_unless((a->trailing == nullptr) == (b->trailing == nullptr));
  if (a->trailing) fail_unless(g_bytes_equal(a->trailing, b->trailing));
  fail_unless_equals_int(a->n_attachments, b->n_attachments);
  for (guint i = 0; i < a->n_attachments; i++) {
    fail_unless_equals_uint64(a->attachments[i].offset, b->attachments[i].offset);
    fail_unless_equals_uint64(a->attachments[i].size, b->attachments[i].size);
  }
}

// Whether these bytes are read, into a new meta of `*buffer`.
bool reads_jpeg_meta(const uint8_t* data, size_t size, uint8_t version, GstBuffer** buffer) {
  gst_clear_buffer(buffer);
  *buffer = gst_buffer_new();
  GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(*buffer, nullptr);
  const bool read = gstcoef::deserialize(data, size, version, meta);
  if (!read) fail_unless(meta->segments == nullptr && meta->trailing == nullptr);
  return read;
}

CHECK_TEST(test_serial_of_jpeg_metas) {
  g_autoptr(GBytes) segments = g_bytes_new_static("\xff\xfe\0\3x", 5);
  g_autoptr(GBytes) behind = g_bytes_new_static("..one.two....", 13);
  const GstDctJpegPlace places[] = {{2, 3}, {6, 3}};
  for (const guint attachments : {0u, 1u, 2u}) {
    for (const bool has_segments : {false, true}) {
      g_autoptr(GstBuffer) buffer = gst_buffer_new();
      GstDctJpegMeta* meta =
          gst_buffer_add_dct_jpeg_meta(buffer, has_segments ? segments : nullptr);
      meta->irregular = attachments == 1 ? GST_DCT_JPEG_EXTRANEOUS_BYTES : GST_DCT_JPEG_REGULAR;
      if (attachments > 0)
        fail_unless(gst_dct_jpeg_meta_set_trailing(meta, behind, places, attachments));
      const std::vector<uint8_t> bytes = stored_jpeg_meta(*meta);
      g_autoptr(GstBuffer) other = nullptr;
      fail_unless(reads_jpeg_meta(bytes.data(), bytes.size(), gstcoef::kSerialVersion, &other));
      check_equal(meta, gst_buffer_get_dct_jpeg_meta(other));
      check_only_whole(bytes, gstcoef::kSerialVersion,
                       [&](const uint8_t* data, size_t size, uint8_t version) {
                         return reads_jpeg_meta(data, size, version, &other);
                       });
      // Unknown flags, too many attachments, sizes without end.
      for (const size_t at : {1, 5, 15, 23}) {
        std::vector<uint8_t> wrong = bytes;
        wrong[at] = 0xff;
        fail_if(reads_jpeg_meta(wrong.data(), wrong.size(), gstcoef::kSerialVersion, &other));
      }
      if (attachments > 0) {  // an attachment that is not in the bytes
        std::vector<uint8_t> wrong = bytes;
        wrong[24 + 7] = 0xff;
        fail_if(reads_jpeg_meta(wrong.data(), wrong.size(), gstcoef::kSerialVersion, &other));
      }
#if GST_CHECK_VERSION(1, 23, 0)
      g_autoptr(GByteArray) stored = g_byte_array_new();
      fail_unless(gst_meta_serialize_simple(&meta->meta, stored));
      g_autoptr(GstBuffer) third = gst_buffer_new();
      guint32 consumed = 0;
      fail_unless(gst_meta_deserialize(third, stored->data, stored->len, &consumed) != nullptr);
      fail_unless_equals_int(consumed, stored->len);
      check_equal(meta, gst_buffer_get_dct_jpeg_meta(third));
      stored->data[stored->len - bytes.size() + 1] = 0xff;
      g_autoptr(GstBuffer) fourth = gst_buffer_new();
      fail_if(gst_meta_deserialize(fourth, stored->data, stored->len, &consumed) != nullptr);
      fail_unless(gst_buffer_get_dct_jpeg_meta(fourth) == nullptr);
#endif
    }
  }
}

}  // namespace
