// The base class of cudadwt and cudaidwt: the method, and which caps belong together.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/dwt_base.h"

#include "gst/dwt/caps.h"
#include "gst/dwt/dwt_forward.h"
#include "gst/engine/debug.h"
#include "gst/engine/property_types.h"
#if CT_HAVE_CUDA
#include "cuda/dwt/engine.h"
#endif

using cudatransform::DwtForward;
using cudatransform::DwtMethod;
using cudatransform::DwtTransform;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaDwtBase, gst_cuda_dwt_base, GST_TYPE_CUDA_TRANSFORM_BASE,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

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
  gst_cuda_dwt_transform(object).method = static_cast<DwtMethod>(g_value_get_enum(value));
  GST_OBJECT_UNLOCK(object);
}

static void gst_cuda_dwt_base_get_property(GObject* object, guint id, GValue* value,
                                           GParamSpec* pspec) {
  if (id != PROP_METHOD) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK(object);
  g_value_set_enum(value, int(gst_cuda_dwt_transform(object).method));
  GST_OBJECT_UNLOCK(object);
}

// What raw video becomes: coefficients of the properties' transform on their way out of cudadwt;
// any where cudaidwt asks what it may get. Settings that contradict each other, as they may while
// they are being set, keep nothing from being linked: they are told with the first frame.
static GstCaps* coefs_of_raw(DwtTransform& transform, GstCaps* caps,
                             cudatransform::MemoryKinds kinds, GstBaseTransform* trans) {
  if (!transform.is_forward()) return cudatransform::raw_to_dwt_caps(caps, kinds, nullptr);
  const auto& settings = static_cast<DwtForward&>(transform).settings;
  GST_OBJECT_LOCK(trans);
  const cudatransform::DwtShape shape = settings.shape();
  const bool exists = cudatransform::check_transform(settings).ok();
  GST_OBJECT_UNLOCK(trans);
  return cudatransform::raw_to_dwt_caps(caps, kinds, exists ? &shape : nullptr);
}

static GstCaps* gst_cuda_dwt_base_transform_caps(GstBaseTransform* trans, GstPadDirection direction,
                                                 GstCaps* caps, GstCaps* filter) {
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  DwtTransform& transform = gst_cuda_dwt_transform(trans);
  const bool from_raw = transform.is_forward() == (direction == GST_PAD_SINK);
  GstCaps* result = from_raw ? coefs_of_raw(transform, caps, kinds, trans)
                             : cudatransform::dwt_to_raw_caps(caps, kinds);
  if (filter) {
    GstCaps* filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(result);
    result = filtered;
  }
  GST_LOG_OBJECT(trans, "%" GST_PTR_FORMAT " becomes %" GST_PTR_FORMAT, caps, result);
  return result;
}

static GstCaps* gst_cuda_dwt_base_fixate_caps(GstBaseTransform* trans, GstPadDirection direction,
                                              GstCaps* caps, GstCaps* othercaps) {
  const bool other_is_raw =
      gst_cuda_dwt_transform(trans).is_forward() != (direction == GST_PAD_SINK);
  // Coefficients stay on the device if the engine is there; frames stay where the input is.
  if (other_is_raw)
    return cudatransform::fixate_raw_caps(othercaps, cudatransform::has_cuda_memory(caps));
  return cudatransform::fixate_dwt_caps(othercaps,
                                        GST_CUDA_TRANSFORM_BASE(trans)->state->engine.is_cuda());
}

static gboolean gst_cuda_dwt_base_get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
  GstDwtInfo dwt;
  GstVideoInfo raw;
  if (gst_caps_is_empty(caps)) return FALSE;
  if (gst_structure_has_name(gst_caps_get_structure(caps, 0), GST_DWT_MEDIA_TYPE)) {
    if (!gst_dwt_info_from_caps(&dwt, caps, nullptr)) return FALSE;
    *size = dwt.size;
  } else {
    if (!gst_video_info_from_caps(&raw, caps)) return FALSE;
    *size = GST_VIDEO_INFO_SIZE(&raw);
  }
  return TRUE;
}

static void gst_cuda_dwt_base_init(GstCudaDwtBase*) {}

static void gst_cuda_dwt_base_class_init(GstCudaDwtBaseClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
#if CT_HAVE_CUDA
  GST_CUDA_TRANSFORM_BASE_CLASS(klass)->probe_kernels = cudatransform::probe_cuda_dwt_kernels;
#endif
  object_class->set_property = gst_cuda_dwt_base_set_property;
  object_class->get_property = gst_cuda_dwt_base_get_property;
  g_object_class_install_property(
      object_class, PROP_METHOD,
      g_param_spec_enum(
          "method", "Method", "How the CUDA engine computes the transform; the result is the same",
          GST_TYPE_CUDA_DWT_METHOD, int(DwtMethod::kFused), cudatransform::kWhilePlaying));
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_dwt_base_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_dwt_base_fixate_caps);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR(gst_cuda_dwt_base_get_unit_size);
}
