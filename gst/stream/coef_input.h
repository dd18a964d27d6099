// Coefficients of another element: waited for, mapped, and given back, as their fence wants it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/engine/buffer_ptr.h"
#include "gst/stream/fences.h"
#include "gst/stream/transport.h"

namespace cudatransform {

// One buffer while it is being read; the buffer has to outlive it. The sink pad's counterpart of
// CoefOutput.
class CoefInput {
 public:
  CoefInput() = default;
  ~CoefInput() { close(); }
  CoefInput(const CoefInput&) = delete;
  CoefInput& operator=(const CoefInput&) = delete;

  // Maps the coefficients where they are. On our device, later work of `reader` finds them written;
  // anywhere else they are in system memory afterwards, and written.
  Status open(Engine& engine, GstBuffer* buffer, const CoefPlaces& places, QueueKind reader);
  bool is_on_device() const { return on_device_; }
  const Rects& rects() const { return placed_.rects; }

  // Brings them to where kernels read them, aligned, by way of a block of `pool` if need be. Later
  // work of the compute queue finds them written.
  Status bring_in(Transport& transport, GstBuffer* buffer, const CoefPlaces& places,
                  BlockPool& pool, MeasuredFrame* frame);

  // `done` is the work that reads them. After open(), the caller keeps the buffer until then: this
  // is for users of the memory without the buffer.
  void mark_read(const FencePtr& done);
  // After bring_in(): the memory is not reused before then.
  void mark_read(Transport& transport, const FencePtr& done);
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

}  // namespace cudatransform
