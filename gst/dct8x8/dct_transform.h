// The 8x8 DCT and its inverse as the frame loop sees them: what both have.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <gst/coef/coef.h>
#include "gst/dct8x8/caps_tables.h"
#include "gst/dct8x8/coefficients.h"
#include "gst/stream/frame_transform.h"
#include "gst/stream/transport.h"
#include "transform/dct8x8/dct8x8.h"

typedef struct _GstBaseTransform GstBaseTransform;
struct GstCudaTransformBase;

namespace cudatransform {

// What one frame is transformed with: a snapshot of the properties.
struct FrameSettings {
  Method method = Method::kIslow;  // an effective one
  int scale = 1;                   // inverse: frames have 1/scale of the coefficients' size
  QuantTable tables[4] = {};       // forward, quantised
  int table_count = 0;
  int table_of[kMaxComponents] = {};  // component -> table
  bool keep_reference = false;
};

// The properties that are the DCT's. Guarded by the object lock.
struct DctSettings {
  Method method = Method::kIslow;
  Method active_method = Method::kIslow;  // what runs: see effective_method()
  int scale = 1;                          // the denominator; cudaidct8x8 alone has the property
};

// One negotiated stream of frames through one engine. A frame goes: bring the input to the engine,
// submit the job, bring the result to where the caps want it, and tell through fences who has to
// wait for what.
class DctTransform : public FrameTransform {
 public:
  DctTransform(GstCudaTransformBase* element, Direction direction);

  DctSettings settings;
  bool is_forward() const { return direction_ == Direction::kForward; }

  void start() override { warned_of_scale_ = false; }
  bool configure(GstCaps* in, GstCaps* out) override;
  Status prepare() override;
  void describe(GstStructure* stats) const override;

  const GstDctInfo& dct_info() const { return dct_; }
  const GstVideoInfo& raw_info() const { return raw_; }
  bool is_scaled() const { return raw_.width != dct_.width || raw_.height != dct_.height; }

 protected:
  // New caps have been checked.
  virtual void configure_ends(bool raw_in_cuda, bool dct_in_cuda) = 0;
  // Completes the settings of the next frame; method and scale are set.
  virtual Status complete(FrameSettings* /*settings*/) { return {}; }

  Dct8x8Job make_job(const FrameSettings& settings, const RawView& raw, const Rects& dct,
                     MeasuredFrame* frame);
  Status run(const Dct8x8Job& job, FencePtr* done);
  // How many rows of a frame have the same chroma: 4:4:0 is written as 4:4:4.
  int chroma_rows() const { return dct_.sampling == GST_COEF_SAMPLING_440 ? 2 : 1; }

  GstCudaTransformBase* const element_;
  Engine& engine_;
  Transport& transport_;
  GstVideoInfo raw_ = {};
  GstDctInfo dct_ = {};
  CapsTables caps_tables_;        // of the coefficients' caps, for buffers without meta
  FrameSettings frame_settings_;  // of the frame that comes next
  bool warned_of_scale_ = false;

 private:
  int scale_for(int wanted);
  void use_method(Method active);

  const Direction direction_;
  int scale_ = 1;  // of the latest frame
};

}  // namespace cudatransform

// The transform of an element of this room.
cudatransform::DctTransform& gst_cuda_dct_transform(gpointer element);
