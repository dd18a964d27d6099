// Negotiation for elements whose transform is a CoefTransform: vfuncs of GstBaseTransform.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/debug.h"
#include "gst/stream/coef_caps.h"
#include "gst/stream/coef_transform.h"
#include "gst/stream/transform_base.h"

using cudatransform::CoefTransform;

static const CoefTransform& transform_of(GstBaseTransform* trans) {
  return static_cast<const CoefTransform&>(*GST_CUDA_TRANSFORM_BASE(trans)->state->transform);
}

// Coefficients stay on the device if the engine is there; frames stay in the input's memory.
static GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                            GstCaps* othercaps) {
  const CoefTransform& transform = transform_of(trans);
  const bool other_is_raw = transform.is_forward() != (direction == GST_PAD_SINK);
  if (other_is_raw)
    return cudatransform::fixate_raw_caps(othercaps, cudatransform::has_cuda_memory(caps));
  return transform.fixate(othercaps, GST_CUDA_TRANSFORM_BASE(trans)->state->engine.is_cuda());
}

static gboolean get_unit_size(GstBaseTransform* trans, GstCaps* caps, gsize* size) {
  const CoefTransform& transform = transform_of(trans);
  if (gst_caps_is_empty(caps)) return FALSE;
  if (gst_structure_has_name(gst_caps_get_structure(caps, 0), transform.media_type()))
    return transform.size_of(caps, size);
  GstVideoInfo raw;
  if (!gst_video_info_from_caps(&raw, caps)) return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&raw);
  return TRUE;
}

namespace cudatransform {

Property keep_reference_property(const char* blurb) {
  const SettingsOf<ReferenceSettings> reference([](gpointer element) -> auto& {
    auto& transform = *GST_CUDA_TRANSFORM_BASE(element)->state->transform;
    return static_cast<CoefTransform&>(transform).reference;
  });
  // We now hold another number of frames: let the source ask again.
  return reference.row("keep-reference", "Keep reference", blurb, &ReferenceSettings::keep,
                       {.changed = [](GObject* object, bool) {
                         gst_base_transform_reconfigure_sink(GST_BASE_TRANSFORM(object));
                       }});
}

void install_coef_negotiation(GstBaseTransformClass* klass) {
  klass->fixate_caps = GST_DEBUG_FUNCPTR(::fixate_caps);
  klass->get_unit_size = GST_DEBUG_FUNCPTR(::get_unit_size);
}

GstCaps* filter_caps(GstBaseTransform* trans, const GstCaps* caps, GstCaps* found,
                     GstCaps* filter) {
  CapsPtr result(found);
  if (filter) result.reset(gst_caps_intersect_full(filter, found, GST_CAPS_INTERSECT_FIRST));
  GST_LOG_OBJECT(trans, "%" GST_PTR_FORMAT " becomes %" GST_PTR_FORMAT, caps, result.get());
  return result.release();
}

}  // namespace cudatransform
