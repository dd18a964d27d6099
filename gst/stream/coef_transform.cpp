// Transforms between frames and coefficients: the steps of a frame, and negotiation.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/coef_transform.h"

#include <utility>

#include "gst/engine/debug.h"
#include "gst/engine/engine.h"
#include "gst/engine/pools.h"
#include "gst/stream/coef_caps.h"
#include "gst/stream/transform_base.h"

namespace cudatransform {

Status sizes_differ(const GstVideoInfo& raw, int width, int height) {
  return Status::error(StatusCode::kInvalidArgument,
                       "Frame size " + size_text(raw.width, raw.height) +
                           " does not match coefficient size " + size_text(width, height));
}

void CoefTransform::start() {
  keeper_.start();
  finder_.start();
  warned_of_incomparable_ = false;
}

Status CoefTransform::configure(const GstCaps* in, const GstCaps* out) {
  const GstCaps* raw_caps = is_forward() ? in : out;
  const GstCaps* coef_caps = is_forward() ? out : in;
  GstVideoInfo raw;
  CoefStream stream;
  CT_RETURN_IF_ERROR(read_raw_caps(raw_caps, &raw));
  CT_RETURN_IF_ERROR(read_caps(coef_caps, raw, &stream));
  release_memory();
  raw_ = raw;
  picture_ = stream.picture;
  if (is_forward())
    coefs_.configure(stream.layout, has_cuda_memory(coef_caps));
  else
    frames_.configure(raw_, has_cuda_memory(raw_caps));
  return {};
}

Status CoefTransform::allocate(GstQuery* query, GstCaps* caps) {
  return is_forward() ? coefs_.allocate(query) : frames_.allocate(query, caps);
}

void CoefTransform::propose(GstQuery* query, GstCaps* caps, guint buffers) {
  if (is_forward()) return propose_raw_pool(engine_, query, caps, buffers);
  gst_query_add_allocation_meta(query, meta_api(), nullptr);
  promise_to_honor_fence(query);
  gsize size = 0;
  if (size_of(caps, &size)) propose_coefficient_pool(engine_, query, caps, size, buffers);
}

Status CoefTransform::begin(FrameTask& task, CoefStep* step) {
  return is_forward() ? begin_forward(task, step) : begin_inverse(task, step);
}

Status CoefTransform::begin_forward(FrameTask& task, CoefStep* step) {
  step->copies_source_ = keeps_reference_ && keeper_.must_copy(mover_, task.in);
  const InPlace in_place = step->copies_source_ ? InPlace::kNever : InPlace::kAlways;
  CT_RETURN_IF_ERROR(
      step->frame_in_.bring_in(mover_, task.in, raw_, in_place, input_blocks_, task.measured));
  step->raw_ = step->frame_in_.placed().rects;
  CT_RETURN_IF_ERROR(coefs_.begin_on_engine(&task.out, &step->coefs_out_));
  step->coefs_ = step->coefs_out_.rects;
  return {};
}

Status CoefTransform::begin_inverse(FrameTask& task, CoefStep* step) {
  CT_RETURN_IF_ERROR(
      step->coefs_in_.bring_in(mover_, task.in, step->places, input_blocks_, task.measured));
  step->coefs_ = step->coefs_in_.rects();
  CT_RETURN_IF_ERROR(frames_.begin(&task.out, &step->raw_));
  if (!task.measured || !(task.measured->kinds & kMeasurePsnr)) return {};
  if (!incomparable_) return finder_.find(mover_, task.in, picture_, &step->source_);
  mover_.warn_once(incomparable_, &warned_of_incomparable_);
  return {};
}

Status CoefTransform::finish(FrameTask& task, CoefStep* step) {
  if (is_forward()) {
    const Placed& placed = step->frame_in_.placed();
    mover_.mark_read(task.in, placed, step->done);
    CT_RETURN_IF_ERROR(coefs_.finish_on_engine(mover_, std::move(step->coefs_out_), step->done,
                                               task.measured, &task.out, &step->places));
    if (!keeps_reference_) return {};
    return keeper_.keep(task.in, raw_, step->copies_source_, placed, task.out.buffer.get());
  }
  step->coefs_in_.mark_read(mover_, step->done);
  if (const SourceFrame* source = step->source())
    mover_.mark_read(source->buffer, source->input.placed(), step->done);
  return frames_.finish(mover_, step->raw_, step->done, task.measured, &task.out);
}

void CoefTransform::release_memory() {
  input_blocks_.clear();
  coefs_.stop();
  finder_.stop();
  frames_.stop();
}

// ---- Elements ----

// Coefficients stay on the device if the engine is there; frames stay in the input's memory.
static GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                            GstCaps* othercaps) {
  const CoefTransform& transform = transform_of<CoefTransform>(trans);
  const bool other_is_raw = transform.is_forward() != (direction == GST_PAD_SINK);
  if (other_is_raw) return fixate_raw_caps(othercaps, has_cuda_memory(caps));
  return transform.fixate(othercaps, GST_CUDA_TRANSFORM_BASE(trans)->state->engine.is_cuda());
}

static gboolean get_unit_size(GstBaseTransform* trans, GstCaps* caps, gsize* size) {
  const CoefTransform& transform = transform_of<CoefTransform>(trans);
  if (gst_caps_is_empty(caps)) return FALSE;
  if (gst_structure_has_name(gst_caps_get_structure(caps, 0), transform.media_type()))
    return transform.size_of(caps, size);
  GstVideoInfo raw;
  if (!gst_video_info_from_caps(&raw, caps)) return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&raw);
  return TRUE;
}

Property keep_reference_property() {
  const auto reference = settings_of<&CoefTransform::reference>();
  // The number of frames that we hold has changed: let the source query again.
  return reference.row("keep-reference", "Keep Reference",
                       "Attach the source frame for PSNR measurement by the inverse transform",
                       &ReferenceSettings::keep, {.changed = [](GObject* object, bool) {
                         gst_base_transform_reconfigure_sink(GST_BASE_TRANSFORM(object));
                       }});
}

void install_coef_negotiation(GstBaseTransformClass* klass) {
  klass->fixate_caps = GST_DEBUG_FUNCPTR(fixate_caps);
  klass->get_unit_size = GST_DEBUG_FUNCPTR(get_unit_size);
}

GstCaps* filter_caps(GstBaseTransform* trans, const GstCaps* caps, GstCaps* found,
                     GstCaps* filter) {
  CapsPtr result(found);
  if (filter) result.reset(gst_caps_intersect_full(filter, found, GST_CAPS_INTERSECT_FIRST));
  GST_LOG_OBJECT(trans, "transformed %" GST_PTR_FORMAT " into %" GST_PTR_FORMAT, caps,
                 result.get());
  return result.release();
}

}  // namespace cudatransform
