// The inverse wavelet transform as the frame loop sees it: coefficients in, a raw frame out.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/dwt/dwt_transform.h"
#include "gst/stream/frame_output.h"
#include "gst/stream/source_frames.h"

namespace cudatransform {

class DwtInverse final : public DwtTransform {
 public:
  explicit DwtInverse(GstCudaTransformBase* element)
      : DwtTransform(element, Direction::kInverse), frames_(engine_) {}
  ~DwtInverse() override { stop(); }

  void start() override { finder_.start(); }
  Status allocate(GstQuery* query, GstCaps* caps) override;
  void propose(GstQuery* query, GstCaps* caps, guint buffers) override;
  bool waits_for_frames() const override { return frames_.waits_for_frames(); }
  bool can_hold_frames() const override { return !frames_.is_bounded(); }
  Status submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) override;
  void stop() override;

 private:
  void configure_ends(bool raw_in_cuda, bool dwt_in_cuda) override;
  Status compare(GstBuffer* in, FrameInput* reference, DwtJob* job);

  BlockPool dwt_blocks_;
  SourceFinder finder_{"cudadwt"};
  FrameOutput frames_;
};

}  // namespace cudatransform
