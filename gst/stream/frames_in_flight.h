// The queue of async-depth: frames that have been submitted and not yet pushed.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/engine/buffer_ptr.h"
#include "gst/stream/transfer.h"

namespace cudatransform {

// An output buffer, and the objects that must stay until its work is done.
class SubmittedFrame {
 public:
  BufferPtr buffer;
  FencePtr ready;         // wait for it before the push; null: no wait
  MappedFrame frame;      // the target of a raw frame's download
  MappedBuffer memory;    // or of that of coefficients
  BufferPtr device_copy;  // the source of the download

  // Waits and lets go of all but the buffer, even after an error.
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
  // The frame to be filled; add() takes it in. The ring has room for kMost of them.
  SubmittedFrame& next() { return frames_[(first_ + count_) % kMost]; }
  void add() { count_++; }
  SubmittedFrame& oldest() { return frames_[first_]; }
  // Whether the oldest frame can be taken without waiting.
  bool oldest_is_done();
  // Waits for the oldest frame and hands out its buffer.
  Status take(BufferPtr* buffer);
  // Waits for all and pushes none.
  void drop();

 private:
  SubmittedFrame frames_[kMost];
  guint first_ = 0, count_ = 0;
};

}  // namespace cudatransform
