// The base class of cudadct8x8 and cudaidct8x8: the methods, and which caps belong together.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/stream/transform_base.h"

#define GST_TYPE_CUDA_DCT_BASE (gst_cuda_dct_base_get_type())
#define GST_CUDA_DCT_BASE_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST((klass), GST_TYPE_CUDA_DCT_BASE, GstCudaDctBaseClass))

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

// The vfuncs of dct_base_negotiation.cpp.
void gst_cuda_dct_base_install_negotiation(GstBaseTransformClass* klass);
// The scale property or, within a query, what it was at the beginning of that.
int gst_cuda_dct_base_wanted_scale(GstBaseTransform* trans);
