// Bytes of streams for the element tests: whole, cut off, joined, in buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

namespace testing {

using Bytes = std::vector<guint8>;

// The first `size` bytes.
inline Bytes cut(const Bytes& whole, gsize size) {
  return Bytes(whole.begin(), whole.begin() + static_cast<gssize>(size));
}

inline Bytes joined(const std::vector<Bytes>& parts) {
  Bytes bytes;
  for (const Bytes& part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

inline std::vector<Bytes> in_pieces(const Bytes& whole, gsize piece) {
  std::vector<Bytes> pieces;
  for (gsize at = 0; at < whole.size(); at += piece) {
    const auto first = whole.begin() + static_cast<gssize>(at);
    pieces.emplace_back(first, first + static_cast<gssize>(MIN(piece, whole.size() - at)));
  }
  return pieces;
}

inline GstBuffer* buffer_of(const Bytes& bytes, GstClockTime pts = GST_CLOCK_TIME_NONE) {
  GstBuffer* buffer = gst_buffer_new_memdup(bytes.data(), bytes.size());
  GST_BUFFER_PTS(buffer) = pts;
  return buffer;
}

}  // namespace testing
