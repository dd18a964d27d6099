// What a transform adds to an element: the one interface between the frame loop and the transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/stream/frames_in_flight.h"
#include "gst/stream/measure.h"

namespace cudatransform {

// What prepare() asks of the element, which does it before it submits the frame.
struct FrameRequest {
  const char* changed_property = nullptr;  // to be notified
  bool new_caps = false;                   // the frame needs caps of its own: complete_caps()
};

// Made by an element's class (transform_base.h) for each element; called by its streaming thread,
// except propose(), kept_buffers() and describe(), which any thread calls. A transform knows no
// element: its settings are members that the element sets with the object lock, and what it wants
// of the element it returns.
class FrameTransform {
 public:
  virtual ~FrameTransform() = default;

  // A new stream. Every warning may come again.
  virtual void start() {}
  // New caps; no frame of the old ones is in flight. An error where frames of the two do not belong
  // together.
  virtual Status configure(const GstCaps* in, const GstCaps* out) = 0;
  // The answered ALLOCATION query of the src pad, which is for `caps`.
  virtual Status allocate(GstQuery* query, GstCaps* caps) = 0;
  // Answers that of the sink pad. The element works on so many buffers at once.
  virtual void propose(GstQuery* query, GstCaps* caps, guint buffers) = 0;
  // How many input buffers are kept besides those. The object lock is held.
  virtual guint kept_buffers() const { return 0; }

  // Whether the host has to wait for a frame before it can be pushed, and whether there are buffers
  // for more than one in flight. Caps and allocation decide both.
  virtual bool waits_for_frames() const = 0;
  virtual bool can_hold_frames() const { return true; }

  // Takes the settings of the next frame. The object lock is held.
  virtual Status prepare(FrameRequest* /*request*/) { return {}; }
  // Writes into `caps`, the writable caps of the src pad, what the next frame needs there.
  virtual void complete_caps(GstCaps* /*caps*/) {}
  // Enqueues the work for a frame. `out` gets a new buffer without the input's metas and
  // timestamps, and is reset after a failure. `frame` is null when nothing is measured.
  virtual Status submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) = 0;

  // Adds what the stats property says of the transform. The object lock is held.
  virtual void describe(GstStructure* /*stats*/) const {}
  // Gives up all memory; nothing is in flight.
  virtual void stop() = 0;
};

}  // namespace cudatransform
