// The wavelet transform and its inverse as the frame loop sees them: what both have.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "gst/dwt/coefficients.h"
#include "gst/stream/frame_transform.h"
#include "gst/stream/transport.h"
#include "transform/dwt/dwt.h"

struct GstCudaTransformBase;

namespace cudatransform {

// One negotiated stream of frames through one engine.
class DwtTransform : public FrameTransform {
 public:
  DwtTransform(GstCudaTransformBase* element, Direction direction);

  DwtMethod method = DwtMethod::kFused;  // a setting: guarded by the object lock

  bool is_forward() const { return direction_ == Direction::kForward; }
  bool configure(GstCaps* in, GstCaps* out) override;
  Status prepare() override;
  void describe(GstStructure* stats) const override;

 protected:
  // New caps have been checked.
  virtual void configure_ends(bool raw_in_cuda, bool dwt_in_cuda) = 0;

  DwtJob make_job(const RawView& raw, const Rects& coefs, const QuantIndices& indices,
                  MeasuredFrame* frame);
  Status run(const DwtJob& job, FencePtr* done);

  GstCudaTransformBase* const element_;
  Engine& engine_;
  Transport& transport_;
  GstVideoInfo raw_ = {};
  GstDwtInfo dwt_ = {};

 private:
  const Direction direction_;
  DwtMethod used_ = DwtMethod::kFused;  // for the frame that comes next
};

// The spelling of the method property.
const char* method_name(DwtMethod method);

}  // namespace cudatransform

// The transform of an element of this room.
cudatransform::DwtTransform& gst_cuda_dwt_transform(gpointer element);
