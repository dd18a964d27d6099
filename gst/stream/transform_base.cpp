// The base class of elements that transform frame by frame: state changes, events and metas.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/transform_base.h"

#include <string.h>

#include "gst/engine/debug.h"

#define gst_cuda_transform_base_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaTransformBase, gst_cuda_transform_base,
                                 GST_TYPE_BASE_TRANSFORM,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

static bool open_engine(GstElement* element) {
  GstCudaTransformBaseState* state = GST_CUDA_TRANSFORM_BASE(element)->state;
  GST_OBJECT_LOCK(element);
  const guint threads = state->engine_settings.n_threads;
  GST_OBJECT_UNLOCK(element);
  std::string fallback;
  if (!cudatransform::open_engine(element, state->engine, &state->engine_settings,
                                  static_cast<int>(threads), &fallback))
    return false;
  if (fallback.empty()) return true;
  // gst-launch-1.0 prints only the debug text of an info.
  if (state->engine.lacks_gpu())
    GST_INFO_OBJECT(element, "using the CPU engine: %s", fallback.c_str());
  else
    GST_ELEMENT_INFO(element, RESOURCE, NOT_FOUND, ("Using the CPU engine: %s", fallback.c_str()),
                     ("Using the CPU engine: %s", fallback.c_str()));
  return true;
}

static void close_engine(GstElement* element) {
  GstCudaTransformBaseState* state = GST_CUDA_TRANSFORM_BASE(element)->state;
  state->transport.release_inputs();
  state->transform->stop();
  state->measure.release();
  cudatransform::close_engine(element, state->engine, &state->engine_settings);
}

static GstStateChangeReturn gst_cuda_transform_base_change_state(GstElement* element,
                                                                 GstStateChange transition) {
  return cudatransform::change_engine_state(element, GST_ELEMENT_CLASS(parent_class), transition,
                                            open_engine, close_engine);
}

static gboolean gst_cuda_transform_base_start(GstBaseTransform* trans) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  GstCudaTransformBaseState* state = self->state;
  GST_OBJECT_LOCK(self);
  state->depth = state->async_depth;
  GST_OBJECT_UNLOCK(self);
  state->transport.start(state->depth);
  state->transform->start();
  state->latency = 0;
  state->failure = state->untold = GST_FLOW_OK;
  state->measure.reset();
  state->gate.open();
  return TRUE;
}

static gboolean gst_cuda_transform_base_stop(GstBaseTransform* trans) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  self->state->gate.close();
  self->state->frames.drop();
  self->state->transport.release_inputs();
  self->state->transform->stop();
  self->state->measure.drain(false);
  return TRUE;
}

static gboolean gst_cuda_transform_base_sink_event(GstBaseTransform* trans, GstEvent* event) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  // A flow that is not OK shows again when the next buffer is pushed.
  const GstEventTypeFlags flags = gst_event_type_get_flags(GST_EVENT_TYPE(event));
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    gst_cuda_transform_base_drain_at_end(self);
  else if (flags & GST_EVENT_TYPE_SERIALIZED && GST_EVENT_TYPE(event) != GST_EVENT_FLUSH_STOP)
    (void)gst_cuda_transform_base_drain(self);
  // The first four follow the measurements of all frames before them.
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT_DONE:
      self->state->measure.drain(true);
      gst_cuda_transform_base_notify_measured(self);
      self->state->measure.finish_clip();
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_CAPS:
      self->state->measure.drain(true);
      break;
    case GST_EVENT_FLUSH_STOP:
      self->state->frames.drop();
      self->state->failure = self->state->untold = GST_FLOW_OK;
      self->state->measure.drain(false);
      self->state->measure.drop_clip();
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
}

static void gst_cuda_transform_base_set_context(GstElement* element, GstContext* context) {
  GstCudaTransformBaseState* state = GST_CUDA_TRANSFORM_BASE(element)->state;
  cudatransform::set_engine_context(element, state->engine, state->engine_settings, context);
  GST_ELEMENT_CLASS(parent_class)->set_context(element, context);
}

// Metas that hold for the picture in any memory: those without tags (time codes, reference
// timestamps, captions) and those whose tags concern properties that we keep.
static gboolean gst_cuda_transform_base_transform_meta(GstBaseTransform*, GstBuffer*, GstMeta* meta,
                                                       GstBuffer*) {
  const gchar* const* tags = gst_meta_api_type_get_tags(meta->info->api);
  for (; tags && *tags; tags++) {
    static const char* const kKept[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                        GST_META_TAG_VIDEO_ORIENTATION_STR,
                                        GST_META_TAG_VIDEO_COLORSPACE_STR};
    bool kept = false;
    for (const char* tag : kKept) kept = kept || strcmp(*tags, tag) == 0;
    if (!kept) return FALSE;
  }
  return TRUE;
}

static void gst_cuda_transform_base_finalize(GObject* object) {
  delete GST_CUDA_TRANSFORM_BASE(object)->state;
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

// We do not do this in init(), which does not know the element's class.
static void gst_cuda_transform_base_constructed(GObject* object) {
  auto* self = GST_CUDA_TRANSFORM_BASE(object);
  const GstCudaTransformBaseClass* klass = GST_CUDA_TRANSFORM_BASE_GET_CLASS(self);
  self->state = new GstCudaTransformBaseState(GST_ELEMENT(self), klass);
  self->state->transform = klass->make_transform(self->state->transport);
  G_OBJECT_CLASS(parent_class)->constructed(object);
}

void gst_cuda_transform_base_add_templates(GstElementClass* klass, GstCaps* sink, GstCaps* src) {
  const cudatransform::CapsPtr sink_caps(sink), src_caps(src);
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink));
  gst_element_class_add_pad_template(klass,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src));
}

static void gst_cuda_transform_base_init(GstCudaTransformBase* self) {
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}

static void gst_cuda_transform_base_class_init(GstCudaTransformBaseClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  object_class->constructed = gst_cuda_transform_base_constructed;
  object_class->finalize = gst_cuda_transform_base_finalize;
  gst_cuda_transform_base_install_properties(object_class);
  element_class->change_state = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_change_state);
  element_class->set_context = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_set_context);
  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_start);
  trans_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_sink_event);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_transform_meta);
  gst_cuda_transform_base_install_frames(trans_class);
  gst_cuda_transform_base_install_negotiation(trans_class);
}
