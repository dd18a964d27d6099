// The frame loop's view of transforms between frames and coefficients: the steps of a frame.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/coef_transform.h"

#include <utility>

#include "gst/engine/engine.h"
#include "gst/engine/pools.h"
#include "gst/stream/coef_caps.h"

namespace cudatransform {

Status sizes_differ(const GstVideoInfo& raw, int width, int height) {
  return Status::error(StatusCode::kInvalidArgument,
                       "Frames of " + size_text(raw.width, raw.height) +
                           " do not belong to coefficients of " + size_text(width, height));
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
  give_up_memory();
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
  promise_to_honour_fence(query);
  gsize size = 0;
  if (size_of(caps, &size)) propose_coefficient_pool(engine_, query, caps, size, buffers);
}

Status CoefTransform::submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) {
  return is_forward() ? make_coefficients(in, out, frame) : make_frame(in, out, frame);
}

Status CoefTransform::make_coefficients(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) {
  begin_frame(in);
  const bool copies = keeps_reference_ && keeper_.must_copy(transport_, in);
  FrameInput input;
  CT_RETURN_IF_ERROR(input.bring_in(
      transport_, in, raw_, copies ? InPlace::kNever : InPlace::kAlways, input_blocks_, frame));
  EngineCoefs coefs;
  CT_RETURN_IF_ERROR(coefs_.begin_on_engine(out, &coefs));

  FencePtr done;
  CT_RETURN_IF_ERROR(enqueue(input.placed().rects, coefs.rects, nullptr, frame, &done));
  transport_.mark_read(in, input.placed(), done);
  CoefPlaces places;
  CT_RETURN_IF_ERROR(
      coefs_.finish_on_engine(transport_, std::move(coefs), done, frame, out, &places));
  attach(out->buffer.get(), places);
  if (!keeps_reference_) return {};
  return keeper_.keep(in, raw_, copies, input.placed(), out->buffer.get());
}

Status CoefTransform::make_frame(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) {
  CoefPlaces places;
  CT_RETURN_IF_ERROR(find(in, &places));
  CoefInput input;
  CT_RETURN_IF_ERROR(input.bring_in(transport_, in, places, input_blocks_, frame));
  Rects raw;
  CT_RETURN_IF_ERROR(frames_.begin(out, &raw));

  SourceFrame source;
  if (frame && frame->kinds & kMeasurePsnr) {
    if (incomparable_)
      transport_.warn_once(incomparable_, &warned_of_incomparable_);
    else
      CT_RETURN_IF_ERROR(finder_.find(transport_, in, picture_, &source));
  }
  FencePtr done;
  CT_RETURN_IF_ERROR(enqueue(raw, input.rects(), source.buffer ? &source : nullptr, frame, &done));
  input.mark_read(transport_, done);
  if (source.buffer) transport_.mark_read(source.buffer, source.input.placed(), done);
  return frames_.finish(transport_, raw, done, frame, out);
}

void CoefTransform::give_up_memory() {
  input_blocks_.clear();
  coefs_.stop();
  finder_.stop();
  frames_.stop();
}

}  // namespace cudatransform
