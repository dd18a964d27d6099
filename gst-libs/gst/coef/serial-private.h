// Numbers as little-endian bytes, for the serial forms of metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include <glib.h>

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
