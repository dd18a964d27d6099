// The base class of elements that transform frame by frame.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/transform_base.h"

#include <cstring>
#include <memory>
#include <utility>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/debug.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/properties.h"
#include "gst/stream/latency.h"

using namespace cudatransform;

#define gst_cuda_transform_base_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaTransformBase, gst_cuda_transform_base,
                                 GST_TYPE_BASE_TRANSFORM,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

// ---- Properties ----

namespace {

const char* backend_nick(Backend backend) {
  return backend == Backend::kCuda ? "cuda" : backend == Backend::kCpu ? "cpu" : "auto";
}

}  // namespace

#define GST_TYPE_CUDA_TRANSFORM_MEASURE (gst_cuda_transform_measure_get_type())
static GType gst_cuda_transform_measure_get_type(void) {
  static const GFlagsValue kValues[] = {
      {kMeasurePsnr, "PSNR of the reconstruction", "psnr"},
      {kMeasureTime, "Kernel, upload and download times", "time"},
      {kMeasureZeroShare, "Fraction of zero coefficients", "zeros"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaTransformMeasure", kValues);
  return type;
}

static GstStructure* statistics(GObject* object) {
  auto* self = GST_CUDA_TRANSFORM_BASE(object);
  const std::string name = std::string("application/x-") +
                           GST_CUDA_TRANSFORM_BASE_GET_CLASS(self)->element_name + "-stats";
  GST_OBJECT_LOCK(self);
  const auto& engine_settings = self->state->engine_settings;
  GstStructure* s = gst_structure_new(name.c_str(), "backend", G_TYPE_STRING,
                                      backend_nick(engine_settings.active_backend), nullptr);
  self->state->transform->describe(s);
  gst_structure_set(s, "device", G_TYPE_STRING, engine_settings.device_name.c_str(), nullptr);
  GST_OBJECT_UNLOCK(self);
  return self->state->measure.statistics(s);
}

// Measure has its own lock.
static Property psnr_property(const char* name, const char* nick, const char* blurb,
                              int component) {
  return {g_param_spec_double(name, nick, blurb, -1, G_MAXDOUBLE, -1, kReadOnly),
          [component](GObject* object, GValue* value) {
            const auto& measure = GST_CUDA_TRANSFORM_BASE(object)->state->measure;
            g_value_set_double(value, measure.last_psnr(component));
          }};
}

static Property time_property(const char* name, const char* nick, const char* blurb, int which) {
  return {g_param_spec_uint64(name, nick, blurb, 0, G_MAXUINT64, GST_CLOCK_TIME_NONE, kReadOnly),
          [which](GObject* object, GValue* value) {
            const auto& measure = GST_CUDA_TRANSFORM_BASE(object)->state->measure;
            g_value_set_uint64(value, measure.last_values().time[which]);
          }};
}

/**
 * GstCudaTransformBase:backend:
 *
 * Processing backend.
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:active-backend:
 *
 * Backend in use (auto = not chosen yet).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:cuda-device-id:
 *
 * Set the GPU device to use for operations (-1 = auto).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:n-threads:
 *
 * Number of CPU worker threads (0 = one per core).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:async-depth:
 *
 * Maximum number of frames in flight on the GPU; each frame above 1 adds a frame of latency.
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:measure:
 *
 * Measurements to make on each frame.
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:post-messages:
 *
 * Post an element message on the bus for each measured frame.
 *
 * Since: 1.0
 */

static void install_settings(GObjectClass* klass) {
  const SettingsOf<EngineSettings> engine([](gpointer element) -> auto& {
    return GST_CUDA_TRANSFORM_BASE(element)->state->engine_settings;
  });
  const auto warn_of_unmeasured = [](GObject* object, bool) {
    auto* self = GST_CUDA_TRANSFORM_BASE(object);
    const guint only = GST_CUDA_TRANSFORM_BASE_GET_CLASS(self)->only_measures;
    GST_OBJECT_LOCK(self);
    const guint ignored = only ? self->state->settings.measure_kinds & ~only : 0;
    GST_OBJECT_UNLOCK(self);
    if (ignored & kMeasurePsnr)
      GST_WARNING_OBJECT(self, "measure=psnr is ignored: this element does not measure PSNR");
    if (ignored & kMeasureZeroShare)
      GST_WARNING_OBJECT(self, "measure=zeros is ignored: this element does not count zeros");
  };
  const SettingsOf<FrameLoopSettings> loop(
      [](gpointer element) -> auto& { return GST_CUDA_TRANSFORM_BASE(element)->state->settings; });
  install_properties(
      klass,
      {backend_property(engine, "Processing backend"), active_backend_property(engine),
       cuda_device_id_property(engine),
       n_threads_property(engine, "Number of CPU worker threads (0 = one per core)"),
       loop.row("async-depth", "Asynchronous Depth",
                "Maximum number of frames in flight on the GPU; each frame above 1 adds a frame of "
                "latency",
                &FrameLoopSettings::async_depth,
                {.min = 1, .max = FramesInFlight::kMax, .flags = kUpToReady}),
       loop.row("measure", "Measure", "Measurements to make on each frame",
                &FrameLoopSettings::measure_kinds,
                {.type = GST_TYPE_CUDA_TRANSFORM_MEASURE, .changed = warn_of_unmeasured}),
       loop.row("post-messages", "Post Messages",
                "Post an element message on the bus for each measured frame",
                &FrameLoopSettings::post_messages)});
}

/**
 * GstCudaTransformBase:psnr:
 *
 * PSNR of the last frame over all samples in dB (-1 = not measured).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:psnr-y:
 *
 * PSNR of Y or R in dB (-1 = not measured).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:psnr-u:
 *
 * PSNR of Cb or G in dB (-1 = not measured).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:psnr-v:
 *
 * PSNR of Cr or B in dB (-1 = not measured).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:kernel-time:
 *
 * Transform time of the last frame in ns (GST_CLOCK_TIME_NONE = not measured).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:upload-time:
 *
 * Host-to-device copy time of the last frame in ns (GST_CLOCK_TIME_NONE = not measured).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:download-time:
 *
 * Device-to-host copy time of the last frame in ns (GST_CLOCK_TIME_NONE = not measured).
 *
 * Since: 1.0
 */

/**
 * GstCudaTransformBase:stats:
 *
 * Statistics, reset on READY to PAUSED.
 *
 * Since: 1.0
 */

static void install_measured(GObjectClass* klass) {
  install_properties(
      klass,
      {psnr_property("psnr", "PSNR",
                     "PSNR of the last frame over all samples in dB (-1 = not measured)", -1),
       psnr_property("psnr-y", "PSNR of Y", "PSNR of Y or R in dB (-1 = not measured)", 0),
       psnr_property("psnr-u", "PSNR of U", "PSNR of Cb or G in dB (-1 = not measured)", 1),
       psnr_property("psnr-v", "PSNR of V", "PSNR of Cr or B in dB (-1 = not measured)", 2),
       time_property("kernel-time", "Kernel Time",
                     "Transform time of the last frame in ns (GST_CLOCK_TIME_NONE = not measured)",
                     0),
       time_property(
           "upload-time", "Upload Time",
           "Host-to-device copy time of the last frame in ns (GST_CLOCK_TIME_NONE = not measured)",
           1),
       time_property(
           "download-time", "Download Time",
           "Device-to-host copy time of the last frame in ns (GST_CLOCK_TIME_NONE = not measured)",
           2),
       stats_property(statistics)});
}

// ---- Frames ----

static GstDebugCategory* gst_cuda_transform_base_category(GstCudaTransformBase* self) {
  return GST_CUDA_TRANSFORM_BASE_GET_CLASS(self)->category;
}

// A stream without times (raw bytes from a file) has neither stream time nor running time.
static GstClockTime stream_time_of(GstBaseTransform* trans, GstBuffer* in) {
  if (trans->segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(in));
}

static GstClockTime running_time_of(GstBaseTransform* trans, GstBuffer* in) {
  if (trans->segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(in));
}

static void prepare_message(GstBaseTransform* trans, GstBuffer* in, MeasuredFrame* frame) {
  frame->posts = true;
  frame->timestamp = GST_BUFFER_PTS(in);
  frame->duration = GST_BUFFER_DURATION(in);
  frame->stream_time = stream_time_of(trans, in);
  frame->running_time = running_time_of(trans, in);
}

// Waits for the oldest frame. After a failure, which is posted, no frame remains.
static GstFlowReturn take_oldest(GstCudaTransformBase* self, GstBuffer** out) {
  GstCudaTransformBaseState* state = self->state;
  BufferPtr buffer;
  const Status status = state->frames.take(&buffer);
  if (!status.ok()) state->frames.drop();
  if (state->frames.empty()) state->without_delay = false;
  if (!status.ok()) {
    post_error(GST_ELEMENT(self), status);
    return GST_FLOW_ERROR;
  }
  *out = buffer.release();
  return GST_FLOW_OK;
}

// Whether this flow ends a stream, until a flush or a new start.
static bool is_final(GstFlowReturn flow) { return flow <= GST_FLOW_ERROR; }

// Pushes the frames in flight, in order: call it before pushing anything that must follow them.
// Drops frames after a refused one.
static GstFlowReturn gst_cuda_transform_base_drain(GstCudaTransformBase* self) {
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
  if (held && flow < GST_FLOW_OK) state->pending = flow;
  if (flow < GST_FLOW_OK)
    GST_CAT_DEBUG_OBJECT(gst_cuda_transform_base_category(self), self, "draining: %s",
                         gst_flow_get_name(flow));
  state->frames.drop();
  return flow;
}

// At the end of the stream no later push can return a refusal, which upstream would turn into an
// error, so this function posts it.
static void gst_cuda_transform_base_drain_at_end(GstCudaTransformBase* self) {
  (void)gst_cuda_transform_base_drain(self);
  post_refusal(GST_ELEMENT(self), std::exchange(self->state->pending, GST_FLOW_OK));
}

// Frames in flight leave with the caps that they were made with. A flow other than OK shows again
// when the next buffer is pushed; so do refused caps.
static void change_caps(GstCudaTransformBase* self, const std::function<void(GstCaps*)>& complete) {
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(self);
  CapsPtr caps(gst_pad_get_current_caps(src));
  if (!caps) return;
  (void)gst_cuda_transform_base_drain(self);
  caps.reset(gst_caps_make_writable(caps.release()));
  complete(caps.get());
  (void)gst_pad_push_event(src, gst_event_new_caps(caps.get()));
}

static Status take_settings(GstCudaTransformBase* self) {
  const char* changed_property = nullptr;
  Status status;
  {
    const ObjectLock lock(self);
    status = self->state->transform->take_settings(&changed_property);
  }
  if (changed_property) g_object_notify(G_OBJECT(self), changed_property);
  return status;
}

// Notifies the measured properties, all together.
static void gst_cuda_transform_base_notify_measured(GstCudaTransformBase* self) {
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
    if (GST_CLOCK_TIME_IS_VALID(now.time[i]) || GST_CLOCK_TIME_IS_VALID(then.time[i]))
      g_object_notify(G_OBJECT(self), kTimes[i]);
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
  const FrameLoopSettings now = locked(self, state->settings);
  std::unique_ptr<MeasuredFrame> frame;
  if (now.measure_kinds) frame = state->measure.begin(state->engine, now.measure_kinds);
  if (frame && now.post_messages) prepare_message(GST_BASE_TRANSFORM(self), in, frame.get());
  SubmittedFrame& out = state->frames.next();
  FrameTask task = {in, out, frame.get(),
                    [self](const auto& complete) { change_caps(self, complete); }};
  Status status = take_settings(self);
  if (status.ok()) status = state->transform->submit(task);
  if (!status.ok()) {
    // Uploads and sums of the failed frame may still be in flight.
    state->mover.settle();
    out.reset();
    return status;
  }
  auto* trans = GST_BASE_TRANSFORM(self);
  if (out.buffer.get() != in &&
      !GST_BASE_TRANSFORM_GET_CLASS(self)->copy_metadata(trans, in, out.buffer.get()))
    GST_CAT_WARNING_OBJECT(gst_cuda_transform_base_category(self), self,
                           "failed to copy the metadata of %" GST_PTR_FORMAT, in);
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
  self->state->pending = GST_FLOW_OK;  // the failure shows again
  BufferPtr owner(in);
  if (flow < GST_FLOW_OK) return flow;
  if (is_discont) self->state->without_delay = true;
  auto* parent = GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_BASE_TRANSFORM));
  return parent->submit_input_buffer(trans, is_discont, owner.release());
}

