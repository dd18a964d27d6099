// GstDctMeta and GstDctJpegMeta as bytes, so that they survive a file or a socket (gdppay,
// unixfdsink).
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GstDctMeta, version 1, little endian: u32 0, u32 n_components (to 4), u32 n_tables; per component
// u32 id, h_samp, v_samp, width, height, blocks_w, blocks_h, table and u64 offset, stride; per
// table 64 u16.
//
// GstDctJpegMeta, version 1, little endian: u32 irregular, u32 n_attachments, u64 bytes of
// segments, u64 trailing bytes; per attachment u64 offset, size; the segments; the trailing bytes.
#include <gst/coef/serial-private.h>

namespace gstcoef {
namespace {

constexpr size_t kHeaderBytes = 3 * 4;
constexpr size_t kComponentBytes = 8 * 4 + 2 * 8;
constexpr size_t kTableBytes = 64 * 2;
constexpr size_t kJpegHeaderBytes = 2 * 4 + 2 * 8;
constexpr size_t kPlaceBytes = 2 * 8;

constexpr guint kIrregularities = 2 * GST_DCT_JPEG_UNKNOWN_HEADER - 1;  // all flags

bool are_possible(guint n_components, guint n_tables) {
  return n_components <= GST_DCT_MAX_COMPONENTS && n_tables <= GST_DCT_MAX_TABLES;
}

uint64_t size_of(GBytes* bytes) { return bytes != nullptr ? g_bytes_get_size(bytes) : 0; }

// Null for none.
GBytes* take_bytes(const uint8_t** in, uint64_t size) {
  if (size == 0) return nullptr;
  GBytes* bytes = g_bytes_new(*in, size);
  *in += size;
  return bytes;
}

}  // namespace

bool serialize(const GstDctMeta& meta, std::vector<uint8_t>* bytes) {
  if (!are_possible(meta.n_components, meta.n_tables)) return false;
  put(0, 4, bytes);
  put(meta.n_components, 4, bytes);
  put(meta.n_tables, 4, bytes);
  for (guint i = 0; i < meta.n_components; i++) {
    const GstDctComponent& c = meta.components[i];
    for (guint value :
         {c.id, c.h_samp, c.v_samp, c.width, c.height, c.blocks_w, c.blocks_h, c.table}) {
      put(value, 4, bytes);
    }
    put(c.offset, 8, bytes);
    put(c.stride, 8, bytes);
  }
  for (guint i = 0; i < meta.n_tables; i++)
    for (guint16 value : meta.tables[i].values) put(value, 2, bytes);
  return true;
}

bool deserialize(const uint8_t* bytes, size_t size, uint8_t version, GstDctMeta* meta) {
  if (version != kSerialVersion || size < kHeaderBytes) return false;
  const guint zero = take_uint(&bytes);
  const guint n_components = take_uint(&bytes);
  const guint n_tables = take_uint(&bytes);
  if (zero != 0 || !are_possible(n_components, n_tables)) return false;
  if (size != kHeaderBytes + n_components * kComponentBytes + n_tables * kTableBytes) return false;
  meta->n_components = n_components;
  meta->n_tables = n_tables;
  for (guint i = 0; i < n_components; i++) {
    GstDctComponent& c = meta->components[i];
    for (guint* value :
         {&c.id, &c.h_samp, &c.v_samp, &c.width, &c.height, &c.blocks_w, &c.blocks_h, &c.table}) {
      *value = take_uint(&bytes);
    }
    c.offset = take(&bytes, 8);
    c.stride = take(&bytes, 8);
  }
  for (guint i = 0; i < n_tables; i++)
    for (guint16& value : meta->tables[i].values) value = static_cast<guint16>(take(&bytes, 2));
  return true;
}

bool serialize_head(const GstDctJpegMeta& meta, std::vector<uint8_t>* bytes) {
  if (meta.n_attachments > GST_DCT_JPEG_MAX_ATTACHMENTS) return false;
  put(meta.irregular, 4, bytes);
  put(meta.n_attachments, 4, bytes);
  put(size_of(meta.segments), 8, bytes);
  put(size_of(meta.trailing), 8, bytes);
  for (guint i = 0; i < meta.n_attachments; i++) {
    put(meta.attachments[i].offset, 8, bytes);
    put(meta.attachments[i].size, 8, bytes);
  }
  return true;
}

bool deserialize(const uint8_t* bytes, size_t size, uint8_t version, GstDctJpegMeta* meta) {
  if (version != kSerialVersion || size < kJpegHeaderBytes) return false;
  const guint irregular = take_uint(&bytes);
  const guint n_attachments = take_uint(&bytes);
  const uint64_t segments_size = take(&bytes, 8), trailing_size = take(&bytes, 8);
  if (irregular > kIrregularities || n_attachments > GST_DCT_JPEG_MAX_ATTACHMENTS) return false;
  size -= kJpegHeaderBytes;
  if (size < n_attachments * kPlaceBytes) return false;
  size -= n_attachments * kPlaceBytes;
  if (segments_size > size || trailing_size != size - segments_size) return false;
  GstDctJpegPlace places[GST_DCT_JPEG_MAX_ATTACHMENTS];
  for (guint i = 0; i < n_attachments; i++) {
    places[i].offset = take(&bytes, 8);
    places[i].size = take(&bytes, 8);
  }
  g_autoptr(GBytes) segments = take_bytes(&bytes, segments_size);
  g_autoptr(GBytes) trailing = take_bytes(&bytes, trailing_size);
  if (!gst_dct_jpeg_meta_set_trailing(meta, trailing, places, n_attachments)) return false;
  meta->segments = static_cast<GBytes*>(g_steal_pointer(&segments));
  meta->irregular = static_cast<GstDctJpegIrregularity>(irregular);
  return true;
}

}  // namespace gstcoef
