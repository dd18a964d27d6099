// GstDwtMeta as bytes, so that a meta survives a file or a socket (gdppay, unixfdsink).
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Version 1, little endian: u32 n_components (to 4); per component u32 id, h_samp, v_samp, width,
// height, padded_width, padded_height, u64 offset, stride, and 23 u8 quantizer indices.
#include <gst/coef/serial-private.h>

#include <algorithm>
#include <iterator>

namespace gstcoef {
namespace {

constexpr size_t kHeaderBytes = 4;
constexpr size_t kComponentBytes = 7 * 4 + 2 * 8 + GST_DWT_MAX_BANDS;

}  // namespace

bool serialize(const GstDwtMeta& meta, std::vector<uint8_t>* bytes) {
  if (meta.n_components > GST_DWT_MAX_COMPONENTS) return false;
  put(meta.n_components, 4, bytes);
  for (guint i = 0; i < meta.n_components; i++) {
    const GstDwtComponent& c = meta.components[i];
    for (guint value :
         {c.id, c.h_samp, c.v_samp, c.width, c.height, c.padded_width, c.padded_height}) {
      put(value, 4, bytes);
    }
    put(c.offset, 8, bytes);
    put(c.stride, 8, bytes);
    for (guint8 index : meta.quantizers[i].indices) bytes->push_back(index);
  }
  return true;
}

bool deserialize(const uint8_t* bytes, size_t size, uint8_t version, GstDwtMeta* meta) {
  if (version != kDwtSerialVersion || size < kHeaderBytes) return false;
  const guint n_components = take_uint(&bytes);
  if (n_components > GST_DWT_MAX_COMPONENTS ||
      size != kHeaderBytes + n_components * kComponentBytes)
    return false;
  meta->n_components = n_components;
  for (guint i = 0; i < n_components; i++) {
    GstDwtComponent& c = meta->components[i];
    for (guint* value :
         {&c.id, &c.h_samp, &c.v_samp, &c.width, &c.height, &c.padded_width, &c.padded_height}) {
      *value = take_uint(&bytes);
    }
    c.offset = take(&bytes, 8);
    c.stride = take(&bytes, 8);
    std::copy_n(bytes, GST_DWT_MAX_BANDS, std::begin(meta->quantizers[i].indices));
    bytes += GST_DWT_MAX_BANDS;
  }
  return true;
}

}  // namespace gstcoef
