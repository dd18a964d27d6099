// The frames of a decoder that the device still writes: their memory, caps, and way downstream.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/decoded_frames.h"

#include <string>

#include "gst/engine/debug.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/caps_fields.h"

namespace cudatransform {

void DecodedFrames::stop() {
  discard_kept();
  output_.stop();
}

// ---- Caps and memory ----

GstFlowReturn DecodedFrames::negotiate(GstVideoCodecState* state,
                                       const std::function<void(GstCaps*)>& edit, guint reordered) {
  CapsPtr caps(gst_video_info_to_caps(&state->info));
  if (edit) edit(caps.get());
  info_ = state->info;
  output_.configure(info_, choose_memory_(info_, &caps));
  gst_caps_replace(&state->caps, caps.get());
  loop_.set_rate(info_.fps_n, info_.fps_d, max_kept(), reordered);
  GST_DEBUG_OBJECT(decoder_, "negotiating %" GST_PTR_FORMAT, state->caps);
  const bool negotiated = gst_video_decoder_negotiate(decoder_);
  // A flush invalidates an answer that downstream gave while it was flushing.
  if (GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder_))) return GST_FLOW_FLUSHING;
  return negotiated ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

Status DecodedFrames::query_downstream(const GstVideoInfo& info) const {
  CapsPtr caps(gst_video_info_to_caps(const_cast<GstVideoInfo*>(&info)));
  (void)choose_memory_(info, &caps);
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  if (peer_accepts(src, caps.get())) return {};
  const CapsPtr all(gst_pad_get_pad_template_caps(src));
  const CapsPtr accepted(gst_pad_peer_query_caps(src, all.get()));
  return Status::error(StatusCode::kUnsupported,
                       std::string("the video is ") + GST_VIDEO_INFO_NAME(&info) + ", " +
                           std::to_string(GST_VIDEO_INFO_WIDTH(&info)) + "x" +
                           std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + "; " +
                           find_misfit(caps.get(), accepted.get()).text());
}

bool DecodedFrames::decide_allocation(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (caps == nullptr) return false;
  const Status status = output_.allocate(query, caps);
  return answer_allocation(decoder_, query, status, output_.pool());
}

GstFlowReturn DecodedFrames::explain(GstFlowReturn flow) const {
  const CodecStatePtr out(gst_video_decoder_get_output_state(decoder_));
  if (flow != GST_FLOW_NOT_NEGOTIATED || !out || !out->caps) return flow;
  const Status status = query_downstream(info_);
  if (status.ok()) return flow;
  post_error(GST_ELEMENT(decoder_), status);
  return GST_FLOW_ERROR;
}

// ---- Frames ----

// None for a live source, which has one thread.
guint DecodedFrames::max_kept() const {
  const bool overlaps = engine_.is_cuda() && loop_.threads() > 1;
  return overlaps && !output_.is_bounded() ? 2 : 0;
}

GstFlowReturn DecodedFrames::write(GstVideoCodecFrame* frame,
                                   const std::function<Status(const Rects&)>& write,
                                   const std::function<void(GstBuffer*)>& describe) {
  SubmittedFrame& out = in_flight_.next();
  const Status status = make(write, &out);
  if (!status.ok()) {
    // All writes to the buffer must end before it goes back to its pool.
    mover_.settle();
    out.reset();
    gst_video_decoder_release_frame(decoder_, frame);
    if (status.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
    post_error(GST_ELEMENT(decoder_), status);
    return GST_FLOW_ERROR;
  }
  if (describe) describe(out.buffer.get());
  in_flight_.add();
  waiting_.push_back(frame);
  return push_waiting(max_kept());
}

Status DecodedFrames::make(const std::function<Status(const Rects&)>& write, SubmittedFrame* out) {
  Rects rects;
  CT_RETURN_IF_ERROR(output_.begin(out, &rects));
  CT_RETURN_IF_ERROR(write(rects));
  FencePtr done;
  CT_RETURN_IF_ERROR(engine_.queue(QueueKind::kCompute).record(&done));
  return output_.finish(mover_, rects, done, nullptr, out);
}

// Pushes frames in their order until the device works on no more than `max`.
GstFlowReturn DecodedFrames::push_waiting(guint max) {
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK && in_flight_.size() > max) {
    GstVideoCodecFrame* frame = waiting_.front();
    waiting_.pop_front();
    BufferPtr buffer;
    if (const Status status = in_flight_.take(&buffer); !status.ok()) {
      gst_video_decoder_release_frame(decoder_, frame);
      post_error(GST_ELEMENT(decoder_), status);
      return GST_FLOW_ERROR;
    }
    frame->output_buffer = buffer.release();
    if (GST_VIDEO_CODEC_FRAME_FLAG_IS_SET(frame, GST_VIDEO_CODEC_FRAME_FLAG_CORRUPTED))
      GST_BUFFER_FLAG_SET(frame->output_buffer, GST_BUFFER_FLAG_CORRUPTED);
    flow = gst_video_decoder_finish_frame(decoder_, frame);
  }
  loop_.watch_kept(!in_flight_.empty());
  return flow;
}

GstFlowReturn DecodedFrames::push_kept(bool all) {
  if (all) return push_waiting(0);
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK && !in_flight_.empty() && in_flight_.oldest_is_done(true))
    flow = push_waiting(in_flight_.size() - 1);
  return flow;
}

void DecodedFrames::discard_kept() {
  in_flight_.drop();
  for (GstVideoCodecFrame* frame : waiting_) gst_video_decoder_release_frame(decoder_, frame);
  waiting_.clear();
}

}  // namespace cudatransform
