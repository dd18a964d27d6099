// The inverse 8x8 DCT as the frame loop sees it: coefficients in, a raw frame out.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/dct8x8/dct_transform.h"
#include "gst/stream/frame_input.h"
#include "gst/stream/frame_output.h"
#include "gst/stream/source_frames.h"

namespace cudatransform {

class DctInverse final : public DctTransform {
 public:
  explicit DctInverse(GstCudaTransformBase* element)
      : DctTransform(element, Direction::kInverse), frames_(engine_) {}
  ~DctInverse() override { stop(); }

  void start() override {
    DctTransform::start();
    finder_.start();
  }
  Status allocate(GstQuery* query, GstCaps* caps) override;
  void propose(GstQuery* query, GstCaps* caps, guint buffers) override;
  bool waits_for_frames() const override { return frames_.waits_for_frames(); }
  bool can_hold_frames() const override { return !frames_.is_bounded(); }
  Status submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) override;
  void stop() override;

 private:
  void configure_ends(bool raw_in_cuda, bool dct_in_cuda) override;
  Status compare(GstBuffer* in, FrameInput* reference, Dct8x8Job* job);

  BlockPool dct_blocks_;
  SourceFinder finder_{"cudadct8x8"};
  FrameOutput frames_;
};

}  // namespace cudatransform
