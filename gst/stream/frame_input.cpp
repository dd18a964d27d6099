// Raw frames that an engine reads: mapped, brought to it, and given back.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/frame_input.h"

namespace cudatransform {

Status FrameInput::bring_in(Transport& transport, GstBuffer* buffer, const GstVideoInfo& info,
                            InPlace in_place, BlockPool& pool, MeasuredFrame* frame) {
  info_ = info;
  const auto map = [&](bool device, Rects* rects) -> Status {
    mapped_.unmap();
    CT_RETURN_IF_ERROR(mapped_.map(buffer, info, GST_MAP_READ, device));
    *rects = mapped_.rects();
    return {};
  };
  CT_RETURN_IF_ERROR(transport.place(buffer, map, in_place, pool, frame, &placed_));
  buffer_ = buffer;
  return {};
}

void FrameInput::mark_read(Transport& transport, const FencePtr& done) {
  if (buffer_) transport.mark_read(buffer_, placed_, done);
}

}  // namespace cudatransform
