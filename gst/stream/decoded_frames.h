// The frames of a decoder that the device still writes: their memory, caps, and way downstream.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <deque>
#include <functional>

#include "gst/engine/engine.h"
#include "gst/stream/decoder_common.h"
#include "gst/stream/frame_output.h"
#include "gst/stream/frame_transform.h"
#include "gst/stream/ordered_pictures.h"
#include "transform/device/status.h"

namespace cudatransform {

// A decoder gives it codec frames in display order. Called with the decoder's stream lock.
class DecodedFrames {
 public:
  DecodedFrames(GstVideoDecoder* decoder, Engine& engine, OrderedPictures& loop)
      : decoder_(decoder), engine_(engine), loop_(loop), mover_(engine), output_(engine) {}

  void stop();

  // ---- Caps and memory ----

  // Negotiates the frames of `state`, whose info is complete. `edit` adds fields to the caps.
  // Frames of earlier caps have been pushed.
  GstFlowReturn negotiate(GstVideoCodecState* state, const std::function<void(GstCaps*)>& edit);
  // kUnsupported if downstream does not accept frames of `info`.
  Status query_downstream(const GstVideoInfo& info) const;
  // GstVideoDecoder::decide_allocation. Frames have their own pool.
  bool decide_allocation(GstQuery* query);
  // PictureCodec's: where a push was refused for its caps, posts an error that names them.
  GstFlowReturn explain(GstFlowReturn flow) const;

  // ---- Frames ----

  // Takes a codec frame (transfer full), whose samples `write` tells the compute queue to write.
  // Pushes older frames, and this one where nothing is gained by waiting.
  GstFlowReturn write(GstVideoCodecFrame* frame, const std::function<Status(const Rects&)>& write);
  // Pushes all, before anything else follows them.
  GstFlowReturn push_all() { return push_waiting(0); }
  // PictureCodec's.
  GstFlowReturn push_kept(bool all);
  void discard_kept();

 private:
  bool choose_memory(const GstVideoInfo& info, CapsPtr* caps) const;
  // The latest that a frame may leave: when this many have followed it to the device.
  guint max_kept() const;
  GstFlowReturn push_waiting(guint max);
  Status make(const std::function<Status(const Rects&)>& write, SubmittedFrame* out);

  GstVideoDecoder* const decoder_;
  Engine& engine_;
  OrderedPictures& loop_;
  FrameMover mover_;
  FrameOutput output_;
  // The frames that the device still works on, and their codec frames.
  FramesInFlight in_flight_;
  std::deque<GstVideoCodecFrame*> waiting_;
  GstVideoInfo info_ = {};
};

}  // namespace cudatransform
