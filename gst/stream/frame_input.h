// Raw frames that an engine reads: mapped, brought to it, and given back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/stream/transport.h"

namespace cudatransform {

// One frame while it is being read; the buffer has to outlive it. The sink pad's counterpart of
// FrameOutput.
class FrameInput {
 public:
  // Brings the frame to where kernels read it, by way of a block of `pool` if need be. `info` is
  // what caps (or a reference meta) say. `frame` gets the time of the copy; may be null.
  Status bring_in(Transport& transport, GstBuffer* buffer, const GstVideoInfo& info,
                  InPlace in_place, BlockPool& pool, MeasuredFrame* frame);
  // With the addresses that kernels read.
  RawView view() const { return view_of(placed_.rects, info_); }
  const Placed& placed() const { return placed_; }
  // `done` is the work that reads it: nobody reuses the frame before. Nothing where none is open.
  void mark_read(Transport& transport, const FencePtr& done);

 private:
  GstBuffer* buffer_ = nullptr;
  GstVideoInfo info_ = {};
  MappedFrame mapped_;
  Placed placed_;
};

}  // namespace cudatransform
