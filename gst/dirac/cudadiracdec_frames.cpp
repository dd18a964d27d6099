// Frames of cudadiracdec on their way out: caps, samples, and what becomes of damaged ones.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <utility>

#include "gst/dirac/clock.h"
#include "gst/dirac/cudadiracdec_private.h"
#include "gst/dirac/video_format.h"
#include "gst/engine/element_errors.h"
#include "gst/engine/memory_caps.h"

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

// Whether frames of `info`, which have these caps in system memory, go out in CUDA memory: where
// downstream takes them there. `caps` are those of the frames then. Formats that GStreamer does not
// download whole stay out of it where downstream takes system memory as well.
static bool choose_memory(GstVideoDecoder* decoder, const GstVideoInfo& info, GstCaps** caps) {
  bool downloads_well = false;
  if (!state_of(decoder).engine.is_cuda() || !cuda_memory_holds(info, &downloads_well))
    return false;
  GstCaps* allowed = gst_pad_get_allowed_caps(GST_VIDEO_DECODER_SRC_PAD(decoder));
  GstCaps* cuda = gst_caps_copy(*caps);
  gst_caps_set_features_simple(cuda, gst_caps_features_new(kCudaMemoryFeature, nullptr));
  const bool takes_system = allowed == nullptr || gst_caps_can_intersect(allowed, *caps);
  const bool chosen = allowed != nullptr && gst_caps_can_intersect(allowed, cuda) &&
                      (downloads_well || !takes_system);
  gst_clear_caps(&allowed);
  if (chosen) gst_caps_replace(caps, cuda);
  gst_caps_unref(cuda);
  return chosen;
}

bool decide_dirac_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  DiracState& state = state_of(decoder);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (caps == nullptr) return false;
  const Status status = state.frame_output.allocate(query, caps);
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  if (!status.ok()) {
    post_error(GST_ELEMENT(decoder), status);
    return false;
  }
  // The base class insists on having one, though the frames bring their buffers.
  gst_query_add_allocation_pool(query, state.frame_output.pool(), 0, 0, 0);
  return true;
}

// Frames that may be under way on the device when the next is made. None behind a live source,
// which has one thread.
static guint most_in_flight(const DiracState& state) {
  const bool overlaps = state.engine.is_cuda() && state.pictures.threads() > 1;
  return overlaps && !state.frame_output.is_bounded() ? 2 : 0;
}

// Pictures wait for two frames with lower numbers, and until they are finished.
static void tell_latency(GstVideoDecoder* decoder) {
  const DiracState& state = state_of(decoder);
  const GstVideoInfo& info = state.output_info;
  const GstClockTime latency = latency_of(2, info.fps_n, info.fps_d) + state.latency.value();
  gst_video_decoder_set_latency(decoder, latency, latency);
}

// Caps and pool for the frames of `sequence`.
static GstFlowReturn set_output(GstVideoDecoder* decoder,
                                const std::shared_ptr<const DiracSequence>& sequence) {
  DiracState& state = state_of(decoder);
  state.output.reset();
  GstVideoInfo info;
  gst_video_info_init(&info);
  bool unspecified_matrix = false;
  const Status status = dirac_video_info(*sequence, &info, &unspecified_matrix);
  if (!status.ok()) {
    post_error(GST_ELEMENT(decoder), status);
    return GST_FLOW_ERROR;
  }
  if (unspecified_matrix)
    GST_ELEMENT_WARNING(decoder, STREAM, FORMAT,
                        ("The video is YCoCg, for which GStreamer has no colorimetry"), (nullptr));
  GstVideoCodecState* out = gst_video_decoder_set_interlaced_output_state(
      decoder, GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_INFO_INTERLACE_MODE(&info), sequence->width,
      sequence->height, state.input);
  // What the stream says of itself goes before what a container does.
  const GstVideoFieldOrder order = GST_VIDEO_INFO_FIELD_ORDER(&info);
  out->info.fps_n = info.fps_n;
  out->info.fps_d = info.fps_d;
  out->info.par_n = info.par_n;
  out->info.par_d = info.par_d;
  out->info.colorimetry = info.colorimetry;
  GST_VIDEO_INFO_FIELD_ORDER(&out->info) = order;
  GstCaps* caps = gst_video_info_to_caps(&out->info);
  state.output_info = out->info;
  state.frame_output.configure(out->info, choose_memory(decoder, out->info, &caps));
  gst_caps_replace(&out->caps, caps);
  gst_caps_unref(caps);
  gst_video_codec_state_unref(out);
  const guint most_beside =
      static_cast<guint>(state.pictures.most_in_work() - 1) + most_in_flight(state);
  state.latency.start(latency_of(most_beside, info.fps_n, info.fps_d));
  tell_latency(decoder);
  const bool negotiated = gst_video_decoder_negotiate(decoder);
  // What downstream has answered while it was flushing holds for nothing behind the flush.
  if (GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder))) return GST_FLOW_FLUSHING;
  if (!negotiated) return GST_FLOW_NOT_NEGOTIATED;
  state.output = sequence;
  return GST_FLOW_OK;
}