// Called after every input buffer, and again until there is no buffer to push.
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
      post_error(GST_ELEMENT(self), status);
      return GST_FLOW_ERROR;
    }
    for (const std::string& warning : state->mover.take_warnings())
      GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("%s", warning.c_str()), (nullptr));
  }
  if (state->frames.empty()) return GST_FLOW_OK;
  const guint depth = depth_of(self);
  // With depth 1 the only frame has just been submitted: we wait for it without asking first.
  // A poll when the oldest frame has to leave often shows the next ones as well.
  const bool is_full = state->frames.size() >= depth;
  const bool leaves =
      state->without_delay || depth == 1 || state->frames.oldest_is_done(is_full) || is_full;
  return leaves ? take_oldest(self, out) : GST_FLOW_OK;
}

// Never called, because generate_output does not call it. Without this function the base class
// would take the element for one that passes all buffers through.
static GstFlowReturn gst_cuda_transform_base_transform(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  g_return_val_if_reached(GST_FLOW_NOT_SUPPORTED);
}

// Updates the delay between input and output frames, after caps or allocation.
static void gst_cuda_transform_base_update_latency(GstCudaTransformBase* self) {
  GstCudaTransformBaseState* state = self->state;
  const guint held = state->transform->waits_for_frames() ? depth_of(self) - 1 : 0;
  const GstClockTime latency = latency_of(held, state->fps_n, state->fps_d);
  if (state->latency.exchange(latency) == latency) return;
  GST_CAT_DEBUG_OBJECT(gst_cuda_transform_base_category(self), self, "latency is %" GST_TIME_FORMAT,
                       GST_TIME_ARGS(latency));
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

static void gst_cuda_transform_base_install_frames(GstBaseTransformClass* klass) {
  klass->submit_input_buffer = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_submit_input_buffer);
  klass->generate_output = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_generate_output);
  klass->transform = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_transform);
}

