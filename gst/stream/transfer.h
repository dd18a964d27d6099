// Frames and coefficients as rectangles of bytes: checks them, and moves them to the engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <string>

#include "gst/engine/block_pool.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/formats.h"
#include "transform/picture.h"

namespace cudatransform {

// One plane of samples, or one component's coefficients.
struct Rect {
  guint8* data = nullptr;
  gsize pitch = 0;
  gsize row_bytes = 0;
  guint rows = 0;
};

// Up to four rectangles of one buffer, all in one address space.
struct Rects {
  int count = 0;
  Rect rect[GST_VIDEO_MAX_PLANES];
  // Rows should follow each other without gaps, as far as vectors allow: the fast kernels need that
  // for coefficients in blocks, and narrow rows would take many times their memory.
  bool gapless = false;

  // Whether every address and pitch is a multiple of 16, as the kernels' vector loads need.
  bool aligned() const;
};

// One component's rows in a buffer.
struct PlaneLayout {
  gsize offset = 0;
  gsize pitch = 0;
  gsize row_bytes = 0;
  guint rows = 0;

  bool operator==(const PlaneLayout&) const = default;
};

// The places of each component's coefficients in a buffer.
struct CoefLayout {
  int count = 0;
  bool gapless = false;  // see Rects
  gsize size = 0;        // the bytes of a buffer in system memory
  PlaneLayout plane[GST_VIDEO_MAX_PLANES];

  bool operator==(const CoefLayout&) const = default;
  // The coefficients of a buffer whose bytes begin at `base`.
  Rects at(guint8* base) const;
};

// The places of a buffer's coefficients, checked against its size, and their fence.
struct CoefPlaces {
  CoefLayout layout;
  GstCoefFence* fence = nullptr;  // owned by the buffer or its memory; null: complete
};

// The components of a frame with these planes: fills `samples` in the order Y Cb Cr, or R G B, and
// returns their number. Each row of the second and third appears `chroma_rows` times in the frame.
// `frame` tells format and size; its strides and offsets are not used.
int component_planes(const GstVideoInfo& frame, const Rects& planes,
                     SamplePlane samples[kMaxComponents], int chroma_rows = 1);

// A block of `pool` with room for `*rects`, which are moved there: rectangles of the same sizes,
// one below the other, and packed if they are to have no gaps. Later work of `writer` may write to
// it.
Status stack_in_pool(Engine& engine, BlockPool& pool, Queue& writer, DeviceBlock* block,
                     Rects* rects);

// The residence of a buffer's bytes, seen from an engine.
enum class Residence {
  kHost,
  kDevice,         // in our context
  kForeignDevice,  // CUDA memory of another context; copied, never used in place
};
Residence residence_of(const Engine& engine, GstBuffer* buffer);

// The CUcontext of a buffer in CUDA memory.
void* native_context_of(GstBuffer* buffer);
// For a buffer of kForeignDevice: empty if the engine's device can reach that of the buffer by
// itself, otherwise a sentence for the user. Asks the driver.
std::string describe_detour(const Engine& engine, GstBuffer* buffer);

// The map flags for a buffer: `flags`, and those for device addresses if `device`.
GstMapFlags map_flags(int flags, bool device);

// A mapped raw frame; the buffer has to outlive it. Checks that every plane lies inside the buffer.
// After a map for the device, bytes may still be on their way: see gst/engine/cuda_sync.h.
class MappedFrame {
 public:
  MappedFrame() = default;
  ~MappedFrame() { unmap(); }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  // `info` comes from caps (and a reference meta). `device`: addresses are device addresses.
  Status map(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags, bool device);
  void unmap();
  const Rects& rects() const { return rects_; }

 private:
  bool mapped_ = false;
  BufferPtr piece_;  // if it is not the frame's own buffer
  GstVideoFrame frame_;
  Rects rects_;
};

// Enqueues the copy of each rectangle; `from` and `to` have the same sizes.
Status upload(Device& device, Queue& queue, const Rects& from, const Rects& to);
Status download(Device& device, Queue& queue, const Rects& from, const Rects& to);
// `from` is in the CUcontext `from_context`.
Status copy(Device& device, Queue& queue, const Rects& from, void* from_context, const Rects& to);

}  // namespace cudatransform
