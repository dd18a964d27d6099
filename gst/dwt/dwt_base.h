// The base class of cudadwt and cudaidwt: the methods, and the matching of caps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/dwt/dwt_transform.h"
#include "gst/stream/transform_base.h"

#define GST_TYPE_CUDA_DWT_BASE (gst_cuda_dwt_base_get_type())

// The transform of each is a DwtTransform: gst_cuda_dwt_transform().
struct GstCudaDwtBase {
  GstCudaTransformBase parent;
};

struct GstCudaDwtBaseClass {
  GstCudaTransformBaseClass parent_class;
};

G_BEGIN_DECLS
GType gst_cuda_dwt_base_get_type(void);
G_END_DECLS

cudatransform::DwtTransform& gst_cuda_dwt_transform(gpointer element);