// ---- Caps, allocation and context queries ----

MemoryKinds gst_cuda_transform_base_memories(GstCudaTransformBase* self) {
  const auto& engine = self->state->engine;
  return {!engine.is_open() || engine.is_cuda()};
}

// Frames in flight have the old caps, which the src pad still has. A new peer may not accept them.
static gboolean gst_cuda_transform_base_set_caps(GstBaseTransform* trans, GstCaps* incaps,
                                                 GstCaps* outcaps) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  GstCudaTransformBaseState* state = self->state;
  (void)gst_cuda_transform_base_drain(self);
  state->mover.reconfigure();
  state->fps_n = 0;
  state->fps_d = 1;
  (void)gst_structure_get_fraction(gst_caps_get_structure(incaps, 0), "framerate", &state->fps_n,
                                   &state->fps_d);
  GST_CAT_DEBUG_OBJECT(gst_cuda_transform_base_category(self), self,
                       "input caps %" GST_PTR_FORMAT ", output caps %" GST_PTR_FORMAT, incaps,
                       outcaps);
  const Status status = state->transform->configure(incaps, outcaps);
  if (!status.ok()) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", status.message.c_str()),
                      ("caps: %" GST_PTR_FORMAT " and %" GST_PTR_FORMAT, incaps, outcaps));
    return FALSE;
  }
  (void)take_settings(self);
  state->can_hold = state->transform->can_hold_frames();
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
  GST_CAT_DEBUG_OBJECT(gst_cuda_transform_base_category(self), self,
                       "allocation for %" GST_PTR_FORMAT ": %s", caps,
                       status.ok() ? "decided" : status.message.c_str());
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  if (!status.ok()) post_error(GST_ELEMENT(self), status);
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
  state->transform->propose(query, caps, kWorkingBuffers + state->depth - 1 + kept);
  return TRUE;
}

