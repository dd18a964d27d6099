// Delivers an engine's raw frames in the memory that caps require.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/engine/block_pool.h"
#include "gst/stream/frame_mover.h"
#include "gst/stream/frame_transform.h"

namespace cudatransform {

// The src pad's side of an element that produces raw frames; used by one thread at a time.
class FrameOutput {
 public:
  explicit FrameOutput(Engine& engine) : engine_(engine) {}
  ~FrameOutput() { stop(); }

  // New caps. The answered ALLOCATION query for `caps` makes the pool.
  void configure(const GstVideoInfo& info, bool in_cuda);
  Status allocate(GstQuery* query, GstCaps* caps);
  // The pool of frames; null before there is one.
  GstBufferPool* pool() const { return pool_; }
  // Whether the host has to wait for a frame before it can be pushed.
  bool waits_for_frames() const;
  // Whether the pool has a largest number of frames. If so, an element that holds frames back must
  // not wait for one of them: it may hold all.
  bool is_bounded() const { return pool_ && pool_maximum_ > 0; }

  // A new frame in `out`, and the place that the engine shall write to.
  Status begin(SubmittedFrame* out, Rects* rects);
  // `done` is the work that writes the frame.
  Status finish(FrameMover& mover, const Rects& rects, const FencePtr& done, MeasuredFrame* frame,
                SubmittedFrame* out);

  // Gives up all memory.
  void stop();

 private:
  Engine& engine_;
  GstVideoInfo info_ = {};
  bool in_cuda_ = false;
  GstBufferPool* pool_ = nullptr;
  guint pool_maximum_ = 0;
  BlockPool blocks_;  // the source of downloads to system memory
};

}  // namespace cudatransform
