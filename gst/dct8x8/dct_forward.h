// The 8x8 DCT as the frame loop sees it: a raw frame in, its coefficients out.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/dct8x8/dct_transform.h"
#include "gst/dct8x8/quant_settings.h"
#include "gst/stream/coef_output.h"
#include "gst/stream/frame_input.h"
#include "gst/stream/source_frames.h"

namespace cudatransform {

class DctForward final : public DctTransform {
 public:
  explicit DctForward(GstCudaTransformBase* element)
      : DctTransform(element, Direction::kForward), coefs_(engine_, CoefMaker::kEngine) {}
  ~DctForward() override { stop(); }

  // Settings, guarded by the object lock.
  QuantSettings quant;
  bool keep_reference = false;
  bool tables_in_caps = false;

  // Writes the tables into fixed caps of coefficients, where the settings want that.
  void tell_tables(GstCaps* caps);

  void start() override {
    DctTransform::start();
    keeper_.start();
  }
  Status allocate(GstQuery* query, GstCaps* caps) override;
  void propose(GstQuery* query, GstCaps* caps, guint buffers) override;
  bool waits_for_frames() const override { return coefs_.waits_for_frames(); }
  Status submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) override;
  void stop() override;

 private:
  void configure_ends(bool raw_in_cuda, bool dct_in_cuda) override;
  Status complete(FrameSettings* settings) override;
  void push_new_tables(const DctTables& tables);

  BlockPool raw_blocks_;
  CoefOutput coefs_;
  ToldTables told_;
  SourceKeeper keeper_;
};

}  // namespace cudatransform
