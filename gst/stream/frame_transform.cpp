// The interface between the frame loop and the transforms, and the frames that both handle.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/frame_transform.h"

#include <utility>

#include "gst/engine/cuda_sync.h"

namespace cudatransform {

Status SubmittedFrame::finish() {
  const Status status = ready ? ready->wait() : Status();
  ready.reset();
  frame.unmap();
  memory.unmap();
  device_copy.reset();
  return status;
}

// A failure no longer matters.
void SubmittedFrame::reset() {
  (void)finish();
  buffer.reset();
}

void FramesInFlight::add() {
  next().since = g_get_monotonic_time();
  count_++;
}

bool FramesInFlight::oldest_is_done(bool matters) {
  const auto fence_of = [&](size_t i) { return frames_[(first_ + i) % kMax].ready.get(); };
  if (matters || fence_of(0) == nullptr) return first_is_done(count_, fence_of);
  return first_is_done_by(g_get_monotonic_time(), oldest().since, count_, fence_of);
}

Status FramesInFlight::take(BufferPtr* buffer) {
  SubmittedFrame& frame = oldest();
  const Status status = frame.finish();
  *buffer = std::move(frame.buffer);
  first_ = (first_ + 1) % kMax;
  count_--;
  return status;
}

void FramesInFlight::drop() {
  for (; count_ > 0; count_--) {
    frames_[first_].reset();
    first_ = (first_ + 1) % kMax;
  }
}

}  // namespace cudatransform
