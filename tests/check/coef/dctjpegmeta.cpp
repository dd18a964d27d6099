// Tests of GstDctJpegMeta: its serial form.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <vector>

#include <gst/coef/coef.h>
#include <gst/coef/dct-serial.h>
#include "tests/check/coef/metas.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

std::vector<uint8_t> stored_jpeg_meta(const GstDctJpegMeta& meta) {
  std::vector<uint8_t> bytes;
  fail_unless(gstcoef::serialise_head(meta, &bytes));
  for (GBytes* part : {meta.segments, meta.behind}) {
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
  fail_unless((a->behind == nullptr) == (b->behind == nullptr));
  if (a->behind) fail_unless(g_bytes_equal(a->behind, b->behind));
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
  const bool read = gstcoef::deserialise(data, size, version, meta);
  if (!read) fail_unless(meta->segments == nullptr && meta->behind == nullptr);
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
      meta->irregular = attachments == 1 ? GST_DCT_JPEG_STRAY_BYTES : GST_DCT_JPEG_REGULAR;
      if (attachments > 0)
        fail_unless(gst_dct_jpeg_meta_set_behind(meta, behind, places, attachments));
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
