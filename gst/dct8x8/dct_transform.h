// The 8x8 DCT as the frame loop sees it, and the base class of its elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/coef.h>
#include "gst/dct8x8/coefficients.h"
#include "gst/dct8x8/conversions.h"
#include "gst/dct8x8/quant_settings.h"
#include "gst/rate/rate_control.h"
#include "gst/stream/coef_transform.h"
#include "gst/stream/transform_base.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {

// The properties of the DCT. Guarded by the object lock.
struct DctSettings {
  Method method = Method::kIslow;
  Method active_method = Method::kIslow;  // what runs: see effective_method()
  int scale = 1;                          // inverse: the denominator
  // Inverse, to RGB.
  ChromaUpsampling chroma_upsampling = ChromaUpsampling::kFancy;
  QuantSettings quant;          // forward
  RateSettings rate;            // forward
  bool tables_in_caps = false;  // forward
};

class DctTransform final : public CoefTransform {
 public:
  DctTransform(FrameMover& mover, Direction direction)
      : CoefTransform(mover, direction, "cudadct8x8") {}

  DctSettings settings;
  RateControl rate{engine_, mover_, query_downstream};  // forward

  // Writes the settings' tables into fixed caps of coefficients, if tables-in-caps is set. The
  // caller holds the object lock.
  void write_tables(GstCaps* caps);
  const GstDctInfo& dct_info() const { return dct_; }
  bool is_scaled() const { return raw_.width != dct_.width || raw_.height != dct_.height; }

  Status check_settings() const override;
  void start() override;
  Status take_settings(const char** changed_property) override;
  Status submit(FrameTask& task) override;
  void describe(GstStructure* stats) const override;
  void stop() override;
  GstCaps* fixate(GstCaps* candidates, bool prefer_cuda) const override;
  bool size_of(const GstCaps* coefs, gsize* size) const override;
  GType meta_api() const override { return GST_DCT_META_API_TYPE; }
  const char* media_type() const override { return GST_DCT_MEDIA_TYPE; }

 protected:
  Status read_caps(const GstCaps* coefs, const GstVideoInfo& raw, CoefStream* stream) override;

 private:
  Status find(GstBuffer* in, CoefPlaces* places);
  Status enqueue(MeasuredFrame* frame, CoefStep* step);
  int scale_for(int wanted) const;
  bool is_rgb() const { return is_rgb_format(GST_VIDEO_INFO_FORMAT(&raw_)); }
  Dct8x8Job job_for(const Rects& coefs) const;
  Status place_samples(const Rects& raw, Dct8x8Job* job);
  Status find_reference(const SourceFrame& source, const SamplePlane** reference);
  Status submit_job(const Dct8x8Job& job, FencePtr* done);
  // Whether frames in memory are other samples than those of the DCT.
  bool converts() const { return is_rgb() || converts_range_; }
  bool converts_range_of(const GstVideoInfo& raw) const;
  Status convert(const Rects& raw);
  Status submit_with_conversion(const Dct8x8Job& job, const Rects& raw, FencePtr* done);
  Status choose_tables(const Rects& raw, MeasuredFrame* frame, Dct8x8Job* job);
  Status submit_inverse(const Dct8x8Job& job);
  void stop_conversions();

  GstDctInfo dct_ = {};
  CapsTables caps_tables_;  // of the coefficients' caps, for buffers without meta
  WrittenTables written_tables_;
  // Settings of the frame.
  Method wanted_method_ = Method::kIslow;
  Method method_ = Method::kIslow;
  int scale_ = 1;
  ChromaUpsampling chroma_upsampling_ = ChromaUpsampling::kFancy;
  FrameTables tables_;
  bool has_new_tables_ = false;  // for the caps
  double notified_quality_ = -1;
  FrameQuantizer quantizer_;
  RgbStep rgb_{engine_}, source_rgb_{engine_};
  RangeStep range_{engine_}, source_range_{engine_};
  bool has_full_range_ = false;  // coefficients, by their caps
  bool converts_range_ = false;  // forward
  SamplePlane converted_source_[kMaxComponents];
};

}  // namespace cudatransform

#define GST_TYPE_CUDA_DCT_BASE (gst_cuda_dct_base_get_type())

// The transform of each is a DctTransform.
struct GstCudaDctBase {
  GstCudaTransformBase parent;
};

struct GstCudaDctBaseClass {
  GstCudaTransformBaseClass parent_class;
};

G_BEGIN_DECLS
GType gst_cuda_dct_base_get_type(void);
G_END_DECLS
