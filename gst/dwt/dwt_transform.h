// The wavelet transform as the frame loop sees it, and the base class of its elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/dwt/coefficients.h"
#include "gst/dwt/settings.h"
#include "gst/stream/coef_transform.h"
#include "gst/stream/transform_base.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

class DwtTransform final : public CoefTransform {
 public:
  DwtTransform(FrameMover& mover, Direction direction)
      : CoefTransform(mover, direction, "cudadwt") {}

  DwtSettings settings;

  Status check_settings() const override;
  Status take_settings(const char** changed_property) override;
  Status submit(FrameTask& task) override;
  void describe(GstStructure* stats) const override;
  GstCaps* fixate(GstCaps* candidates, bool prefer_cuda) const override;
  bool size_of(const GstCaps* coefs, gsize* size) const override;
  GType meta_api() const override { return GST_DWT_META_API_TYPE; }
  const char* media_type() const override { return GST_DWT_MEDIA_TYPE; }

 protected:
  Status read_caps(const GstCaps* coefs, const GstVideoInfo& raw, CoefStream* stream) override;

 private:
  Status enqueue(MeasuredFrame* frame, CoefStep* step);
  bool is_negotiated(const DwtShape& shape) const;

  GstDwtInfo dwt_ = {};
  // Settings of the frame.
  DwtMethod method_ = DwtMethod::kFused;
  QuantIndices indices_;
};

}  // namespace cudatransform

#define GST_TYPE_CUDA_DWT_BASE (gst_cuda_dwt_base_get_type())

// The transform of each is a DwtTransform.
struct GstCudaDwtBase {
  GstCudaTransformBase parent;
};

struct GstCudaDwtBaseClass {
  GstCudaTransformBaseClass parent_class;
};

G_BEGIN_DECLS
GType gst_cuda_dwt_base_get_type(void);
G_END_DECLS
