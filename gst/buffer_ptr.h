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

// Unmaps `map` of `buffer` at the end of the scope; a null buffer means that nothing is mapped.
class MapGuard {
 public:
  MapGuard(GstBuffer* buffer, GstMapInfo* map) : buffer_(buffer), map_(map) {}
  ~MapGuard() {
    if (buffer_) gst_buffer_unmap(buffer_, map_);
  }
  MapGuard(const MapGuard&) = delete;
  MapGuard& operator=(const MapGuard&) = delete;

 private:
  GstBuffer* buffer_;
  GstMapInfo* map_;
};

}  // namespace cudatransform
