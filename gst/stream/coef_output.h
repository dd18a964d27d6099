// Delivers an element's coefficients in the memory that caps require.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <deque>
#include <memory>

#include "gst/engine/block_pool.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/frame_mover.h"
#include "gst/stream/frame_transform.h"

namespace cudatransform {

// Host memory for one frame's coefficients, which the CPU writes on any thread. Made by
// CoefOutput::begin(), used up by CoefOutput::finish().
struct CoefFrame {
  CoefLayout layout;
  BufferPtr buffer;  // system memory, mapped
  GstMapInfo map = {};
  std::unique_ptr<Memory> pinned;  // or memory that a device copies from, pinned if possible
  bool is_kept = false;            // `pinned` is reused; set by begin() alone
  guint8* data = nullptr;

  CoefFrame() = default;
  ~CoefFrame() { unmap(); }
  CoefFrame(const CoefFrame&) = delete;
  CoefFrame& operator=(const CoefFrame&) = delete;
  void unmap();
};

// The memory that the engine writes a frame's coefficients to.
struct EngineCoefs {
  Rects rects;
  DeviceBlock block;  // of the CUDA engine
  Rects in_system;    // if they are wanted in system memory
};

// The memory that a device's work on its own queue writes a frame's coefficients to. Made by
// CoefOutput::begin_on_device(), used up by CoefOutput::finish_on_device().
struct DeviceCoefs {
  CoefLayout layout;
  Rects rects;
  DeviceBlock block;
};

enum class CoefMaker { kEngine, kCpu };

// The src pad's side of an element that produces coefficients; used by one thread at a time.
class CoefOutput {
 public:
  CoefOutput(Engine& engine, CoefMaker maker) : engine_(engine), maker_(maker) {}
  ~CoefOutput() { stop(); }

  // New caps: frees memory that they cannot use. The answered ALLOCATION query has whether all
  // peers promise to honor the fence.
  void configure(const CoefLayout& layout, bool in_cuda);
  Status allocate(GstQuery* query);
  const CoefLayout& layout() const { return layout_; }
  // The pool of system memory; none before allocate(). Its buffers may be larger than a frame.
  GstBufferPool* pool() const { return pool_; }
  // Whether the host has to wait for a frame before it can be pushed.
  bool waits_for_frames() const { return engine_.is_cuda() && !(in_cuda_ && fence_is_honored_); }
  // Whether all peers have promised to honor the fence.
  bool fence_is_honored() const { return fence_is_honored_; }

  // For the engine: a new buffer in `out`, or the device block that becomes it or is downloaded to
  // it. finish_on_engine() takes the work `done` that writes there, and returns the places of the
  // coefficients in out->buffer. The buffer has neither metas nor timestamps.
  Status begin_on_engine(SubmittedFrame* out, EngineCoefs* coefs);
  Status finish_on_engine(FrameMover& mover, EngineCoefs coefs, const FencePtr& done,
                          MeasuredFrame* frame, SubmittedFrame* out, CoefPlaces* places);

  // For the CPU. Frames of another layout than the negotiated one may begin at any time: they may
  // never be pushed. finish() takes frames of the negotiated layout.
  Status begin(const CoefLayout& layout, std::unique_ptr<CoefFrame>* frame);
  Status finish(std::unique_ptr<CoefFrame> frame, BufferPtr* buffer, CoefPlaces* places);
  // Takes back a frame that will not be pushed.
  void discard(std::unique_ptr<CoefFrame> frame);

  // Likewise for `writer`, a queue of the CUDA engine's device. finish_on_device() takes a frame
  // that is known to be written, and fetches it if caps require system memory.
  Status begin_on_device(const CoefLayout& layout, Queue& writer, DeviceCoefs* coefs);
  Status finish_on_device(DeviceCoefs coefs, BufferPtr* buffer, CoefPlaces* places);
  // Takes back a frame that will not be pushed. Its memory may be rewritten after the work of
  // `writer`, which was to write it and waits for earlier readers.
  void discard(DeviceCoefs coefs, Queue& writer);
  // Whether caps require CUDA memory.
  bool in_cuda() const { return in_cuda_; }

  // Keeps no more than `max` bytes of host memory, idle or still being uploaded, for later frames.
  // Waits for uploads if there is more.
  void limit_kept(gsize max);
  // How much of that memory begin() would use up for a frame of `layout`.
  gsize reusable(const CoefLayout& layout) const;

  // Waits for uploads in flight and releases all memory.
  void stop();

 private:
  Status acquire(GstBuffer** buffer);
  Status begin_pinned(CoefFrame* frame);
  Status upload_frame(std::unique_ptr<CoefFrame> frame, BufferPtr* buffer, CoefPlaces* places);
  CoefPlaces places_in(const DeviceBlock& block, const Rects& rects) const;

  Engine& engine_;
  const CoefMaker maker_;
  CoefLayout layout_;
  bool in_cuda_ = false;
  bool fence_is_honored_ = false;
  GstBufferPool* pool_ = nullptr;           // system memory
  gsize pool_size_ = 0;                     // of each of its buffers
  GstAllocator* pool_allocator_ = nullptr;  // the pool keeps it
  BlockPool blocks_;                        // device memory
  // Pinned memory of the negotiated size and the upload that reads it; null: none.
  std::deque<std::pair<std::unique_ptr<Memory>, FencePtr>> pinned_;
  gsize max_kept_ = G_MAXSIZE;
};

}  // namespace cudatransform
