// The base class of cudadct8x8 and cudaidct8x8: caps, allocation and context queries.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/dct_base.h"
#include "gst/engine/debug.h"

using cudatransform::Direction;
using cudatransform::MemoryKinds;
using cudatransform::Status;

static bool is_forward(GstBaseTransform* trans) {
  return GST_CUDA_DCT_BASE_GET_CLASS(trans)->direction == Direction::kForward;
}

// Both memories until an engine is chosen, so that pipelines can be linked; then what it can do.
static MemoryKinds reachable_memory(GstBaseTransform* trans) {
  const auto& engine = GST_CUDA_DCT_BASE(trans)->state->engine;
  return {!engine.is_open() || engine.is_cuda()};
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

static int wanted_scale(GstBaseTransform* trans) {
  if (const PinnedScale* pinned = PinnedScale::find(trans)) return pinned->scale();
  GST_OBJECT_LOCK(trans);
  const int scale = GST_CUDA_DCT_BASE(trans)->state->scale;
  GST_OBJECT_UNLOCK(trans);
  return scale;
}

PinnedScale::PinnedScale(GstBaseTransform* trans)
    : trans_(trans), scale_(wanted_scale(trans)), outer_(innermost) {
  innermost = this;
}

static GstCaps* gst_cuda_dct_base_transform_caps(GstBaseTransform* trans, GstPadDirection direction,
                                                 GstCaps* caps, GstCaps* filter) {
  const MemoryKinds kinds = reachable_memory(trans);
  const bool from_raw = is_forward(trans) == (direction == GST_PAD_SINK);
  const bool with_440 = !is_forward(trans);
  const int scale = wanted_scale(trans);
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
                                        GST_CUDA_DCT_BASE(trans)->state->engine.is_cuda());
}

static gboolean gst_cuda_dct_base_set_caps(GstBaseTransform* trans, GstCaps* incaps,
                                           GstCaps* outcaps) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  GstCaps* raw_caps = incaps;
  GstCaps* dct_caps = outcaps;
  if (!is_forward(trans)) std::swap(raw_caps, dct_caps);

  GstVideoInfo raw;
  GstDctInfo dct;
  if (!gst_video_info_from_caps(&raw, raw_caps) ||
      !cudatransform::find_raw_format(GST_VIDEO_INFO_FORMAT(&raw))) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("Raw video of this kind is not supported"),
                      ("caps: %" GST_PTR_FORMAT, raw_caps));
    return FALSE;
  }
  if (GST_VIDEO_INFO_INTERLACE_MODE(&raw) == GST_VIDEO_INTERLACE_MODE_ALTERNATE) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("interlace-mode=alternate is not supported: weave the fields first"),
                      ("caps: %" GST_PTR_FORMAT, raw_caps));
    return FALSE;
  }
  if (!gst_dct_info_from_caps(&dct, dct_caps)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("The coefficient caps are incomplete or contradict themselves"),
                      ("caps: %" GST_PTR_FORMAT, dct_caps));
    return FALSE;
  }
  GstCudaDctBaseState* state = self->state;
  // Frames of the old caps, which the src pad still has. A new peer may not take them.
  (void)gst_cuda_dct_base_drain(self);
  state->stream.configure(raw, dct, cudatransform::has_cuda_memory(raw_caps),
                          cudatransform::has_cuda_memory(dct_caps));
  state->stream.read_tables(dct_caps);
  const int scale = state->stream.scale_for(wanted_scale(trans));
  if (scale == 0) {
    GST_ELEMENT_ERROR(
        self, STREAM, FORMAT,
        ("Frames of %dx%d do not belong to coefficients of %dx%d", GST_VIDEO_INFO_WIDTH(&raw),
         GST_VIDEO_INFO_HEIGHT(&raw), static_cast<int>(dct.width), static_cast<int>(dct.height)),
        (nullptr));
    return FALSE;
  }
  GST_OBJECT_LOCK(self);
  const auto active = cudatransform::effective_method(state->method, dct.depth, scale);
  const bool changed = active != state->active_method;
  state->active_method = active;
  GST_OBJECT_UNLOCK(self);
  if (changed) g_object_notify(G_OBJECT(self), "active-method");
  return TRUE;
}

static gboolean gst_cuda_dct_base_decide_allocation(GstBaseTransform* trans, GstQuery* query) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps) return FALSE;
  // Deliberately not chaining up: the default would put our caps, which no pool knows, into a pool.
  auto& stream = self->state->stream;
  const Status status =
      is_forward(trans) ? stream.allocate_coefficients(query) : stream.allocate_frames(query, caps);
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  if (!status.ok()) gst_cuda_dct_base_post_error(self, status);
  if (status.ok()) gst_cuda_dct_base_update_latency(self);
  return status.ok();
}

