// The wavelet transform and its inverse as the frame loop sees them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/dwt/caps.h"
#include "gst/dwt/coefficients.h"
#include "gst/dwt/quant_settings.h"
#include "gst/stream/coef_transform.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

// The properties of the wavelets. Guarded by the object lock. An inverse uses only `method`.
struct DwtSettings {
  static constexpr int kSameWavelet = -1;

  DwtMethod method = DwtMethod::kFused;
  GstDwtWavelet wavelet = GST_DWT_WAVELET_LEGALL53;
  int wavelet_ho = kSameWavelet;  // or a GstDwtWavelet
  guint levels = 4, levels_ho = 0;
  DwtQuantSettings quant;

  DwtShape shape() const {
    return {wavelet, wavelet_ho == kSameWavelet ? wavelet : static_cast<GstDwtWavelet>(wavelet_ho),
            levels, levels_ho};
  }
};

// Whether the transform exists.
Status check_transform(const DwtSettings& settings);

class DwtTransform final : public CoefTransform {
 public:
  DwtTransform(Transport& transport, Direction direction)
      : CoefTransform(transport, direction, "cudadwt") {}

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
