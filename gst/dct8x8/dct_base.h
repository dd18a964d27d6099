// The base class of cudadct8x8 and cudaidct8x8: the methods, and the matching of caps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/dct8x8/dct_transform.h"
#include "gst/stream/transform_base.h"

#define GST_TYPE_CUDA_DCT_BASE (gst_cuda_dct_base_get_type())

// The transform of each is a DctTransform: gst_cuda_dct_transform().
struct GstCudaDctBase {
  GstCudaTransformBase parent;
};

struct GstCudaDctBaseClass {
  GstCudaTransformBaseClass parent_class;
};

G_BEGIN_DECLS
GType gst_cuda_dct_base_get_type(void);
G_END_DECLS

cudatransform::DctTransform& gst_cuda_dct_transform(gpointer element);
