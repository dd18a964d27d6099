// The base class of cudadct8x8 and cudaidct8x8: state changes, events and metas.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_base.h"

#include <string.h>

#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"

using cudatransform::Status;

static void gst_cuda_dct_base_class_init(GstCudaDctBaseClass* klass);
static void gst_cuda_dct_base_init(GstCudaDctBase* self, GstCudaDctBaseClass* klass);
static GstBaseTransformClass* parent_class = nullptr;

// Written out because G_DEFINE_ABSTRACT_TYPE's helpers expect names that the class struct does not
// have in C++.
GType gst_cuda_dct_base_get_type(void) {
  static gsize type = 0;
  if (g_once_init_enter(&type)) {
    const GType made = g_type_register_static_simple(
        GST_TYPE_BASE_TRANSFORM, g_intern_static_string("GstCudaDctBase"),
        sizeof(GstCudaDctBaseClass),
        reinterpret_cast<GClassInitFunc>(reinterpret_cast<void*>(gst_cuda_dct_base_class_init)),
        sizeof(GstCudaDctBase),
        reinterpret_cast<GInstanceInitFunc>(reinterpret_cast<void*>(gst_cuda_dct_base_init)),
        G_TYPE_FLAG_ABSTRACT);
    gst_type_mark_as_plugin_api(made, static_cast<GstPluginAPIFlags>(0));
    g_once_init_leave(&type, made);
  }
  return type;
}

void gst_cuda_dct_base_post_error(GstCudaDctBase* self, const Status& status) {
  cudatransform::post_error(GST_ELEMENT(self), status);
}

static bool open_engine(GstElement* element) {
  GstCudaDctBaseState* state = GST_CUDA_DCT_BASE(element)->state;
  GST_OBJECT_LOCK(element);
  const guint threads = state->engine_settings.n_threads;
  GST_OBJECT_UNLOCK(element);
  std::string fallback;
  if (!cudatransform::open_engine(element, state->engine, &state->engine_settings,
                                  static_cast<int>(threads), &fallback))
    return false;
  // gst-launch-1.0 prints an info's debug text alone.
  if (!fallback.empty())
    GST_ELEMENT_INFO(element, RESOURCE, NOT_FOUND, ("Using the CPU engine: %s", fallback.c_str()),
                     ("Using the CPU engine: %s", fallback.c_str()));
  return true;
}

static void close_engine(GstElement* element) {
  GstCudaDctBaseState* state = GST_CUDA_DCT_BASE(element)->state;
  state->stream.stop();
  state->measure.release();
  cudatransform::close_engine(element, state->engine, &state->engine_settings);
}

static GstStateChangeReturn gst_cuda_dct_base_change_state(GstElement* element,
                                                           GstStateChange transition) {
  return cudatransform::change_engine_state(element, GST_ELEMENT_CLASS(parent_class), transition,
                                            open_engine, close_engine);
}

static gboolean gst_cuda_dct_base_start(GstBaseTransform* trans) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  GstCudaDctBaseState* state = self->state;
  GST_OBJECT_LOCK(self);
  state->depth = state->async_depth;
  GST_OBJECT_UNLOCK(self);
  state->stream.start(state->depth);
  state->latency = 0;
  state->failure = state->untold = GST_FLOW_OK;
  state->measure.reset();
  state->gate.open();
  return TRUE;
}

static gboolean gst_cuda_dct_base_stop(GstBaseTransform* trans) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  self->state->gate.close();
  self->state->frames.drop();
  self->state->stream.stop();
  self->state->measure.drain(false);
  return TRUE;
}

static gboolean gst_cuda_dct_base_sink_event(GstBaseTransform* trans, GstEvent* event) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  // A flow that is not OK shows again when the next buffer is pushed.
  const GstEventTypeFlags flags = gst_event_type_get_flags(GST_EVENT_TYPE(event));
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    gst_cuda_dct_base_drain_at_end(self);
  else if (flags & GST_EVENT_TYPE_SERIALIZED && GST_EVENT_TYPE(event) != GST_EVENT_FLUSH_STOP)
    (void)gst_cuda_dct_base_drain(self);
  // Whoever sees one of the first four has seen the measurements of everything before it.
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT_DONE:
      self->state->measure.drain(true);
      gst_cuda_dct_base_notify_measured(self);
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

static void gst_cuda_dct_base_set_context(GstElement* element, GstContext* context) {
  GstCudaDctBaseState* state = GST_CUDA_DCT_BASE(element)->state;
  cudatransform::set_engine_context(element, state->engine, state->engine_settings, context);
  GST_ELEMENT_CLASS(parent_class)->set_context(element, context);
}

// Moves a meta that is about places in the picture to the scaled one, where the meta's own code can
// do that; those that cannot are dropped.
static void scale_meta(const cudatransform::DctStream& stream, GstBuffer* out, GstMeta* meta,
                       GstBuffer* in) {
  GstVideoInfo from = stream.raw_info(), to = from;
  from.width = stream.dct_info().width;
  from.height = stream.dct_info().height;
  GstVideoMetaTransform sizes = {&from, &to};
  if (meta->info->transform_func)
    meta->info->transform_func(out, meta, in, gst_video_meta_transform_scale_get_quark(), &sizes);
}

// Metas that hold for the picture whatever its memory: those without tags (time codes, reference
// timestamps, captions) and those whose tags are about things that we keep.
static gboolean gst_cuda_dct_base_transform_meta(GstBaseTransform* trans, GstBuffer* out,
                                                 GstMeta* meta, GstBuffer* in) {
  const GType api = meta->info->api;
  if (api == GST_DCT_META_API_TYPE || api == GST_COEF_REFERENCE_META_API_TYPE) return FALSE;
  const gchar* const* tags = gst_meta_api_type_get_tags(api);
  for (; tags && *tags; tags++) {
    static const char* const kKept[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                        GST_META_TAG_VIDEO_ORIENTATION_STR,
                                        GST_META_TAG_VIDEO_COLORSPACE_STR};
    bool kept = false;
    for (const char* tag : kKept) kept = kept || strcmp(*tags, tag) == 0;
    if (!kept) return FALSE;
  }
  const auto& stream = GST_CUDA_DCT_BASE(trans)->state->stream;
  if (stream.is_scaled() &&
      gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_VIDEO_SIZE_STR))) {
    scale_meta(stream, out, meta, in);
    return FALSE;
  }
  return TRUE;
}

static void gst_cuda_dct_base_finalize(GObject* object) {
  delete GST_CUDA_DCT_BASE(object)->state;
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void gst_cuda_dct_base_init(GstCudaDctBase* self, GstCudaDctBaseClass* klass) {
  self->state = new GstCudaDctBaseState(GST_ELEMENT(self), klass->element_name);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}

static void gst_cuda_dct_base_class_init(GstCudaDctBaseClass* klass) {
  parent_class = GST_BASE_TRANSFORM_CLASS(g_type_class_peek_parent(klass));
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  object_class->finalize = gst_cuda_dct_base_finalize;
  gst_cuda_dct_base_install_properties(object_class);
  element_class->change_state = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_change_state);
  element_class->set_context = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_set_context);
  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_start);
  trans_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_sink_event);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_transform_meta);
  gst_cuda_dct_base_install_frames(trans_class);
  gst_cuda_dct_base_install_negotiation(trans_class);
}
