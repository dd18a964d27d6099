// The base class of cudadct8x8 and cudaidct8x8: which caps belong together, at which scale.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/dct_base.h"
#include "gst/dct8x8/dct_transform.h"
#include "gst/engine/debug.h"

using cudatransform::MemoryKinds;

static bool is_forward(GstBaseTransform* trans) {
  return gst_cuda_dct_transform(trans).is_forward();
}

namespace {

// A query is answered at one scale, though the base class transforms caps back and forth for it and
// the property may be set in between: the two together would have no size in common. While an
// object of this class lives, its thread sees the scale of `trans` as it was at the beginning.
class PinnedScale {
 public:
  explicit PinnedScale(GstBaseTransform* trans);
  ~PinnedScale() { innermost = outer_; }
  PinnedScale(const PinnedScale&) = delete;
  PinnedScale& operator=(const PinnedScale&) = delete;

  // Null where the scale is not pinned. Queries nest: each may ask the next element.
  static const PinnedScale* find(GstBaseTransform* trans) {
    const PinnedScale* pinned = innermost;
    while (pinned && pinned->trans_ != trans) pinned = pinned->outer_;
    return pinned;
  }
  int scale() const { return scale_; }

 private:
  static thread_local const PinnedScale* innermost;
  GstBaseTransform* trans_;
  int scale_;
  const PinnedScale* outer_;
};

thread_local const PinnedScale* PinnedScale::innermost = nullptr;

}  // namespace

int gst_cuda_dct_base_wanted_scale(GstBaseTransform* trans) {
  if (const PinnedScale* pinned = PinnedScale::find(trans)) return pinned->scale();
  GST_OBJECT_LOCK(trans);
  const int scale = gst_cuda_dct_transform(trans).settings.scale;
  GST_OBJECT_UNLOCK(trans);
  return scale;
}

PinnedScale::PinnedScale(GstBaseTransform* trans)
    : trans_(trans), scale_(gst_cuda_dct_base_wanted_scale(trans)), outer_(innermost) {
  innermost = this;
}

static GstCaps* gst_cuda_dct_base_transform_caps(GstBaseTransform* trans, GstPadDirection direction,
                                                 GstCaps* caps, GstCaps* filter) {
  const MemoryKinds kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  const bool from_raw = is_forward(trans) == (direction == GST_PAD_SINK);
  const bool with_440 = !is_forward(trans);
  const int scale = gst_cuda_dct_base_wanted_scale(trans);
  GstCaps* result = from_raw ? cudatransform::raw_to_dct_caps(caps, kinds, with_440, scale)
                             : cudatransform::dct_to_raw_caps(caps, kinds, scale);
  if (filter) {
    GstCaps* filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(result);
    result = filtered;
  }
  GST_LOG_OBJECT(trans, "%" GST_PTR_FORMAT " becomes %" GST_PTR_FORMAT, caps, result);
  return result;
}

static GstCaps* gst_cuda_dct_base_fixate_caps(GstBaseTransform* trans, GstPadDirection direction,
                                              GstCaps* caps, GstCaps* othercaps) {
  const bool other_is_raw = is_forward(trans) != (direction == GST_PAD_SINK);
  // Coefficients stay on the device if the engine is there; frames stay where the input is.
  if (other_is_raw)
    return cudatransform::fixate_raw_caps(othercaps, cudatransform::has_cuda_memory(caps));
  return cudatransform::fixate_dct_caps(othercaps,
                                        GST_CUDA_TRANSFORM_BASE(trans)->state->engine.is_cuda());
}

static gboolean gst_cuda_dct_base_get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
  GstDctInfo dct;
  GstVideoInfo raw;
  if (gst_caps_is_empty(caps)) return FALSE;
  if (gst_structure_has_name(gst_caps_get_structure(caps, 0), GST_DCT_MEDIA_TYPE)) {
    if (!gst_dct_info_from_caps(&dct, caps, nullptr)) return FALSE;
    *size = dct.size;
  } else {
    if (!gst_video_info_from_caps(&raw, caps)) return FALSE;
    *size = GST_VIDEO_INFO_SIZE(&raw);
  }
  return TRUE;
}

static gboolean gst_cuda_dct_base_query(GstBaseTransform* trans, GstPadDirection direction,
                                        GstQuery* query) {
  const PinnedScale pinned(trans);
  auto* parent = GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_CUDA_TRANSFORM_BASE));
  return parent->query(trans, direction, query);
}

void gst_cuda_dct_base_install_negotiation(GstBaseTransformClass* klass) {
  klass->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_transform_caps);
  klass->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_fixate_caps);
  klass->get_unit_size = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_get_unit_size);
  klass->query = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_query);
}
