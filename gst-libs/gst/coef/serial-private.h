// The serial forms of metas, and numbers as little-endian bytes for them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gst/coef/dct.h>
#include <gst/coef/dwt.h>

namespace gstcoef {

inline void put(uint64_t value, int bytes, std::vector<uint8_t>* out) {
  for (int i = 0; i < bytes; i++) out->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

inline uint64_t take(const uint8_t** in, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= uint64_t{(*in)[i]} << (8 * i);
  *in += bytes;
  return value;
}

inline guint take_uint(const uint8_t** in) { return static_cast<guint>(take(in, 4)); }

}  // namespace gstcoef

namespace gstcoef {

// The version of both serial forms that serialize() writes, and the only one that deserialize()
// reads.
inline constexpr uint8_t kSerialVersion = 1;

// Appends all of `meta` except the fence, which means nothing elsewhere. False, with `bytes`
// untouched, if the meta has too many components or tables for deserialize().
bool serialize(const GstDctMeta& meta, std::vector<uint8_t>* bytes);

// Fills components and tables of `meta`. False, with `meta` untouched, on any other version, length
// or count.
bool deserialize(const uint8_t* bytes, size_t size, uint8_t version, GstDctMeta* meta);

// Appends the head of the serial form. The bytes of `segments`, and then those of `trailing`,
// follow it: they may be large, so the caller appends them itself. False, with `bytes` untouched,
// if there are more attachments than deserialize() accepts.
bool serialize_head(const GstDctJpegMeta& meta, std::vector<uint8_t>* bytes);

// Fills `meta`, a new one, with copies of the bytes. False, with `meta` untouched, on any other
// version or length, on unknown flags, and on attachments outside the trailing bytes.
bool deserialize(const uint8_t* bytes, size_t size, uint8_t version, GstDctJpegMeta* meta);

}  // namespace gstcoef

namespace gstcoef {

// The version of the serial form that serialize() writes, and the only one that deserialize()
// reads.
inline constexpr uint8_t kDwtSerialVersion = 1;

// Appends all of `meta` except the fence, which means nothing elsewhere. False, with `bytes`
// untouched, if the meta has too many components.
bool serialize(const GstDwtMeta& meta, std::vector<uint8_t>* bytes);

// Fills components and quantizers of `meta`. False, with `meta` untouched, on any other version,
// length or count.
bool deserialize(const uint8_t* bytes, size_t size, uint8_t version, GstDwtMeta* meta);

}  // namespace gstcoef
