// What tests read and write: bytes of streams, whole, cut off, joined, in buffers; and a folder for
// files, deleted with all its contents.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <filesystem>
#include <string>
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

namespace testing {

class Folder {
 public:
  Folder() {
    g_autofree gchar* made = g_dir_make_tmp("cudatransform-XXXXXX", nullptr);
    g_assert_nonnull(made);  // without GstCheck, which headers of the standard library precede
    path_ = made;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace testing
