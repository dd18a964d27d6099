// The base class of elements that transform frame by frame: the frame loop.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <memory>
#include <utility>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"
#include "gst/stream/latency.h"
#include "gst/stream/transform_base.h"

using cudatransform::BufferPtr;
using cudatransform::CapsPtr;
using cudatransform::MeasuredFrame;
using cudatransform::Status;
using cudatransform::StatusCode;
using cudatransform::SubmittedFrame;

// A stream without times (raw bytes from a file) has neither stream time nor running time.
static GstClockTime stream_time_of(GstBaseTransform* trans, GstBuffer* in) {
  if (trans->segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(in));
}

static GstClockTime running_time_of(GstBaseTransform* trans, GstBuffer* in) {
  if (trans->segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(in));
}

static void let_post(GstBaseTransform* trans, GstBuffer* in, MeasuredFrame* frame) {
  frame->posts = true;
  frame->timestamp = GST_BUFFER_PTS(in);
  frame->duration = GST_BUFFER_DURATION(in);
  frame->stream_time = stream_time_of(trans, in);
  frame->running_time = running_time_of(trans, in);
}

Status gst_cuda_transform_base_prepare(GstCudaTransformBase* self, bool* new_caps) {
  cudatransform::FrameRequest request;
  GST_OBJECT_LOCK(self);
  Status status = self->state->transform->prepare(&request);
  GST_OBJECT_UNLOCK(self);
  if (request.changed_property) g_object_notify(G_OBJECT(self), request.changed_property);
  *new_caps = request.new_caps;
  return status;
}

// Frames in flight leave with the caps that they were made with. A flow other than OK shows again
// when the next buffer is pushed; so do refused caps.
static void push_new_caps(GstCudaTransformBase* self) {
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(self);
  CapsPtr caps(gst_pad_get_current_caps(src));
  if (!caps) return;
  (void)gst_cuda_transform_base_drain(self);
  caps.reset(gst_caps_make_writable(caps.release()));
  self->state->transform->complete_caps(caps.get());
  (void)gst_pad_push_event(src, gst_event_new_caps(caps.get()));
}

void gst_cuda_transform_base_notify_measured(GstCudaTransformBase* self) {
  static const char* const kPsnrs[] = {"psnr-y", "psnr-u", "psnr-v", "psnr"};
  static const char* const kTimes[] = {"kernel-time", "upload-time", "download-time"};
  GstCudaTransformBaseState* state = self->state;
  const auto then = std::exchange(state->notified, state->measure.last_values());
  const auto& now = state->notified;
  // A value that is unmeasured, now and before, has not changed.
  g_object_freeze_notify(G_OBJECT(self));
  for (size_t i = 0; i < std::size(kPsnrs); i++)
    if (now.psnr[i] >= 0 || then.psnr[i] >= 0) g_object_notify(G_OBJECT(self), kPsnrs[i]);
  for (size_t i = 0; i < std::size(kTimes); i++)
    if (now.time[i] >= 0 || then.time[i] >= 0) g_object_notify(G_OBJECT(self), kTimes[i]);
  g_object_thaw_notify(G_OBJECT(self));
}

static void notify_now_and_then(GstCudaTransformBase* self, gint64 now) {
  if (now - self->state->last_notify < G_USEC_PER_SEC) return;
  self->state->last_notify = now;
  gst_cuda_transform_base_notify_measured(self);
}

// Submits the work for `in`; its output joins the frames in flight. Controlled properties take
// their values at its time.
static Status submit_frame(GstCudaTransformBase* self, GstBuffer* in) {
  GstCudaTransformBaseState* state = self->state;
  const GstClockTime stream_time = stream_time_of(GST_BASE_TRANSFORM(self), in);
  if (GST_CLOCK_TIME_IS_VALID(stream_time)) gst_object_sync_values(GST_OBJECT(self), stream_time);
  bool new_caps = false;
  CT_RETURN_IF_ERROR(gst_cuda_transform_base_prepare(self, &new_caps));
  if (new_caps) push_new_caps(self);

  GST_OBJECT_LOCK(self);
  const guint kinds = state->measure_kinds;
  const bool posts = state->post_messages;
  GST_OBJECT_UNLOCK(self);
  std::unique_ptr<MeasuredFrame> frame;
  if (kinds) frame = state->measure.begin(state->engine, kinds);
  if (frame && posts) let_post(GST_BASE_TRANSFORM(self), in, frame.get());
  SubmittedFrame& out = state->frames.next();
  const Status status = state->transform->submit(in, &out, frame.get());
  if (!status.ok()) {
    // Uploads and sums of the failed frame may still be on their way.
    state->transport.settle();
    out.reset();
    return status;
  }
  auto* trans = GST_BASE_TRANSFORM(self);
  if (out.buffer.get() != in &&
      !GST_BASE_TRANSFORM_GET_CLASS(self)->copy_metadata(trans, in, out.buffer.get()))
    GST_CAT_WARNING_OBJECT(gst_cuda_transform_base_category(self), self,
                           "could not copy the metadata of %" GST_PTR_FORMAT, in);
  state->frames.add();
  state->measure.count_frame();
  if (frame) {
    const gint64 now = g_get_monotonic_time();
    state->measure.submit(std::move(frame), now);
    state->measure.collect(now);
    notify_now_and_then(self, now);
  }
  return {};
}