// Without a peer the base class answers with the pad template, regardless of the engine. If a
// source can produce any format (videotestsrc), its order of formats has no meaning, while ours
// puts plain 8-bit 4:2:0 before 12-bit 4:4:4.
static void refine_caps_result(GstBaseTransform* trans, GstPadDirection direction,
                               GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_caps_result(query, &caps);
  if (gst_caps_is_any(caps)) return;
  GstPad* pad = direction == GST_PAD_SINK ? trans->sinkpad : trans->srcpad;
  CapsPtr preferred(gst_pad_get_pad_template_caps(pad));
  if (!gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans)).cuda)
    preferred.reset(without_cuda_memory(preferred.release()));
  const CapsPtr refined(gst_caps_intersect_full(preferred.get(), caps, GST_CAPS_INTERSECT_FIRST));
  gst_query_set_caps_result(query, refined.get());
}

// Serialized queries follow the frames before them.
static void drain_before(GstCudaTransformBase* self, GstQuery* query) {
  (void)gst_cuda_transform_base_drain(self);
  // Elements send this to reclaim their buffers.
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN) self->state->mover.release_inputs();
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
  if (direction == GST_PAD_SINK && is_serialized(query)) {
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

static void gst_cuda_transform_base_install_negotiation(GstBaseTransformClass* klass) {
  klass->set_caps = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_set_caps);
  klass->decide_allocation = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_decide_allocation);
  klass->propose_allocation = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_propose_allocation);
  klass->query = GST_DEBUG_FUNCPTR(gst_cuda_transform_base_query);
}

