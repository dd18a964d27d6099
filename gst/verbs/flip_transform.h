// cudadctflip's transform: pictures of coefficients turned, mirrored and cropped.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "gst/verbs/verb_transform.h"
#include "transform/verbs/flip.h"

namespace cudatransform {

// What becomes of a picture of `info`.
Status plan_flip(const GstDctInfo& info, const FlipRequest& request, FlipPlan* plan);

// The directions of GStreamer; auto and custom are none.
Turn turn_of(GstVideoOrientationMethod method);
const char* nick_of(GstVideoOrientationMethod method);
// The one that makes a picture of this Exif orientation, 0 (none) to 8, upright.
GstVideoOrientationMethod method_of_exif(int orientation);

class FlipTransform final : public VerbTransform {
 public:
  using VerbTransform::VerbTransform;

  // Of the next frame: caps have been negotiated with it. Guarded by the object lock; written by
  // the streaming thread alone, which reads it without the lock.
  FlipRequest request;

  // Whether the frame's tag or Exif data decided its direction.
  bool is_upright = false;

  // The direction of `request`, as users spell it. Guarded by the object lock.
  const char* direction = "identity";

  Status prepare(FrameRequest*) override { return take_plan(); }
  void describe(GstStructure* stats) const override;

 protected:
  Status agree() override { return take_plan(); }
  bool keeps(const FrameTables& tables) const override;
  Status make_tables(const FrameTables& from, FrameTables* to) override;
  Status enqueue(const CoefArray from[kMostCoefArrays], const FrameTables& from_tables,
                 const CoefArray to[kMostCoefArrays], const FrameTables& to_tables,
                 MeasuredFrame* frame, FencePtr* done) override;

 private:
  Status take_plan();

  FlipPlan plan_;
};

}  // namespace cudatransform
