// The base class of cudadct8x8 and cudaidct8x8: state changes and the frame loop.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct_base.h"

#include <string.h>

#include "gst/buffer_ptr.h"
#include "gst/debug.h"
#include "gst/element_errors.h"

using cudatransform::Backend;
using cudatransform::Direction;
using cudatransform::FrameSettings;
using cudatransform::MeasuredFrame;
using cudatransform::Status;
using cudatransform::StatusCode;

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

static bool open_engine(GstCudaDctBase* self) {
  GstCudaDctBaseState* state = self->state;
  GST_OBJECT_LOCK(self);
  const Backend backend = state->backend;
  const int device_id = state->cuda_device_id;
  const int threads = state->n_threads;
  GST_OBJECT_UNLOCK(self);

  std::string fallback;
  const Status status = state->engine.open(backend, device_id, threads, &fallback);
  if (!status.ok()) {
    gst_cuda_dct_base_post_error(self, status);
    return false;
  }
  if (!fallback.empty())
    GST_ELEMENT_INFO(self, RESOURCE, NOT_FOUND, ("Using the CPU engine: %s", fallback.c_str()),
                     (nullptr));
  GST_OBJECT_LOCK(self);
  state->active_backend = state->engine.is_cuda() ? Backend::kCuda : Backend::kCpu;
  state->device_name = state->engine.device().name();
  GST_OBJECT_UNLOCK(self);
  g_object_notify(G_OBJECT(self), "active-backend");
  GST_INFO_OBJECT(self, "engine: %s", state->engine.device().name());
  return true;
}

static void close_engine(GstCudaDctBase* self) {
  GstCudaDctBaseState* state = self->state;
  state->stream.stop();
  state->measure.release();
  state->engine.close();
  GST_OBJECT_LOCK(self);
  state->active_backend = Backend::kAuto;
  state->device_name.clear();
  GST_OBJECT_UNLOCK(self);
  g_object_notify(G_OBJECT(self), "active-backend");
}

static GstStateChangeReturn gst_cuda_dct_base_change_state(GstElement* element,
                                                           GstStateChange transition) {
  auto* self = GST_CUDA_DCT_BASE(element);
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !open_engine(self))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    close_engine(self);
  return result;
}

static gboolean gst_cuda_dct_base_start(GstBaseTransform* trans) {
  GST_CUDA_DCT_BASE(trans)->state->measure.reset();
  return TRUE;
}

static bool posts_messages(GstCudaDctBase* self) {
  GST_OBJECT_LOCK(self);
  const bool posts = self->state->post_messages;
  GST_OBJECT_UNLOCK(self);
  return posts;
}

static gboolean gst_cuda_dct_base_stop(GstBaseTransform* trans) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  self->state->stream.stop();
  self->state->measure.collect(true, false);
  return TRUE;
}

static gboolean gst_cuda_dct_base_sink_event(GstBaseTransform* trans, GstEvent* event) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_STREAM_START:
    case GST_EVENT_CAPS:
      // Whoever sees these has seen the measurements of everything before them.
      self->state->measure.collect(true, posts_messages(self));
      break;
    case GST_EVENT_FLUSH_STOP:
      self->state->measure.collect(true, false);
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
}

static void gst_cuda_dct_base_set_context(GstElement* element, GstContext* context) {
  auto* self = GST_CUDA_DCT_BASE(element);
  GST_OBJECT_LOCK(self);
  const int device_id = self->state->cuda_device_id;
  GST_OBJECT_UNLOCK(self);
  self->state->engine.handle_set_context(context, device_id);
  GST_ELEMENT_CLASS(parent_class)->set_context(element, context);
}

// A stream that is not in time (raw bytes from a file) has neither stream time nor running time.
static GstClockTime stream_time_of(GstBaseTransform* trans, GstBuffer* in) {
  if (trans->segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(in));
}

static GstClockTime running_time_of(GstBaseTransform* trans, GstBuffer* in) {
  if (trans->segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(in));
}

static void fill_times(GstBaseTransform* trans, GstBuffer* in, MeasuredFrame* frame) {
  frame->timestamp = GST_BUFFER_PTS(in);
  frame->duration = GST_BUFFER_DURATION(in);
  frame->stream_time = stream_time_of(trans, in);
  frame->running_time = running_time_of(trans, in);
}

