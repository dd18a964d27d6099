// The base class of cudadwt and cudaidwt: the method, and the matching of caps.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/dwt_base.h"

#include "cuda/dwt/engine.h"
#include "gst/engine/properties.h"

using cudatransform::DwtMethod;
using cudatransform::DwtSettings;
using cudatransform::DwtTransform;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaDwtBase, gst_cuda_dwt_base, GST_TYPE_CUDA_TRANSFORM_BASE,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

DwtTransform& gst_cuda_dwt_transform(gpointer element) {
  return static_cast<DwtTransform&>(*GST_CUDA_TRANSFORM_BASE(element)->state->transform);
}

#define GST_TYPE_CUDA_DWT_METHOD (gst_cuda_dwt_method_get_type())
static GType gst_cuda_dwt_method_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(DwtMethod::kFused), "Both directions of a level in one kernel, the fastest", "fused"},
      {int(DwtMethod::kSeparableSlab),
       "A kernel for rows, then one for columns with a sliding window: van der Laan's",
       "separable-slab"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstCudaDwtMethod", kValues);
  return type;
}

// The caps that raw video becomes: coefficients of the properties' transform in cudadwt, any in
// cudaidwt. Contradictory settings, which may occur while the user sets one after the other, do not
// keep elements from being linked: the first frame reports them.
static GstCaps* coefs_of_raw(GstBaseTransform* trans, GstCaps* caps) {
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  const DwtTransform& transform = gst_cuda_dwt_transform(trans);
  if (!transform.is_forward()) return cudatransform::raw_to_dwt_caps(caps, kinds, nullptr);
  GST_OBJECT_LOCK(trans);
  const cudatransform::DwtShape shape = transform.settings.shape();
  const bool exists = cudatransform::check_transform(transform.settings).ok();
  GST_OBJECT_UNLOCK(trans);
  return cudatransform::raw_to_dwt_caps(caps, kinds, exists ? &shape : nullptr);
}

static GstCaps* gst_cuda_dwt_base_transform_caps(GstBaseTransform* trans, GstPadDirection direction,
                                                 GstCaps* caps, GstCaps* filter) {
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  const bool from_raw = gst_cuda_dwt_transform(trans).is_forward() == (direction == GST_PAD_SINK);
  GstCaps* found =
      from_raw ? coefs_of_raw(trans, caps) : cudatransform::dwt_to_raw_caps(caps, kinds);
  return cudatransform::filter_caps(trans, caps, found, filter);
}

static void gst_cuda_dwt_base_init(GstCudaDwtBase*) {}

static void gst_cuda_dwt_base_class_init(GstCudaDwtBaseClass* klass) {
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_CUDA_TRANSFORM_BASE_CLASS(klass)->probe_kernels =
      CT_CUDA_PROBE(cudatransform::probe_cuda_dwt_kernels);
  const cudatransform::SettingsOf<DwtSettings> dwt(
      [](gpointer element) -> auto& { return gst_cuda_dwt_transform(element).settings; });
  cudatransform::install_properties(
      G_OBJECT_CLASS(klass),
      {dwt.row("method", "Method",
               "How the CUDA engine computes the transform; the result is the same",
               &DwtSettings::method, {.type = GST_TYPE_CUDA_DWT_METHOD})});
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_dwt_base_transform_caps);
  cudatransform::install_coef_negotiation(trans_class);
}
