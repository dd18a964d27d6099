// Raw frames for an engine: maps them and brings them to it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/stream/transport.h"

namespace cudatransform {

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
