// Owners for GStreamer's references and mappings, so that an early return leaks none.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideoutils.h>

#include <memory>

namespace cudatransform {

struct Unref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstVideoCodecState* state) const { gst_video_codec_state_unref(state); }
  void operator()(GBytes* bytes) const { g_bytes_unref(bytes); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
  void operator()(GstBufferPool* pool) const { gst_object_unref(pool); }
  void operator()(GstQuery* query) const { gst_query_unref(query); }
};
using BufferPtr = std::unique_ptr<GstBuffer, Unref>;
using CapsPtr = std::unique_ptr<GstCaps, Unref>;
using CodecStatePtr = std::unique_ptr<GstVideoCodecState, Unref>;
using BytesPtr = std::unique_ptr<GBytes, Unref>;
using StructurePtr = std::unique_ptr<GstStructure, Unref>;
using PoolPtr = std::unique_ptr<GstBufferPool, Unref>;
using QueryPtr = std::unique_ptr<GstQuery, Unref>;

struct FreeWithGlib {
  void operator()(gpointer memory) const { g_free(memory); }
};
template <typename T>
using GlibPtr = std::unique_ptr<T, FreeWithGlib>;

// A mapping of a whole buffer; the buffer has to outlive it.
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
