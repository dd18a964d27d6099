// Coefficients of another element: waits for them, maps them and marks them as read in their fence.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/fence.h>
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/frame_mover.h"

namespace cudatransform {

// One buffer while it is being read; the buffer has to outlive it. The counterpart of CoefOutput
// for the sink pad.
class CoefInput {
 public:
  CoefInput() = default;
  ~CoefInput() { close(); }
  CoefInput(const CoefInput&) = delete;
  CoefInput& operator=(const CoefInput&) = delete;

  // Maps the coefficients in place. On our device, later work of `reader` waits until they are
  // written. Otherwise this function waits, and they are in system memory afterwards.
  Status open(Engine& engine, GstBuffer* buffer, const CoefPlaces& places, QueueKind reader);
  bool is_on_device() const { return on_device_; }
  const Rects& rects() const { return placed_.rects; }

  // Brings the coefficients within reach of kernels, aligned, through a block of `pool` if need be.
  // Later work of the compute queue waits until they are written.
  Status bring_in(FrameMover& mover, GstBuffer* buffer, const CoefPlaces& places, BlockPool& pool,
                  MeasuredFrame* frame);

  // `done` is the work that reads the coefficients. After open(), the caller keeps the buffer until
  // then: this informs other users of the memory.
  void mark_read(const FencePtr& done);
  // After bring_in(): keeps the memory from being reused before then.
  void mark_read(FrameMover& mover, const FencePtr& done);
  void close();

 private:
  Status map(bool device);
  bool is_guarded() const { return fence_guards_memory(buffer_, fence_); }

  GstBuffer* buffer_ = nullptr;
  GstCoefFence* fence_ = nullptr;
  bool on_device_ = false;
  BufferPtr piece_;  // mapped
  GstMapInfo map_;
  Placed placed_;
};

// `done` is the work that writes the memory that `fence` guards, or that reads it.
void set_written(GstCoefFence* fence, const FencePtr& done);
void add_read(GstCoefFence* fence, const FencePtr& done);

// Later work of `queue` starts when the memory that `fence` guards is written. Null: the host
// waits. Without a fence the memory is written already.
Status wait_written(Engine& engine, GstCoefFence* fence, Queue* queue);

}  // namespace cudatransform
