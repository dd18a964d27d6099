// What the fuzz targets share that change the bytes of a serialised meta.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// A meta in its serial form; gst/coef/dct-serial.h or dwt-serial.h has to come before.
template <typename Meta>
std::vector<uint8_t> bytes_of_meta(const Meta& meta) {
  std::vector<uint8_t> bytes;
  promise(gstcoef::serialise(meta, &bytes), "a sound meta can be stored");
  return bytes;
}

// Changes a byte, where and how the input says.
inline void change_byte(Input* input, std::vector<uint8_t>* bytes) {
  const size_t at = input->word() % bytes->size();
  (*bytes)[at] ^= input->byte();
}

// Replaces `meta` by one of changed bytes, if these are one; false where it is as it was.
template <typename Meta>
bool change_meta(Meta* meta, Input* input, int changes, uint8_t version) {
  std::vector<uint8_t> bytes = bytes_of_meta(*meta);
  const std::vector<uint8_t> before = bytes;
  for (; changes > 0; changes--) change_byte(input, &bytes);
  Meta read = {};
  if (bytes == before || !gstcoef::deserialise(bytes.data(), bytes.size(), version, &read))
    return false;
  read.meta = meta->meta;
  *meta = read;
  return true;
}

}  // namespace fuzzing
