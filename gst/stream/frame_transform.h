// The interface between the frame loop and the transforms, and the frames that both handle.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>

#include "gst/engine/buffer_ptr.h"
#include "gst/stream/frame_mover.h"
#include "gst/stream/measure.h"

namespace cudatransform {

// An output buffer, and the objects that must stay until its work is done.
class SubmittedFrame {
 public:
  BufferPtr buffer;
  FencePtr ready;         // wait for it before the push; null: no wait
  MappedFrame frame;      // the target of a raw frame's download
  MappedBuffer memory;    // or of that of coefficients
  BufferPtr device_copy;  // the source of the download
  gint64 since = 0;       // when it was submitted, by g_get_monotonic_time()

  // Waits and releases all but the buffer, even after an error.
  Status finish();
  void reset();
};

// The queue of async-depth: frames that have been submitted and not yet pushed. A ring; used with
// the stream's lock.
class FramesInFlight {
 public:
  static constexpr guint kMax = 16;

  ~FramesInFlight() { drop(); }
  bool empty() const { return count_ == 0; }
  guint size() const { return count_; }
  // The frame to be filled; add() takes it in. The ring has room for kMax of them. It stays the
  // next one when older frames leave.
  SubmittedFrame& next() { return frames_[(first_ + count_) % kMax]; }
  void add();
  SubmittedFrame& oldest() { return frames_[first_]; }
  // Whether the oldest frame can be taken without waiting, as far as is known or, once it `matters`
  // or the frame has been in flight for long, as a poll of the device says.
  bool oldest_is_done(bool matters);
  // Waits for the oldest frame and returns its buffer.
  Status take(BufferPtr* buffer);
  // Waits for all and pushes none.
  void drop();

 private:
  SubmittedFrame frames_[kMax];
  guint first_ = 0, count_ = 0;
};

// A frame to be transformed.
struct FrameTask {
  GstBuffer* in;
  // Gets a new buffer without the input's metas and timestamps, or the input itself, and is reset
  // after a failure.
  SubmittedFrame& out;
  MeasuredFrame* measured;  // null: nothing is measured
  // For a frame that needs other caps: frames in flight are pushed, and the caps of the src pad,
  // which `complete` edits, are sent.
  std::function<void(const std::function<void(GstCaps*)>& complete)> change_caps;
};

// The element's class makes one (transform_base.h) for each element. The streaming thread calls it;
// any thread may call propose(), kept_buffers() and describe(). A transform does not depend on its
// element, which sets the settings, which are members, with the object lock.
class FrameTransform {
 public:
  virtual ~FrameTransform() = default;

  // Sends a query downstream. The element sets it.
  std::function<bool(GstQuery* query)> query_downstream;

  // Fails the way to READY if settings contradict each other. The caller holds the object lock.
  virtual Status check_settings() const { return {}; }
  // Starts a new stream. Allows every warning again.
  virtual void start() {}
  // New caps; no frame of the old ones is in flight. Fails if frames of the two do not belong
  // together.
  virtual Status configure(const GstCaps* in, const GstCaps* out) = 0;
  // The answered ALLOCATION query of the src pad, which is for `caps`.
  virtual Status allocate(GstQuery* query, GstCaps* caps) = 0;
  // Answers the query of the sink pad. The element works on this many buffers at a time.
  virtual void propose(GstQuery* query, GstCaps* caps, guint buffers) = 0;
  // How many more input buffers are kept. The caller holds the object lock.
  virtual guint kept_buffers() const { return 0; }

  // Whether the host has to wait for a frame before it can be pushed, and whether more than one
  // frame in flight gets a buffer. Caps and allocation decide both.
  virtual bool waits_for_frames() const = 0;
  virtual bool can_hold_frames() const { return true; }

  // Takes the settings of the next frame. The caller holds the object lock. New caps take them,
  // too: wrong ones fail the next frame. `*changed_property`: one to be notified.
  virtual Status take_settings(const char** /*changed_property*/) { return {}; }
  // Enqueues the work of a frame.
  virtual Status submit(FrameTask& task) = 0;

  // Adds the transform's part of the stats property. The caller holds the object lock.
  virtual void describe(GstStructure* /*stats*/) const {}
  // Releases all memory; nothing is in flight.
  virtual void stop() = 0;
};

}  // namespace cudatransform
