// Delivers an engine's raw frames in the memory that caps require.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/frame_output.h"

#include <utility>

#include "gst/engine/cuda_sync.h"
#include "gst/engine/pools.h"

namespace cudatransform {

void FrameOutput::configure(const GstVideoInfo& info, bool in_cuda) {
  stop();
  info_ = info;
  in_cuda_ = in_cuda;
}

Status FrameOutput::allocate(GstQuery* query, GstCaps* caps) {
  return make_raw_pool(engine_, query, caps, &pool_, &pool_maximum_);
}

bool FrameOutput::waits_for_frames() const {
  return engine_.is_cuda() && !(in_cuda_ && kFramesHaveStreams);
}

Status FrameOutput::begin(SubmittedFrame* out, Rects* rects) {
  Queue& queue = engine_.queue(QueueKind::kCompute);
  GstBuffer* acquired = nullptr;
  const Status status = acquire_buffer(pool_, "frames", &acquired);
  if (!status.ok()) return failed_allocation(queue, status);
  out->buffer.reset(acquired);
  CT_RETURN_IF_ERROR(out->frame.map(acquired, info_, GST_MAP_WRITE, in_cuda_));
  if (in_cuda_) CT_RETURN_IF_ERROR(wait_for_readers(acquired, queue));
  *rects = out->frame.rects();
  if (!engine_.is_cuda() || in_cuda_) return {};
  DeviceBlock block;
  CT_RETURN_IF_ERROR(stack_in_pool(engine_, blocks_, queue, &block, rects));
  out->device_copy = std::move(block.buffer);
  return {};
}

Status FrameOutput::finish(FrameMover& mover, const Rects& rects, const FencePtr& done,
                           MeasuredFrame* frame, SubmittedFrame* out) {
  if (frame) frame->fence = done;
  if (engine_.is_cuda() && !in_cuda_)
    return mover.fetch(rects, out->frame.rects(), done, frame, &out->ready);
  out->frame.unmap();
  return engine_.is_cuda() ? hand_over(out->buffer.get(), done, &out->ready) : Status();
}

void FrameOutput::stop() {
  blocks_.clear();
  clear_pool(engine_, &pool_);
}

}  // namespace cudatransform
