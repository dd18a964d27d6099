// The wavelet transform as the frame loop sees it: a raw frame in, its coefficients out.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/dwt/caps.h"
#include "gst/dwt/dwt_transform.h"
#include "gst/dwt/quant_settings.h"
#include "gst/stream/coef_output.h"
#include "gst/stream/source_frames.h"

namespace cudatransform {

// The properties that are cudadwt's alone. Guarded by the object lock.
struct DwtForwardSettings {
  static constexpr int kSameWavelet = -1;

  GstDwtWavelet wavelet = GST_DWT_WAVELET_LEGALL53;
  int wavelet_ho = kSameWavelet;  // or a GstDwtWavelet
  guint levels = 4, levels_ho = 0;
  bool keep_reference = false;
  QuantSettings quant;

  DwtShape shape() const {
    return {wavelet, wavelet_ho == kSameWavelet ? wavelet : static_cast<GstDwtWavelet>(wavelet_ho),
            levels, levels_ho};
  }
};

// Whether there is such a transform; and whether there is such a quantiser for it, too.
Status check_transform(const DwtForwardSettings& settings);
Status check_settings(const DwtForwardSettings& settings);

class DwtForward final : public DwtTransform {
 public:
  explicit DwtForward(GstCudaTransformBase* element)
      : DwtTransform(element, Direction::kForward), coefs_(engine_, CoefMaker::kEngine) {}
  ~DwtForward() override { stop(); }

  DwtForwardSettings settings;

  void start() override { keeper_.start(); }
  Status allocate(GstQuery* query, GstCaps* caps) override;
  void propose(GstQuery* query, GstCaps* caps, guint buffers) override;
  bool waits_for_frames() const override { return coefs_.waits_for_frames(); }
  Status prepare() override;
  Status submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) override;
  void stop() override;

 private:
  void configure_ends(bool raw_in_cuda, bool dwt_in_cuda) override;
  bool is_negotiated(const DwtShape& shape) const;

  QuantIndices indices_;         // of the frame that comes next
  bool keep_reference_ = false;  // likewise
  BlockPool raw_blocks_;
  CoefOutput coefs_;
  SourceKeeper keeper_;
};

}  // namespace cudatransform
