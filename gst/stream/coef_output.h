// Coefficients that an element makes, delivered in the memory that caps want.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <deque>
#include <memory>

#include "gst/engine/block_pool.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/frames_in_flight.h"
#include "gst/stream/transport.h"

namespace cudatransform {

// Where one frame's coefficients are written by the CPU, on any thread: host memory. Made by
// CoefOutput::begin(), used up by CoefOutput::finish().
struct CoefFrame {
  CoefLayout layout;
  BufferPtr buffer;  // system memory, mapped
  GstMapInfo map = {};
  std::unique_ptr<Memory> pinned;  // or memory that a device copies from, page-locked if possible
  bool is_kept = false;            // `pinned` serves again: of begin() alone
  guint8* data = nullptr;

  CoefFrame() = default;
  ~CoefFrame() { unmap(); }
  CoefFrame(const CoefFrame&) = delete;
  CoefFrame& operator=(const CoefFrame&) = delete;
  void unmap();
};

// Where the engine writes a frame's coefficients.
struct EngineCoefs {
  Rects rects;
  DeviceBlock block;  // of the CUDA engine
  Rects in_system;    // where they are wanted in system memory
};

// Where a device's work on a queue of its own writes a frame's coefficients. Made by
// CoefOutput::begin_on_device(), used up by CoefOutput::finish_on_device().
struct DeviceCoefs {
  CoefLayout layout;
  Rects rects;
  DeviceBlock block;
};

enum class CoefMaker { kEngine, kCpu };

// The src pad's side of an element that makes coefficients; used by one thread at a time.
class CoefOutput {
 public:
  CoefOutput(Engine& engine, CoefMaker maker) : engine_(engine), maker_(maker) {}
  ~CoefOutput() { stop(); }

  // New caps: memory of the old size goes. The answered ALLOCATION query says whether all peers
  // promise to honour the fence.
  void configure(const CoefLayout& layout, bool in_cuda);
  Status allocate(GstQuery* query);
  const CoefLayout& layout() const { return layout_; }
  // Of system memory; none before allocate().
  GstBufferPool* pool() const { return pool_; }
  // Whether the host has to wait for a frame before it can be pushed.
  bool waits_for_frames() const { return engine_.is_cuda() && !(in_cuda_ && fence_is_honoured_); }

  // Made by the engine: a new buffer in `out`, or the device block that becomes one or that it is
  // downloaded from. finish_on_engine() is for the work `done` that writes to it, and says where
  // the coefficients of out->buffer are. The buffer has neither metas nor timestamps.
  Status begin_on_engine(SubmittedFrame* out, EngineCoefs* coefs);
  Status finish_on_engine(Transport& transport, EngineCoefs coefs, const FencePtr& done,
                          MeasuredFrame* frame, SubmittedFrame* out, CoefPlaces* places);

  // Made by the CPU. Frames of another layout than the negotiated one may be begun at any time:
  // whether they will ever be pushed is not known then. finish() takes those of the negotiated one.
  Status begin(const CoefLayout& layout, std::unique_ptr<CoefFrame>* frame);
  Status finish(std::unique_ptr<CoefFrame> frame, BufferPtr* buffer, CoefPlaces* places);
  // Takes back what will not be pushed.
  void discard(std::unique_ptr<CoefFrame> frame);

  // Likewise, made by `writer`, a queue of the CUDA engine's device. finish_on_device() is for a
  // frame that is known to be written; where caps want system memory it fetches it.
  Status begin_on_device(const CoefLayout& layout, Queue& writer, DeviceCoefs* coefs);
  Status finish_on_device(DeviceCoefs coefs, BufferPtr* buffer, CoefPlaces* places);
  // Takes back a frame that will not be pushed. It may be written again after the work of `writer`,
  // which was to write it and waits for earlier readers.
  void discard(DeviceCoefs coefs, Queue& writer);
  // Whether caps want CUDA memory.
  bool in_cuda() const { return in_cuda_; }

  // Host memory that is kept for frames to come, idle or still being uploaded: from now on no more
  // than `most` bytes of it. Waits for uploads where it is more.
  void limit_kept(gsize most);
  // How much of it begin() would use up for a frame of `layout`.
  gsize reusable(const CoefLayout& layout) const;

  // Waits for uploads in flight and gives up all memory.
  void stop();

 private:
  Status begin_pinned(CoefFrame* frame);
  Status upload_frame(std::unique_ptr<CoefFrame> frame, BufferPtr* buffer, CoefPlaces* places);
  CoefPlaces places_in(const DeviceBlock& block, const Rects& rects) const;

  Engine& engine_;
  const CoefMaker maker_;
  CoefLayout layout_;
  bool in_cuda_ = false;
  bool fence_is_honoured_ = false;
  GstBufferPool* pool_ = nullptr;  // system memory
  BlockPool blocks_;               // device memory
  // Pinned memory of the negotiated size and what still reads it; null: nothing.
  std::deque<std::pair<std::unique_ptr<Memory>, FencePtr>> pinned_;
  gsize most_kept_ = G_MAXSIZE;
};

}  // namespace cudatransform