static gboolean gst_cuda_dct_base_propose_allocation(GstBaseTransform* trans,
                                                     GstQuery* /*decide_query*/, GstQuery* query) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps || !self->state->engine.is_open()) return FALSE;
  const guint buffers = cudatransform::kWorkingBuffers + self->state->depth - 1;
  if (is_forward(trans)) {
    auto* klass = GST_CUDA_DCT_BASE_GET_CLASS(self);
    const guint extra = klass->extra_buffers ? klass->extra_buffers(self) : 0;
    cudatransform::propose_raw_pool(self->state->engine, query, caps, buffers + extra);
  } else {
    gst_query_add_allocation_meta(query, GST_DCT_META_API_TYPE, nullptr);
    gst_query_add_allocation_meta(query, GST_COEF_FENCE_API_TYPE, nullptr);
    GstDctInfo info;
    if (gst_dct_info_from_caps(&info, caps))
      cudatransform::propose_coefficient_pool(self->state->engine, query, caps, info.size, buffers);
  }
  return TRUE;
}

static gboolean gst_cuda_dct_base_get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
  GstDctInfo dct;
  GstVideoInfo raw;
  if (gst_caps_is_empty(caps)) return FALSE;
  if (gst_structure_has_name(gst_caps_get_structure(caps, 0), GST_DCT_MEDIA_TYPE)) {
    if (!gst_dct_info_from_caps(&dct, caps)) return FALSE;
    *size = dct.size;
  } else {
    if (!gst_video_info_from_caps(&raw, caps)) return FALSE;
    *size = GST_VIDEO_INFO_SIZE(&raw);
  }
  return TRUE;
}

// Without a peer the base class answers with the pad template, which knows no engine. And where a
// source can make anything (videotestsrc), the order of its formats says nothing, while ours says
// that plain 8-bit 4:2:0 comes before 12-bit 4:4:4.
static void refine_caps_result(GstBaseTransform* trans, GstPadDirection direction,
                               GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_caps_result(query, &caps);
  if (gst_caps_is_any(caps)) return;
  GstPad* pad = direction == GST_PAD_SINK ? trans->sinkpad : trans->srcpad;
  GstCaps* preferred = gst_pad_get_pad_template_caps(pad);
  if (!reachable_memory(trans).cuda) preferred = cudatransform::without_cuda_memory(preferred);
  GstCaps* refined = gst_caps_intersect_full(preferred, caps, GST_CAPS_INTERSECT_FIRST);
  gst_query_set_caps_result(query, refined);
  gst_caps_unref(refined);
  gst_caps_unref(preferred);
}

// Queries that travel with the data come after the frames before them.
static void drain_before(GstCudaDctBase* self, GstQuery* query) {
  (void)gst_cuda_dct_base_drain(self);
  // Asked by elements that want their buffers back.
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN) self->state->stream.release_inputs();
}

static void add_latency(GstCudaDctBase* self, GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  const GstClockTime ours = self->state->latency;
  if (GST_CLOCK_TIME_IS_VALID(max)) max += ours;
  gst_query_set_latency(query, live, min + ours, max);
}

static gboolean gst_cuda_dct_base_query(GstBaseTransform* trans, GstPadDirection direction,
                                        GstQuery* query) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  if (self->state->engine.handle_context_query(query)) return TRUE;
  if (direction == GST_PAD_SINK && cudatransform::is_serialized(query)) {
    if (self->state->gate.refuses(GST_BASE_TRANSFORM_SINK_PAD(trans), query)) return FALSE;
    drain_before(self, query);
  }
  const PinnedScale pinned(trans);
  auto* parent = GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_BASE_TRANSFORM));
  const gboolean handled = parent->query(trans, direction, query);
  if (handled && GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
    refine_caps_result(trans, direction, query);
  if (handled && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) add_latency(self, query);
  return handled;
}

void gst_cuda_dct_base_install_negotiation(GstBaseTransformClass* klass) {
  klass->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_transform_caps);
  klass->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_fixate_caps);
  klass->set_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_set_caps);
  klass->get_unit_size = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_get_unit_size);
  klass->decide_allocation = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_decide_allocation);
  klass->propose_allocation = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_propose_allocation);
  klass->query = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_query);
}