// Takes the settings of the next frame. Controlled properties are set to their value at its time.
static Status snapshot(GstCudaDctBase* self, GstBuffer* in, FrameSettings* settings, guint* kinds) {
  const GstClockTime stream_time = stream_time_of(GST_BASE_TRANSFORM(self), in);
  if (GST_CLOCK_TIME_IS_VALID(stream_time)) gst_object_sync_values(GST_OBJECT(self), stream_time);

  GstCudaDctBaseState* state = self->state;
  const GstDctInfo& info = state->stream.dct_info();
  GST_OBJECT_LOCK(self);
  settings->scale = state->stream.scale_for(state->scale);
  settings->method = cudatransform::effective_method(state->method, info.depth, settings->scale);
  const bool changed = settings->method != state->active_method;
  state->active_method = settings->method;
  *kinds = state->measure_kinds;
  GST_OBJECT_UNLOCK(self);
  if (changed) g_object_notify(G_OBJECT(self), "active-method");
  auto* klass = GST_CUDA_DCT_BASE_GET_CLASS(self);
  if (klass->prepare_frame) return klass->prepare_frame(self, &info, settings);
  return {};
}

static void notify_now_and_then(GstCudaDctBase* self) {
  const gint64 now = g_get_monotonic_time();
  if (now - self->state->last_notify < G_USEC_PER_SEC) return;
  self->state->last_notify = now;
  g_object_notify(G_OBJECT(self), "psnr");
}

static Status transform_frame(GstCudaDctBase* self, GstBuffer* in, GstBuffer** out) {
  GstCudaDctBaseState* state = self->state;
  FrameSettings settings;
  guint kinds = 0;
  CT_RETURN_IF_ERROR(snapshot(self, in, &settings, &kinds));

  std::unique_ptr<MeasuredFrame> frame;
  if (kinds) frame = state->measure.begin(state->engine, kinds);
  if (frame) fill_times(GST_BASE_TRANSFORM(self), in, frame.get());
  const bool forward = GST_CUDA_DCT_BASE_GET_CLASS(self)->direction == Direction::kForward;
  const Status status = forward ? state->stream.forward(settings, in, out, frame.get())
                                : state->stream.inverse(settings, in, out, frame.get());
  if (!status.ok()) {
    // Uploads and sums may still be on their way, of a frame that is given up here.
    state->stream.settle();
    return status;
  }
  state->measure.count_frame();
  if (frame) {
    state->measure.submit(std::move(frame));
    state->measure.collect(false, posts_messages(self));
    notify_now_and_then(self);
  }
  return {};
}

static GstFlowReturn gst_cuda_dct_base_generate_output(GstBaseTransform* trans, GstBuffer** out) {
  auto* self = GST_CUDA_DCT_BASE(trans);
  *out = nullptr;
  if (!trans->queued_buf) return GST_FLOW_OK;
  cudatransform::BufferPtr in(trans->queued_buf);
  trans->queued_buf = nullptr;

  const Status status = transform_frame(self, in.get(), out);
  if (status.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
  if (!status.ok()) {
    gst_cuda_dct_base_post_error(self, status);
    return GST_FLOW_ERROR;
  }
  const std::string warning = self->state->stream.take_warning();
  if (!warning.empty())
    GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("%s", warning.c_str()), (nullptr));
  if (!GST_BASE_TRANSFORM_GET_CLASS(trans)->copy_metadata(trans, in.get(), *out))
    GST_WARNING_OBJECT(self, "could not copy the metadata of %" GST_PTR_FORMAT, in.get());
  return GST_FLOW_OK;
}

// Never called, because generate_output does not call it: the base class takes an element without
// this function for one that passes everything through.
static GstFlowReturn gst_cuda_dct_base_transform(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  g_return_val_if_reached(GST_FLOW_NOT_SUPPORTED);
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
  if (api == GST_DCT_META_API_TYPE || api == GST_DCT_REFERENCE_META_API_TYPE) return FALSE;
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
  trans_class->generate_output = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_generate_output);
  trans_class->transform = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_transform);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_transform_meta);
  gst_cuda_dct_base_install_negotiation(trans_class);
}
