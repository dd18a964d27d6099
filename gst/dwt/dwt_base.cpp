// The base class of cudadwt and cudaidwt: the method, and the matching of caps.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/dwt_base.h"

#include "cuda/dwt/engine.h"
#include "gst/engine/property_types.h"

using cudatransform::DwtMethod;
using cudatransform::DwtTransform;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaDwtBase, gst_cuda_dwt_base, GST_TYPE_CUDA_TRANSFORM_BASE,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

DwtTransform& gst_cuda_dwt_transform(gpointer element) {
  return static_cast<DwtTransform&>(*GST_CUDA_TRANSFORM_BASE(element)->state->transform);
}

enum { PROP_0, PROP_METHOD };

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

static void gst_cuda_dwt_base_set_property(GObject* object, guint id, const GValue* value,
                                           GParamSpec* pspec) {
  if (id != PROP_METHOD) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK(object);
  gst_cuda_dwt_transform(object).settings.method = static_cast<DwtMethod>(g_value_get_enum(value));
  GST_OBJECT_UNLOCK(object);
}

static void gst_cuda_dwt_base_get_property(GObject* object, guint id, GValue* value,
                                           GParamSpec* pspec) {
  if (id != PROP_METHOD) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK(object);
  g_value_set_enum(value, int(gst_cuda_dwt_transform(object).settings.method));
  GST_OBJECT_UNLOCK(object);
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
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_CUDA_TRANSFORM_BASE_CLASS(klass)->probe_kernels =
      CT_CUDA_PROBE(cudatransform::probe_cuda_dwt_kernels);
  object_class->set_property = gst_cuda_dwt_base_set_property;
  object_class->get_property = gst_cuda_dwt_base_get_property;
  g_object_class_install_property(
      object_class, PROP_METHOD,
      g_param_spec_enum(
          "method", "Method", "How the CUDA engine computes the transform; the result is the same",
          GST_TYPE_CUDA_DWT_METHOD, int(DwtMethod::kFused), cudatransform::kWhilePlaying));
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_dwt_base_transform_caps);
  cudatransform::install_coef_negotiation(trans_class);
}
