// Frames and coefficients as rectangles of bytes, and their way to the engine and back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gst/engine/block_pool.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/formats.h"
#include "gst/stream/measure.h"
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
// `frame` gives format and size; its strides and offsets are not used.
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
// itself, otherwise a sentence for the user. Queries the driver.
std::string describe_detour(const Engine& engine, GstBuffer* buffer);

// The map flags for a buffer: `flags`, and those for device addresses if `device`.
GstMapFlags map_flags(int flags, bool device);

// A mapped raw frame; the buffer has to outlive it. Checks that every plane is inside the buffer.
// After a map for the device, bytes may still be in flight: see gst/engine/cuda_sync.h.
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

// The frames that a source is filling and that are being read, besides frames kept elsewhere.
inline constexpr guint kWorkingBuffers = 2;
// How many buffers we may keep and still leave the source of `buffer` one for the next frame.
size_t max_kept(GstBuffer* buffer);

// Bytes for the engine, at a place where it can read them.
struct Placed {
  Rects rects;
  DeviceBlock block;  // a copy on the device; none if the bytes are used in place
};

enum class InPlace { kAlways, kIfAligned, kNever };  // of bytes that are on our device already

// Maps a buffer for the device or for the host, as often as required.
using MapFunction = std::function<Status(bool device, Rects* rects)>;

// Used by one thread at a time. No step waits for the GPU: each frame comes with the fence that the
// host has to wait for before it pushes the frame.
class FrameMover {
 public:
  explicit FrameMover(Engine& engine) : engine_(engine) {}
  ~FrameMover() { release_inputs(); }

  // Starts a new stream: the most frames in flight between submission and push. Allows every
  // warning again.
  void start(guint async_depth);
  // New caps: frames may come from another pool and another device.
  void reconfigure();
  Engine& engine() const { return engine_; }
  guint async_depth() const { return async_depth_; }

  // Brings the bytes of `buffer` to the engine: in place, or as a copy on the device, in a block of
  // `pool`. `frame` gets the time of the copy; null: it is not measured.
  Status place(GstBuffer* buffer, const MapFunction& map, InPlace in_place, BlockPool& pool,
               MeasuredFrame* frame, Placed* placed);
  // `done` is the work that reads the placed bytes of `buffer`: keeps it from being reused before.
  void mark_read(GstBuffer* buffer, const Placed& placed, const FencePtr& done);
  // Copies a result from the device to system memory; it has arrived when `*downloaded` is done.
  Status fetch(const Rects& from, const Rects& to, const FencePtr& computed, MeasuredFrame* frame,
               FencePtr* downloaded);

  // Call it after a failed frame: waits until no work uses that frame's memory any more.
  void settle();
  // Waits until the device has read all input buffers, and releases them.
  void release_inputs();

  // The most buffers that the pool of `buffer` may have; 0: no limit, or no pool.
  guint known_pool_maximum(GstBuffer* buffer);
  // Stores a sentence for the user, unless `*warned` is set, and sets that.
  void warn_once(std::string warning, bool* warned);
  // The warnings since the last call.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  struct HeldBuffer {
    BufferPtr buffer;
    FencePtr fence;
    gint64 since;  // by g_get_monotonic_time()
  };
  Status bring_to_device(GstBuffer* buffer, Residence residence, BlockPool& pool, Timer* timer,
                         Placed* placed);
  void hold_until_done(GstBuffer* buffer, const FencePtr& fence);
  void release_oldest();
  void warn_of_detour(GstBuffer* buffer);

  Engine& engine_;
  guint async_depth_ = 1;
  std::deque<HeldBuffer> held_;
  GstBufferPool* known_pool_ = nullptr;  // not owned: only compared
  guint known_maximum_ = 0;
  std::vector<std::string> warnings_;
  bool warned_of_detour_ = false;
  void* known_foreign_context_ = nullptr;  // only compared
};

// One frame while it is being read; the buffer has to outlive it. The counterpart of FrameOutput
// for the sink pad.
class FrameInput {
 public:
  // Brings the frame within reach of kernels, through a block of `pool` if need be. `info` comes
  // from caps (or a reference meta). `frame` gets the time of the copy; may be null.
  Status bring_in(FrameMover& mover, GstBuffer* buffer, const GstVideoInfo& info, InPlace in_place,
                  BlockPool& pool, MeasuredFrame* frame) {
    const auto map = [&](bool device, Rects* rects) -> Status {
      CT_RETURN_IF_ERROR(mapped_.map(buffer, info, GST_MAP_READ, device));
      *rects = mapped_.rects();
      return {};
    };
    return mover.place(buffer, map, in_place, pool, frame, &placed_);
  }
  // Has the addresses that kernels read.
  const Placed& placed() const { return placed_; }

 private:
  MappedFrame mapped_;
  Placed placed_;
};

}  // namespace cudatransform