// Waits for the oldest frame. After a failure, which is posted, no frame is left.
static GstFlowReturn take_oldest(GstCudaTransformBase* self, GstBuffer** out) {
  GstCudaTransformBaseState* state = self->state;
  BufferPtr buffer;
  const Status status = state->frames.take(&buffer);
  if (!status.ok()) state->frames.drop();
  if (state->frames.empty()) state->without_delay = false;
  if (!status.ok()) {
    cudatransform::post_error(GST_ELEMENT(self), status);
    return GST_FLOW_ERROR;
  }
  *out = buffer.release();
  return GST_FLOW_OK;
}

// Whether this flow ends a stream, until a flush or a new start.
static bool is_final(GstFlowReturn flow) { return flow <= GST_FLOW_ERROR; }

GstFlowReturn gst_cuda_transform_base_drain(GstCudaTransformBase* self) {
  GstCudaTransformBaseState* state = self->state;
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(self);
  // No frame follows a failed one, even if the base class pushed that.
  const bool held = !state->frames.empty();
  GstFlowReturn flow = state->failure;
  if (is_final(gst_pad_get_last_flow_return(src))) flow = gst_pad_get_last_flow_return(src);
  while (flow >= GST_FLOW_OK && !state->frames.empty()) {
    GstBuffer* out = nullptr;
    flow = take_oldest(self, &out);
    if (flow == GST_FLOW_OK) flow = gst_pad_push(src, out);
  }
  if (is_final(flow)) state->failure = flow;
  if (held && flow < GST_FLOW_OK) state->untold = flow;
  if (flow < GST_FLOW_OK)
    GST_CAT_DEBUG_OBJECT(gst_cuda_transform_base_category(self), self, "draining: %s",
                         gst_flow_get_name(flow));
  state->frames.drop();
  return flow;
}

void gst_cuda_transform_base_drain_at_end(GstCudaTransformBase* self) {
  (void)gst_cuda_transform_base_drain(self);
  cudatransform::post_refusal(GST_ELEMENT(self), std::exchange(self->state->untold, GST_FLOW_OK));
}

// The most frames between an input frame and its output.
static guint depth_of(GstCudaTransformBase* self) {
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(self);
  // The application may activate the pad in another mode at any time.
  GST_OBJECT_LOCK(src);
  const bool is_pulled = GST_PAD_MODE(src) == GST_PAD_MODE_PULL;
  GST_OBJECT_UNLOCK(src);
  // In pull mode, frames in flight at the end would be lost.
  return is_pulled || !self->state->can_hold ? 1 : self->state->depth;
}

// The base class marks the next outgoing buffer as the one after a discontinuity, so that must be
// the right one.
static GstFlowReturn gst_cuda_transform_base_submit_input_buffer(GstBaseTransform* trans,
                                                                 gboolean is_discont,
                                                                 GstBuffer* in) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  const GstFlowReturn flow =
      is_discont ? gst_cuda_transform_base_drain(self) : self->state->failure;
  self->state->untold = GST_FLOW_OK;  // the failure shows again
  BufferPtr owner(in);
  if (flow < GST_FLOW_OK) return flow;
  if (is_discont) self->state->without_delay = true;
  auto* parent = GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_BASE_TRANSFORM));
  return parent->submit_input_buffer(trans, is_discont, owner.release());
}

// Called after every input buffer, and again until no buffer is left to push.
static GstFlowReturn gst_cuda_transform_base_generate_output(GstBaseTransform* trans,
                                                             GstBuffer** out) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  GstCudaTransformBaseState* state = self->state;
  *out = nullptr;
  if (trans->queued_buf) {
    const BufferPtr in(std::exchange(trans->queued_buf, nullptr));
    const Status status = submit_frame(self, in.get());
    if (status.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
    if (!status.ok()) {
      // The frames before it are good.
      (void)gst_cuda_transform_base_drain(self);
      cudatransform::post_error(GST_ELEMENT(self), status);
      return GST_FLOW_ERROR;
    }
    for (const std::string& warning : state->transport.take_warnings())
      GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("%s", warning.c_str()), (nullptr));
  }
  if (state->frames.empty()) return GST_FLOW_OK;
  const guint depth = depth_of(self);
  // With depth 1 the only frame has just been submitted: we wait for it without asking first.
  const bool leaves = state->without_delay || depth == 1 || state->frames.oldest_is_done() ||
                      state->frames.size() >= depth;
  return leaves ? take_oldest(self, out) : GST_FLOW_OK;
}

// Never called, because generate_output does not call it. Without this function the base class
// would take the element for one that passes all buffers through.
static GstFlowReturn gst_cuda_transform_base_transform(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  g_return_val_if_reached(GST_FLOW_NOT_SUPPORTED);
}

void gst_cuda_transform_base_update_latency(GstCudaTransformBase* self) {
  GstCudaTransformBaseState* state = self->state;
  const guint held = state->transform->waits_for_frames() ? depth_of(self) - 1 : 0;
  const GstClockTime latency = cudatransform::latency_of(held, state->fps_n, state->fps_d);
  if (state->latency.exchange(latency) == latency) return;
  GST_CAT_DEBUG_OBJECT(gst_cuda_transform_base_category(self), self, "latency is %" GST_TIME_FORMAT,
                       GST_TIME_ARGS(latency));
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

void gst_cuda_transform_base_install_frames(GstBaseTransformClass* klass) {
  klass->submit_input_buffer = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_submit_input_buffer);
  klass->generate_output = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_generate_output);
  klass->transform = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_transform);
}
