// The output of cudadiracdec: samples, damage, and the thread that pushes frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <utility>

#include "gst/dirac/cudadiracdec_private.h"
#include "gst/dirac/video_format.h"
#include "gst/engine/element_errors.h"

namespace cudatransform {

static GstFlowReturn push_beside(GstVideoDecoder* decoder);

DiracState::DiracState(GstVideoDecoder* decoder)
    : engine(GST_ELEMENT(decoder), probe_dirac_kernels),
      transport(engine),
      frame_output(engine),
      pictures(decoder, engine),
      pusher(GST_VIDEO_DECODER_SRC_PAD(decoder), &decoder->stream_lock, pictures.workers(),
             [decoder] { return push_beside(decoder); }),
      damage(decoder, "Dirac") {}

// Tells the engine to write the picture or fields of a frame to their places.
static Status write_pictures(DiracState& state, const DiracShown& shown, const Rects& rects) {
  for (const auto& picture : shown.pictures) {
    if (picture == nullptr) continue;
    CT_RETURN_IF_ERROR(
        write_dirac_picture(state.engine, *picture, picture->number, state.output_info, rects));
  }
  if (!shown.sequence->field_coding || shown.pictures[1] != nullptr) return {};
  // A field alone stands for the other, too.
  const DiracRendered& only = *shown.pictures[0];
  return write_dirac_picture(state.engine, only, only.number ^ 1, state.output_info, rects);
}

static Status make_frame(DiracState& state, const DiracShown& shown, SubmittedFrame* out) {
  Rects rects;
  CT_RETURN_IF_ERROR(state.frame_output.begin(out, &rects));
  CT_RETURN_IF_ERROR(write_pictures(state, shown, rects));
  FencePtr done;
  CT_RETURN_IF_ERROR(state.engine.queue(QueueKind::kCompute).record(&done));
  return state.frame_output.finish(state.transport, rects, done, nullptr, out);
}

static GstFlowReturn write_frame(GstVideoDecoder* decoder, const DiracShown& shown) {
  DiracState& state = state_of(decoder);
  SubmittedFrame& out = state.in_flight.next();
  const Status status = make_frame(state, shown, &out);
  if (!status.ok()) {
    // All writes to the buffer must end before it goes back to its pool.
    state.transport.settle();
    out.reset();
    if (status.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
    post_error(GST_ELEMENT(decoder), status);
    return GST_FLOW_ERROR;
  }
  GstBuffer* buffer = out.buffer.get();
  const DiracSequence& sequence = *shown.sequence;
  if (sequence.interlaced && sequence.top_field_first)
    GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF);
  else if (sequence.interlaced)
    GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
  if (shown.is_damaged) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
  if (has_clean_area(sequence)) {
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer);
    crop->x = sequence.clean_left;
    crop->y = sequence.clean_top;
    crop->width = sequence.clean_width;
    crop->height = sequence.clean_height;
  }
  state.in_flight.add();
  state.waiting.push_back(shown.frame);
  return GST_FLOW_OK;
}

// Pushes frames in their order until the device works on no more than `most`.
static GstFlowReturn push_waiting(GstVideoDecoder* decoder, guint most) {
  DiracState& state = state_of(decoder);
  while (state.in_flight.size() > most) {
    GstVideoCodecFrame* frame = state.waiting.front();
    state.waiting.pop_front();
    BufferPtr buffer;
    if (const Status status = state.in_flight.take(&buffer); !status.ok()) {
      gst_video_decoder_release_frame(decoder, frame);
      post_error(GST_ELEMENT(decoder), status);
      return GST_FLOW_ERROR;
    }
    frame->output_buffer = buffer.release();
    const GstFlowReturn flow = gst_video_decoder_finish_frame(decoder, frame);
    if (flow != GST_FLOW_OK) return flow;
  }
  return GST_FLOW_OK;
}

// The base class drops frames outside of the segment and does not say so.
static GstPadProbeReturn count_frame(GstPad* pad, GstPadProbeInfo*, gpointer) {
  GstElement* const decoder = gst_pad_get_parent_element(pad);
  if (decoder == nullptr) return GST_PAD_PROBE_OK;  // the pad has outlived it
  GST_OBJECT_LOCK(decoder);
  ++state_of(decoder).frames;
  GST_OBJECT_UNLOCK(decoder);
  gst_object_unref(decoder);
  return GST_PAD_PROBE_OK;
}

void count_dirac_frames(GstVideoDecoder* decoder) {
  gst_pad_add_probe(GST_VIDEO_DECODER_SRC_PAD(decoder), GST_PAD_PROBE_TYPE_BUFFER, count_frame,
                    nullptr, nullptr);
}

void drop_dirac_frames(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  state.in_flight.drop();
  for (GstVideoCodecFrame* frame : state.waiting) gst_video_decoder_release_frame(decoder, frame);
  state.waiting.clear();
}

// True: no field of the frame has been rendered, since it would be too late.
static bool is_left_out(const DiracShown& shown) {
  return shown.pictures[0] == nullptr && shown.pictures[1] == nullptr;
}

