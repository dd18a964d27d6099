// Owners for GstBuffer references and mappings, so that an early return leaks neither.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

namespace cudatransform {

struct BufferUnref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using BufferPtr = std::unique_ptr<GstBuffer, BufferUnref>;

// A mapping of a whole buffer, which somebody else keeps alive.
class MappedBuffer {
 public:
  MappedBuffer() = default;
  ~MappedBuffer() { unmap(); }
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;

  bool map(GstBuffer* buffer, GstMapFlags flags) {
    unmap();
    if (gst_buffer_map(buffer, &map_, flags)) buffer_ = buffer;
    return buffer_;
  }
  void unmap() {
    if (buffer_) gst_buffer_unmap(buffer_, &map_);
    buffer_ = nullptr;
  }
  guint8* data() const { return map_.data; }

 private:
  GstBuffer* buffer_ = nullptr;
  GstMapInfo map_;
};

}  // namespace cudatransform
