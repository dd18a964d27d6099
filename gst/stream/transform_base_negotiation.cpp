// The base class of elements that transform frame by frame: caps, allocation and context queries.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"
#include "gst/stream/transform_base.h"

using cudatransform::CapsPtr;
using cudatransform::MemoryKinds;
using cudatransform::Status;

MemoryKinds gst_cuda_transform_base_memories(GstCudaTransformBase* self) {
  const auto& engine = self->state->engine;
  return {!engine.is_open() || engine.is_cuda()};
}

// Frames in flight have the old caps, which the src pad still has. A new peer may not take them.
static gboolean gst_cuda_transform_base_set_caps(GstBaseTransform* trans, GstCaps* incaps,
                                                 GstCaps* outcaps) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  GstCudaTransformBaseState* state = self->state;
  (void)gst_cuda_transform_base_drain(self);
  state->transport.reconfigure();
  state->fps_n = 0;
  state->fps_d = 1;
  (void)gst_structure_get_fraction(gst_caps_get_structure(incaps, 0), "framerate", &state->fps_n,
                                   &state->fps_d);
  const Status status = state->transform->configure(incaps, outcaps);
  if (!status.ok()) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", status.message.c_str()),
                      ("caps: %" GST_PTR_FORMAT " and %" GST_PTR_FORMAT, incaps, outcaps));
    return FALSE;
  }
  state->can_hold = state->transform->can_hold_frames();
  // Wrong settings fail the next frame.
  bool new_caps = false;
  (void)gst_cuda_transform_base_prepare(self, &new_caps);
  return TRUE;
}

static gboolean gst_cuda_transform_base_decide_allocation(GstBaseTransform* trans,
                                                          GstQuery* query) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps) return FALSE;
  // Deliberately not chaining up: the default would put our caps, which no pool knows, into a pool.
  const Status status = self->state->transform->allocate(query, caps);
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  if (!status.ok()) cudatransform::post_error(GST_ELEMENT(self), status);
  self->state->can_hold = self->state->transform->can_hold_frames();
  if (status.ok()) gst_cuda_transform_base_update_latency(self);
  return status.ok();
}

static gboolean gst_cuda_transform_base_propose_allocation(GstBaseTransform* trans,
                                                           GstQuery* /*decide_query*/,
                                                           GstQuery* query) {
  GstCudaTransformBaseState* state = GST_CUDA_TRANSFORM_BASE(trans)->state;
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps || !state->engine.is_open()) return FALSE;
  GST_OBJECT_LOCK(trans);
  const guint kept = state->transform->kept_buffers();
  GST_OBJECT_UNLOCK(trans);
  state->transform->propose(query, caps, cudatransform::kWorkingBuffers + state->depth - 1 + kept);
  return TRUE;
}

// Without a peer the base class answers with the pad template, which knows no engine. If a source
// can make any format (videotestsrc), its order of formats says nothing, while ours puts plain
// 8-bit 4:2:0 before 12-bit 4:4:4.
static void refine_caps_result(GstBaseTransform* trans, GstPadDirection direction,
                               GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_caps_result(query, &caps);
  if (gst_caps_is_any(caps)) return;
  GstPad* pad = direction == GST_PAD_SINK ? trans->sinkpad : trans->srcpad;
  CapsPtr preferred(gst_pad_get_pad_template_caps(pad));
  if (!gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans)).cuda)
    preferred.reset(cudatransform::without_cuda_memory(preferred.release()));
  const CapsPtr refined(gst_caps_intersect_full(preferred.get(), caps, GST_CAPS_INTERSECT_FIRST));
  gst_query_set_caps_result(query, refined.get());
}

// Serialized queries follow the frames before them.
static void drain_before(GstCudaTransformBase* self, GstQuery* query) {
  (void)gst_cuda_transform_base_drain(self);
  // Elements that want their buffers back ask this.
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN) self->state->transport.release_inputs();
}

static void add_latency(GstCudaTransformBase* self, GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  const GstClockTime ours = self->state->latency;
  if (GST_CLOCK_TIME_IS_VALID(max)) max += ours;
  gst_query_set_latency(query, live, min + ours, max);
}

static gboolean gst_cuda_transform_base_query(GstBaseTransform* trans, GstPadDirection direction,
                                              GstQuery* query) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  if (self->state->engine.handle_context_query(query)) return TRUE;
  if (direction == GST_PAD_SINK && cudatransform::is_serialized(query)) {
    if (self->state->gate.refuses(GST_BASE_TRANSFORM_SINK_PAD(trans), query)) return FALSE;
    drain_before(self, query);
  }
  auto* parent = GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_BASE_TRANSFORM));
  const gboolean handled = parent->query(trans, direction, query);
  if (handled && GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
    refine_caps_result(trans, direction, query);
  if (handled && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) add_latency(self, query);
  return handled;
}

void gst_cuda_transform_base_install_negotiation(GstBaseTransformClass* klass) {
  klass->set_caps = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_set_caps);
  klass->decide_allocation = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_decide_allocation);
  klass->propose_allocation = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_propose_allocation);
  klass->query = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_query);
}
