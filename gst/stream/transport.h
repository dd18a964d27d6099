// Moves one stream's frames to the engine and back: the part that both ends of every element share.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gst/engine/block_pool.h"
#include "gst/engine/engine.h"
#include "gst/stream/measure.h"
#include "gst/stream/transfer.h"

namespace cudatransform {

// The frames that a source is filling and that are being read, besides frames kept elsewhere.
inline constexpr guint kWorkingBuffers = 2;

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
class Transport {
 public:
  explicit Transport(Engine& engine) : engine_(engine) {}
  ~Transport() { release_inputs(); }

  // Starts a new stream: the most frames in flight between submission and push. Every warning may
  // come again.
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
  // Waits until the device has read all input buffers, and lets go of them.
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
  Status bring_in(Transport& transport, GstBuffer* buffer, const GstVideoInfo& info,
                  InPlace in_place, BlockPool& pool, MeasuredFrame* frame) {
    const auto map = [&](bool device, Rects* rects) -> Status {
      CT_RETURN_IF_ERROR(mapped_.map(buffer, info, GST_MAP_READ, device));
      *rects = mapped_.rects();
      return {};
    };
    return transport.place(buffer, map, in_place, pool, frame, &placed_);
  }
  // Has the addresses that kernels read.
  const Placed& placed() const { return placed_; }

 private:
  MappedFrame mapped_;
  Placed placed_;
};

}  // namespace cudatransform