// True: the frame was given up, and `*flow` says how to go on. A frame that cannot leave, because
// it is `refused`, is damage of a stream that began well.
static bool gives_up(GstVideoDecoder* decoder, const DiracShown& shown, const Status& refused,
                     OnError on_error, GstFlowReturn* flow) {
  DiracState& state = state_of(decoder);
  if (!shown.is_damaged && refused.ok()) {
    state.damage.note_good();
    return false;
  }
  const std::string& why = refused.ok() ? shown.damage : refused.message;
  switch (state.damage.judge(on_error, refused.ok(), why)) {
    case DamagePolicy::Verdict::kShow:
      return false;
    case DamagePolicy::Verdict::kFail:
      gst_video_decoder_release_frame(decoder, shown.frame);
      *flow = GST_FLOW_ERROR;
      return true;
    case DamagePolicy::Verdict::kDrop:
      break;
  }
  GST_OBJECT_LOCK(decoder);
  ++state.dropped;
  GST_OBJECT_UNLOCK(decoder);
  *flow = gst_video_decoder_drop_frame(decoder, shown.frame);
  return true;
}

static GstFlowReturn push_frame(GstVideoDecoder* decoder, DiracShown shown) {
  DiracState& state = state_of(decoder);
  if (shown.frame == nullptr) return GST_FLOW_OK;
  if (!set_dirac_times(decoder, shown)) return GST_FLOW_OK;
  GST_OBJECT_LOCK(decoder);
  const OnError on_error = state.settings.on_error;
  GST_OBJECT_UNLOCK(decoder);
  // A new peer may want another memory. The frames under way have the old caps and precede the
  // dropped ones.
  const bool renegotiates = gst_pad_needs_reconfigure(GST_VIDEO_DECODER_SRC_PAD(decoder)) ||
                            state.output == nullptr || !(*state.output == *shown.sequence);
  GstFlowReturn flow = GST_FLOW_OK;
  if (renegotiates || is_left_out(shown) || shown.is_damaged) flow = push_waiting(decoder, 0);
  if (flow == GST_FLOW_OK && is_left_out(shown))
    return gst_video_decoder_drop_frame(decoder, shown.frame);
  const Status refused = ask_for_dirac_output(decoder, *shown.sequence);
  if (flow == GST_FLOW_OK && gives_up(decoder, shown, refused, on_error, &flow)) return flow;
  if (flow == GST_FLOW_OK && renegotiates) flow = set_dirac_output(decoder, shown.sequence);
  if (flow == GST_FLOW_OK) flow = write_frame(decoder, shown);
  if (flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder, shown.frame);
    return flow;
  }
  return push_waiting(decoder, most_dirac_in_flight(state));
}

static GstFlowReturn push_ready(GstVideoDecoder* decoder, const Status& status, bool all) {
  DiracState& state = state_of(decoder);
  GST_OBJECT_LOCK(decoder);
  state.stats = state.pictures.stats();
  GST_OBJECT_UNLOCK(decoder);
  if (!status.ok()) {
    post_error(GST_ELEMENT(decoder), status);
    return GST_FLOW_ERROR;
  }
  GstFlowReturn flow = GST_FLOW_OK;
  DiracShown shown;
  while (flow == GST_FLOW_OK && state.pictures.next(&shown))
    flow = push_frame(decoder, std::move(shown));
  return flow == GST_FLOW_OK && all ? push_waiting(decoder, 0) : flow;
}

// After a push: tells the second thread to watch the device for frames in work.
static GstFlowReturn pushed(GstVideoDecoder* decoder, GstFlowReturn flow) {
  DiracState& state = state_of(decoder);
  if (is_fatal(flow)) flow = fail_dirac(decoder, explain_dirac_refusal(decoder, flow));
  const bool measures = state.pictures.threads() > 1 && state.output != nullptr;
  if (measures && state.latency.add(state.pictures.longest())) tell_dirac_latency(decoder);
  state.pictures.workers().watch(!state.in_flight.empty());
  return flow;
}

// Pushes the ready frames, after work that ended with `status`.
static GstFlowReturn push_behind(GstVideoDecoder* decoder, const Status& status, bool all) {
  DiracState& state = state_of(decoder);
  // The frames that should have made room could not be pushed.
  if (status.code == StatusCode::kCancelled) return state.last;
  return state.last = push_ready(decoder, status, all);
}

GstFlowReturn push_dirac_frames(GstVideoDecoder* decoder, const Status& status, bool all) {
  return state_of(decoder).pusher.told(pushed(decoder, push_behind(decoder, status, all)));
}

// Called by the second thread: pushes the finished frames.
static GstFlowReturn push_beside(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  if (state.failed != GST_FLOW_OK) return GST_FLOW_OK;  // already reported
  GstFlowReturn flow = push_behind(decoder, state.pictures.take_ready(), false);
  while (flow == GST_FLOW_OK && !state.in_flight.empty() && state.in_flight.oldest_is_done())
    flow = push_waiting(decoder, state.in_flight.size() - 1);
  return pushed(decoder, flow);
}

// Pushing later frames would hide the gap.
GstFlowReturn fail_dirac(GstVideoDecoder* decoder, GstFlowReturn flow) {
  DiracState& state = state_of(decoder);
  state.failed = flow;
  state.pictures.flush();
  drop_dirac_frames(decoder);
  state.split.reset();
  return flow;
}

}  // namespace cudatransform