// Has the engine put the picture or fields of a frame where it belongs.
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
    // Nothing may write to the buffer any more when it goes back to its pool.
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

// The base class does not tell which frames it pushes: none that lies outside of the segment.
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

// True: no field of it has been rendered, since it would be too late.
static bool is_left_out(const DiracShown& shown) {
  return shown.pictures[0] == nullptr && shown.pictures[1] == nullptr;
}

// True: the frame was given up, and `*flow` says how to go on.
static bool gives_up(GstVideoDecoder* decoder, const DiracShown& shown, OnError on_error,
                     GstFlowReturn* flow) {
  DiracState& state = state_of(decoder);
  if (!shown.is_damaged) {
    state.damage.note_good();
    return false;
  }
  switch (state.damage.judge(on_error, true, shown.damage)) {
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

// Whether the base class will not push the frame: nothing of it is in the segment.
static bool is_outside(GstVideoDecoder* decoder, const GstVideoCodecFrame& frame) {
  return !gst_segment_clip(&decoder->input_segment, GST_FORMAT_TIME, frame.pts,
                           frame.pts + frame.duration, nullptr, nullptr);
}

// Counts a frame that is outside of the segment. True: it was given up. The base class would end
// the stream with it; where its time is one that we have made, those behind it may have their own.
static bool leaves_out(GstVideoDecoder* decoder, const DiracShown& shown, bool is_given) {
  DiracState& state = state_of(decoder);
  if (!is_outside(decoder, *shown.frame)) return false;
  GST_OBJECT_LOCK(decoder);
  ++state.outside;
  GST_OBJECT_UNLOCK(decoder);
  if (is_given || !state.framed) return false;
  if (!std::exchange(state.told_of_outside, true))
    GST_ELEMENT_WARNING(
        decoder, STREAM, FORMAT,
        ("Frames are not shown: the container's times do not ascend, and those "
         "that the frame rate gives are behind the end of the segment"),
        ("the first would be at %" GST_TIME_FORMAT, GST_TIME_ARGS(shown.frame->pts)));
  gst_video_decoder_release_frame(decoder, shown.frame);
  return true;
}

static GstFlowReturn push_frame(GstVideoDecoder* decoder, DiracShown shown) {
  DiracState& state = state_of(decoder);
  if (shown.frame == nullptr) return GST_FLOW_OK;
  const bool is_given = set_dirac_times(decoder, shown);
  if (leaves_out(decoder, shown, is_given)) return GST_FLOW_OK;
  GST_OBJECT_LOCK(decoder);
  const OnError on_error = state.settings.on_error;
  GST_OBJECT_UNLOCK(decoder);
  // A new peer may want another memory. What is under way has the old caps, and is in front of what
  // is dropped.
  const bool renegotiates = gst_pad_check_reconfigure(GST_VIDEO_DECODER_SRC_PAD(decoder)) ||
                            state.output == nullptr || !(*state.output == *shown.sequence);
  GstFlowReturn flow = GST_FLOW_OK;
  if (renegotiates || is_left_out(shown) || shown.is_damaged) flow = push_waiting(decoder, 0);
  if (flow == GST_FLOW_OK && is_left_out(shown))
    return gst_video_decoder_drop_frame(decoder, shown.frame);
  if (flow == GST_FLOW_OK && gives_up(decoder, shown, on_error, &flow)) return flow;
  if (flow == GST_FLOW_OK && renegotiates) flow = set_output(decoder, shown.sequence);
  if (flow == GST_FLOW_OK) flow = write_frame(decoder, shown);
  if (flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder, shown.frame);
    return flow;
  }
  return push_waiting(decoder, most_in_flight(state));
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

// Behind a push: the thread beside looks at the device for those that it still works on.
static GstFlowReturn pushed(GstVideoDecoder* decoder, GstFlowReturn flow) {
  DiracState& state = state_of(decoder);
  if (is_fatal(flow)) flow = fail_dirac(decoder, flow);
  const bool measures = state.pictures.threads() > 1 && state.output != nullptr;
  if (measures && state.latency.add(state.pictures.longest())) tell_latency(decoder);
  state.pictures.workers().watch(!state.in_flight.empty());
  return flow;
}

// What is ready, after work that ended with `status`.
static GstFlowReturn push_behind(GstVideoDecoder* decoder, const Status& status, bool all) {
  DiracState& state = state_of(decoder);
  // Frames that were to make room could not be pushed.
  if (status.code == StatusCode::kCancelled) return state.last;
  return state.last = push_ready(decoder, status, all);
}

GstFlowReturn push_dirac_frames(GstVideoDecoder* decoder, const Status& status, bool all) {
  return state_of(decoder).pusher.told(pushed(decoder, push_behind(decoder, status, all)));
}

// By the thread beside: what is finished.
static GstFlowReturn push_beside(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  if (state.failed != GST_FLOW_OK) return GST_FLOW_OK;  // it has been said
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
  state.split = {};
  return flow;
}

}  // namespace cudatransform
