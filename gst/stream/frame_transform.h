// The one interface between the frame loop and the transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/stream/frames_in_flight.h"
#include "gst/stream/measure.h"

namespace cudatransform {

// Requests of prepare(), which the element fulfils before it submits the frame.
struct FrameRequest {
  const char* changed_property = nullptr;  // the property to notify
  bool new_caps = false;                   // the frame needs caps of its own: complete_caps()
};

// The element's class makes one (transform_base.h) for each element. The streaming thread calls it;
// any thread may call propose(), kept_buffers() and describe(). A transform knows no element: the
// element sets the settings, which are members, with the object lock. The transform returns its
// requests to the element.
class FrameTransform {
 public:
  virtual ~FrameTransform() = default;

  // Starts a new stream. Every warning may come again.
  virtual void start() {}
  // New caps; no frame of the old ones is in flight. Fails if frames of the two do not belong
  // together.
  virtual Status configure(const GstCaps* in, const GstCaps* out) = 0;
  // The answered ALLOCATION query of the src pad, which is for `caps`.
  virtual Status allocate(GstQuery* query, GstCaps* caps) = 0;
  // Answers the query of the sink pad. The element works on this many buffers at once.
  virtual void propose(GstQuery* query, GstCaps* caps, guint buffers) = 0;
  // How many more input buffers are kept. The caller holds the object lock.
  virtual guint kept_buffers() const { return 0; }

  // Whether the host has to wait for a frame before it can be pushed, and whether more than one
  // frame in flight gets a buffer. Caps and allocation decide both.
  virtual bool waits_for_frames() const = 0;
  virtual bool can_hold_frames() const { return true; }

  // Takes the settings of the next frame. The caller holds the object lock.
  virtual Status prepare(FrameRequest* /*request*/) { return {}; }
  // Writes the next frame's fields into `caps`, the writable caps of the src pad.
  virtual void complete_caps(GstCaps* /*caps*/) {}
  // Enqueues the work for a frame. `out` gets a new buffer without the input's metas and
  // timestamps, or the input itself, and is reset after a failure. `frame` is null when nothing is
  // measured.
  virtual Status submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) = 0;

  // Adds the transform's part of the stats property. The caller holds the object lock.
  virtual void describe(GstStructure* /*stats*/) const {}
  // Gives up all memory; nothing is in flight.
  virtual void stop() = 0;
};

}  // namespace cudatransform