// ---- States and events ----

static bool open_engine(GstElement* element) {
  GstCudaTransformBaseState* state = GST_CUDA_TRANSFORM_BASE(element)->state;
  Status status;
  {
    const ObjectLock lock(element);
    status = state->transform->check_settings();
  }
  if (!status.ok()) {
    post_error(element, status);
    return false;
  }
  const guint threads = locked(element, state->engine_settings.n_threads);
  std::string fallback;
  if (!open_engine(element, state->engine, &state->engine_settings, static_cast<int>(threads),
                   &fallback))
    return false;
  if (fallback.empty()) return true;
  // gst-launch-1.0 prints only the debug text of an info.
  if (state->engine.lacks_gpu())
    GST_INFO_OBJECT(element, "falling back to the CPU: %s", fallback.c_str());
  else
    GST_ELEMENT_INFO(element, RESOURCE, NOT_FOUND,
                     ("Falling back to the CPU: %s", fallback.c_str()),
                     ("Falling back to the CPU: %s", fallback.c_str()));
  return true;
}

static void close_engine(GstElement* element) {
  GstCudaTransformBaseState* state = GST_CUDA_TRANSFORM_BASE(element)->state;
  state->mover.release_inputs();
  state->transform->stop();
  state->measure.release();
  close_engine(element, state->engine, &state->engine_settings);
}

static GstStateChangeReturn gst_cuda_transform_base_change_state(GstElement* element,
                                                                 GstStateChange transition) {
  return change_engine_state(element, GST_ELEMENT_CLASS(parent_class), transition, open_engine,
                             close_engine);
}

static gboolean gst_cuda_transform_base_start(GstBaseTransform* trans) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  GstCudaTransformBaseState* state = self->state;
  state->depth = locked(self, state->settings.async_depth);
  state->mover.start(state->depth);
  state->transform->start();
  state->latency = 0;
  state->failure = state->pending = GST_FLOW_OK;
  state->measure.reset();
  state->gate.open();
  return TRUE;
}

static gboolean gst_cuda_transform_base_stop(GstBaseTransform* trans) {
  auto* self = GST_CUDA_TRANSFORM_BASE(trans);
  self->state->gate.close();
  self->state->frames.drop();
  self->state->mover.release_inputs();
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
      self->state->failure = self->state->pending = GST_FLOW_OK;
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
  set_engine_context(element, state->engine, state->engine_settings, context);
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
  self->state->transform = klass->make_transform(self->state->mover);
  self->state->transform->query_downstream = [self](GstQuery* query) {
    return gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(self), query) != FALSE;
  };
  G_OBJECT_CLASS(parent_class)->constructed(object);
}

void gst_cuda_transform_base_add_templates(GstElementClass* klass, GstCaps* sink, GstCaps* src) {
  const CapsPtr sink_caps(sink), src_caps(src);
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
  install_settings(object_class);
  install_measured(object_class);
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
