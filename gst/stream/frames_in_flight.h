// Frames that have been submitted and not been pushed: async-depth's queue.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/engine/buffer_ptr.h"
#include "gst/stream/transfer.h"

namespace cudatransform {

// An output buffer, and the objects that have to stay until its work is done.
class SubmittedFrame {
 public:
  BufferPtr buffer;
  FencePtr ready;         // to be waited for before the buffer is pushed; null: nothing
  MappedFrame frame;      // where a raw frame is downloaded to
  MappedBuffer memory;    // or where coefficients are
  BufferPtr device_copy;  // what is downloaded

  // Waits and lets go of everything but the buffer. On an error, too.
  Status finish();
  void reset();
};

// A ring; used with the stream's lock.
class FramesInFlight {
 public:
  static constexpr guint kMost = 16;

  ~FramesInFlight() { drop(); }
  bool empty() const { return count_ == 0; }
  guint size() const { return count_; }
  // The frame to be filled; add() takes it in. There is room for kMost of them.
  SubmittedFrame& next() { return frames_[(first_ + count_) % kMost]; }
  void add() { count_++; }
  SubmittedFrame& oldest() { return frames_[first_]; }
  // Whether the oldest can be taken without waiting.
  bool oldest_is_done();
  // Waits for the oldest and hands out its buffer.
  Status take(BufferPtr* buffer);
  // Waits for all and pushes none.
  void drop();

 private:
  SubmittedFrame frames_[kMost];
  guint first_ = 0, count_ = 0;
};

}  // namespace cudatransform
