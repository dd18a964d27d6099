// Collects the bytes of a picture that arrives in several buffers in one block.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/picture_bytes.h"

#include <cstdlib>
#include <utility>

namespace cudatransform {

bool PictureBytes::append(GstAdapter* adapter, gsize count) {
  if (capacity_ - size_ < count) {
    const gsize capacity = std::max(size_ + count, std::min(2 * (capacity_ + count), kMost));
    auto* data = static_cast<guint8*>(std::realloc(data_, capacity));
    if (!data) return false;
    data_ = data;
    capacity_ = capacity;
  }
  gst_adapter_copy(adapter, data_ + size_, 0, count);
  size_ += count;
  return true;
}

void PictureBytes::clear() {
  std::free(data_);
  data_ = nullptr;
  size_ = capacity_ = 0;
}

BufferPtr PictureBytes::take() {
  if (!data_) return BufferPtr(gst_buffer_new());
  const gsize size = std::exchange(size_, 0), capacity = std::exchange(capacity_, 0);
  guint8* data = std::exchange(data_, nullptr);
  return BufferPtr(gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), data, capacity, 0,
                                               size, data, std::free));
}

}  // namespace cudatransform
