// GstDctMeta as bytes, so that a meta survives a file or a socket (gdppay, unixfdsink).
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Version 1, little endian: u32 0, u32 n_components (to 4), u32 n_tables; per component u32 id,
// h_samp, v_samp, width, height, blocks_w, blocks_h, table and u64 offset, stride; per table 64
// u16.
#include <gst/coef/dct-serial.h>

#include <gst/coef/serial-private.h>

namespace gstcoef {
namespace {

constexpr size_t kHeaderBytes = 3 * 4;
constexpr size_t kComponentBytes = 8 * 4 + 2 * 8;
constexpr size_t kTableBytes = 64 * 2;

bool are_possible(guint n_components, guint n_tables) {
  return n_components <= GST_DCT_MAX_COMPONENTS && n_tables <= GST_DCT_MAX_TABLES;
}

}  // namespace

bool serialise(const GstDctMeta& meta, std::vector<uint8_t>* bytes) {
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

bool deserialise(const uint8_t* bytes, size_t size, uint8_t version, GstDctMeta* meta) {
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

}  // namespace gstcoef
