// The base class of elements from 8x8 DCT coefficients to such coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "gst/engine/buffer_ptr.h"
#include "gst/stream/transform_base.h"
#include "gst/verbs/verb_transform.h"

#define GST_TYPE_CUDA_VERB_BASE (gst_cuda_verb_base_get_type())
#define GST_CUDA_VERB_BASE_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST((klass), GST_TYPE_CUDA_VERB_BASE, GstCudaVerbBaseClass))
#define GST_CUDA_VERB_BASE_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS((object), GST_TYPE_CUDA_VERB_BASE, GstCudaVerbBaseClass))

// The transform of each is a VerbTransform.
struct GstCudaVerbBase {
  GstCudaTransformBase parent;
};

struct GstCudaVerbBaseClass {
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
GType gst_cuda_verb_base_get_type(void);
G_END_DECLS

// The caps of a pad, in both memories and of any size: `own` has format, layout, order and
// quantized. Transfer full.
GstCaps* gst_cuda_verb_template_caps(const GstStructure* own);
