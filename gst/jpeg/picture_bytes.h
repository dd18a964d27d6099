// Collects the bytes of a picture that arrives in several buffers in one block.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstadapter.h>
#include <gst/gst.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "gst/engine/buffer_ptr.h"

namespace cudatransform {

// Each byte is copied here once (a few times while the block grows by doubling), and its buffer is
// free at once. The memory is malloc()'s, because GLib's ends the process when memory runs out.
class PictureBytes {
 public:
  static constexpr gsize kMost = gsize{1} << 28;  // of a picture

  PictureBytes() = default;
  ~PictureBytes() { clear(); }
  PictureBytes(const PictureBytes&) = delete;
  PictureBytes& operator=(const PictureBytes&) = delete;

  // Appends the first `count` bytes of `adapter`, which keeps them; false if memory runs out.
  bool append(GstAdapter* adapter, gsize count);
  gsize size() const { return size_; }
  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  // Keeps the first `size` bytes.
  void shorten(gsize size) { size_ = std::min(size_, size); }
  void clear();
  // All bytes collected so far, without a copy.
  BufferPtr take();

 private:
  guint8* data_ = nullptr;
  gsize size_ = 0, capacity_ = 0;
};

}  // namespace cudatransform
