// The frames of a decoder that the device still writes: their memory, caps, and way downstream.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

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
  // Whether frames of `info` go out in CUDA memory. `*caps` are their caps in system memory and
  // then become those in CUDA memory.
  using ChooseMemory = std::function<bool(const GstVideoInfo& info, CapsPtr* caps)>;

  DecodedFrames(GstVideoDecoder* decoder, Engine& engine, OrderedPictures& loop,
                ChooseMemory choose_memory)
      : decoder_(decoder),
        engine_(engine),
        loop_(loop),
        choose_memory_(std::move(choose_memory)),
        mover_(engine),
        output_(engine) {}

  void stop();

  // ---- Caps and memory ----

  // Negotiates the frames of `state`, whose info is complete. `edit` adds fields to the caps.
  // Frames of earlier caps have been pushed. `reordered` frames are pushed before each.
  GstFlowReturn negotiate(GstVideoCodecState* state, const std::function<void(GstCaps*)>& edit = {},
                          guint reordered = 0);
  // Of the frames that were negotiated.
  const GstVideoInfo& info() const { return info_; }
  // kUnsupported if downstream does not accept frames of `info`.
  Status query_downstream(const GstVideoInfo& info) const;
  // GstVideoDecoder::decide_allocation. Frames have their own pool.
  bool decide_allocation(GstQuery* query);
  // PictureCodec's: where a push was refused for its caps, posts an error that names them.
  GstFlowReturn explain(GstFlowReturn flow) const;

  // ---- Frames ----

  // Takes a codec frame (transfer full), whose samples `write` enqueues on the compute queue.
  // Pushes older frames, and this one where nothing is gained by waiting. `describe` adds flags and
  // metas to the buffer.
  GstFlowReturn write(GstVideoCodecFrame* frame, const std::function<Status(const Rects&)>& write,
                      const std::function<void(GstBuffer*)>& describe = {});
  // Whether the device may still write a frame.
  bool is_kept(const GstVideoCodecFrame* frame) const {
    return std::find(waiting_.begin(), waiting_.end(), frame) != waiting_.end();
  }
  // Pushes all, before anything else follows them.
  GstFlowReturn push_all() { return push_waiting(0); }
  // PictureCodec's.
  GstFlowReturn push_kept(bool all);
  void discard_kept();

 private:
  // The latest that a frame may leave: when this many have followed it to the device.
  guint max_kept() const;
  GstFlowReturn push_waiting(guint max);
  Status make(const std::function<Status(const Rects&)>& write, SubmittedFrame* out);

  GstVideoDecoder* const decoder_;
  Engine& engine_;
  OrderedPictures& loop_;
  const ChooseMemory choose_memory_;
  FrameMover mover_;
  FrameOutput output_;
  // The frames that the device still works on, and their codec frames.
  FramesInFlight in_flight_;
  std::deque<GstVideoCodecFrame*> waiting_;
  GstVideoInfo info_ = {};
};

}  // namespace cudatransform
