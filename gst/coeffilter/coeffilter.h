// The base class of elements from coefficients to coefficients, and of their transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include <gst/coef/coef.h>
#include "gst/dct8x8/coefficients.h"
#include "gst/dct8x8/quant_settings.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/stream/coef_input.h"
#include "gst/stream/coef_output.h"
#include "gst/stream/frame_transform.h"
#include "gst/stream/transform_base.h"
#include "transform/coeffilter/coefs.h"

namespace cudatransform {

// A coefficient filter derives from it and adds its settings and its job. Everything else
// is here: it brings coefficients to the engine, delivers the result in the memory of caps, speaks
// the fence protocol, and attaches the meta.
class CoefFilter : public FrameTransform {
 public:
  explicit CoefFilter(FrameMover& mover) : engine_(mover.engine()), mover_(mover) {}
  ~CoefFilter() override { release_memory(); }

  Status configure(const GstCaps* in, const GstCaps* out) final;
  Status allocate(GstQuery* query, GstCaps* caps) final;
  void propose(GstQuery* query, GstCaps* caps, guint buffers) final;
  bool waits_for_frames() const final { return out_.waits_for_frames(); }
  Status submit(FrameTask& task) final;
  void stop() override { release_memory(); }

  const GstDctInfo& in_info() const { return in_info_; }
  const GstDctInfo& out_info() const { return out_info_; }

 protected:
  // New caps, which in_info() and out_info() have. Fails if coefficients of the two do not belong
  // together: by default, if they are not of the same picture.
  virtual Status agree();
  // Whether the next frame, which has these tables, is forwarded unchanged. Only if caps are equal,
  // too.
  virtual bool keeps(const FrameTables& /*tables*/) const { return true; }
  // Examines the next frame, for make_tables(). No work on the coefficients `from` is enqueued any
  // more when it returns. `*keeps`, which is false: as keeps(), but known only now; a frame that
  // cannot be forwarded is still processed, with its own tables.
  virtual Status choose(GstBuffer* /*in*/, const CoefArray /*from*/[kMaxCoefArrays],
                        const FrameTables& /*from_tables*/, bool* /*keeps*/) {
    return {};
  }
  // The tables of the result, from those of the frame; neither has any if it is not quantized.
  virtual Status make_tables(const FrameTables& from, FrameTables* to);
  // Gives the engine the job of a frame, with the settings of take_settings(). `frame` (may be
  // null): what to measure; the filter sets its components, and removes kinds that it does not
  // measure.
  virtual Status enqueue(const CoefArray from[kMaxCoefArrays], const FrameTables& from_tables,
                         const CoefArray to[kMaxCoefArrays], const FrameTables& to_tables,
                         MeasuredFrame* frame, FencePtr* done) = 0;

  Engine& engine_;
  FrameMover& mover_;

 private:
  Status pass(FrameTask& task, const CoefPlaces& places);
  void release_memory();

  GstDctInfo in_info_ = {}, out_info_ = {};
  bool same_caps_ = false, same_tables_ = false;  // of both pads
  CapsTables caps_tables_;                        // of the input's caps, for buffers without meta
  BlockPool input_blocks_;
  CoefOutput out_{engine_, CoefMaker::kEngine};
};

CoefNumber number_of(const GstDctInfo& info);
CoefArrangement arrangement_of(const GstDctInfo& info);

}  // namespace cudatransform

#define GST_TYPE_CUDA_COEF_FILTER (gst_cuda_coef_filter_get_type())
#define GST_CUDA_COEF_FILTER_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST((klass), GST_TYPE_CUDA_COEF_FILTER, GstCudaCoefFilterClass))
#define GST_CUDA_COEF_FILTER_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS((object), GST_TYPE_CUDA_COEF_FILTER, GstCudaCoefFilterClass))

// The transform of each is a CoefFilter.
struct GstCudaCoefFilter {
  GstCudaTransformBase parent;
};

struct GstCudaCoefFilterClass {
  GstCudaTransformBaseClass parent_class;
  // Appends the structures that the other pad can have for `s`, which the pad of this direction
  // has; the best first. Memories are not its concern. Null: the other pad has the same. It may be
  // called from any thread.
  void (*append_others)(GstBaseTransform* trans, GstPadDirection direction, const GstStructure* s,
                        std::vector<cudatransform::StructurePtr>* others);
  // Whether the result still shows the source frame of the coefficients (GstCoefReferenceMeta).
  bool keeps_reference;
  // Whether a JPEG file of the result is as large as one of the source.
  bool keeps_file;
};

G_BEGIN_DECLS
GType gst_cuda_coef_filter_get_type(void);
G_END_DECLS

// Call it in class_init: both pads accept these coefficients in both memories, of any order, size
// and sampling.
void gst_cuda_coef_filter_add_templates(GstElementClass* klass,
                                        const std::vector<std::string>& formats,
                                        const std::vector<std::string>& layouts,
                                        bool quantized_only = false);
