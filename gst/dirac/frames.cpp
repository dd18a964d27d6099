// The output of cudadiracdec: shown pictures become frames with times, in caps, and are pushed.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dirac/frames.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gst/dirac/video_format.h"
#include "gst/engine/debug.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/decoder_common.h"

namespace cudatransform {

DiracFrames::DiracFrames(GstVideoDecoder* decoder, Engine& engine, OrderedPictures& pictures,
                         const PictureSettings& properties)
    : decoder_(decoder),
      engine_(engine),
      loop_(pictures),
      properties_(properties),
      mover_(engine),
      frame_output_(engine),
      damage_(decoder, "Dirac") {
  gst_pad_add_probe(GST_VIDEO_DECODER_SRC_PAD(decoder), GST_PAD_PROBE_TYPE_BUFFER, count_pushed,
                    this, nullptr);
}

void DiracFrames::start() {
  GST_OBJECT_LOCK(decoder_);
  counts_ = {};
  framed_ = false;
  GST_OBJECT_UNLOCK(decoder_);
  clock_ = {};
  damage_.start();
  warned_of_outside_ = false;
}

void DiracFrames::stop() {
  discard_kept();
  frame_output_.stop();
  output_.reset();
  input_.reset();
}

void DiracFrames::set_input(GstVideoCodecState* state) {
  input_.reset(gst_video_codec_state_ref(state));
  output_.reset();
}

void DiracFrames::set_framed(bool framed) {
  const ObjectLock lock(decoder_);
  framed_ = framed;
}

bool DiracFrames::is_framed() const { return locked(decoder_, framed_); }

DiracFrameCounts DiracFrames::counts() const { return locked(decoder_, counts_); }

void DiracFrames::count(guint64 DiracFrameCounts::*counter) {
  const ObjectLock lock(decoder_);
  ++(counts_.*counter);
}

// The base class drops frames outside of the segment and does not say so.
GstPadProbeReturn DiracFrames::count_pushed(GstPad* pad, GstPadProbeInfo*, gpointer self) {
  GstElement* const decoder = gst_pad_get_parent_element(pad);
  if (decoder == nullptr) return GST_PAD_PROBE_OK;  // the pad has outlived it
  static_cast<DiracFrames*>(self)->count(&DiracFrameCounts::frames);
  gst_object_unref(decoder);
  return GST_PAD_PROBE_OK;
}

// ---- Pushing ----

GstFlowReturn DiracFrames::push(const DiracShown& shown) {
  if (shown.frame == nullptr) return GST_FLOW_OK;
  if (!set_times(shown)) return GST_FLOW_OK;
  const bool is_dropped = shown.pictures[0] == nullptr && shown.pictures[1] == nullptr;
  // A new peer may want another memory. The frames in flight have the old caps and precede the
  // dropped ones.
  const bool renegotiates = gst_pad_needs_reconfigure(GST_VIDEO_DECODER_SRC_PAD(decoder_)) ||
                            output_ == nullptr || !(*output_ == *shown.sequence);
  GstFlowReturn flow = GST_FLOW_OK;
  if (renegotiates || is_dropped || shown.is_damaged) flow = push_waiting(0);
  if (flow == GST_FLOW_OK && is_dropped) return gst_video_decoder_drop_frame(decoder_, shown.frame);
  const Status refused = request_output(*shown.sequence);
  if (flow == GST_FLOW_OK && discards(shown, refused, &flow)) return flow;
  if (flow == GST_FLOW_OK && renegotiates) flow = set_output(shown.sequence);
  if (flow == GST_FLOW_OK) flow = write(shown);
  if (flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, shown.frame);
    return flow;
  }
  return push_waiting(max_kept());
}

// Pushes frames in their order until the device works on no more than `max`.
GstFlowReturn DiracFrames::push_waiting(guint max) {
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
    flow = gst_video_decoder_finish_frame(decoder_, frame);
  }
  loop_.watch_kept(!in_flight_.empty());
  return flow;
}

GstFlowReturn DiracFrames::push_kept(bool all) {
  if (all) return push_waiting(0);
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK && !in_flight_.empty() && in_flight_.oldest_is_done())
    flow = push_waiting(in_flight_.size() - 1);
  return flow;
}

void DiracFrames::discard_kept() {
  in_flight_.drop();
  for (GstVideoCodecFrame* frame : waiting_) gst_video_decoder_release_frame(decoder_, frame);
  waiting_.clear();
}

// True: the frame was given up, and `*flow` says how to go on. A frame that cannot leave, because
// it is `refused`, is damage of a stream that began well.
bool DiracFrames::discards(const DiracShown& shown, const Status& refused, GstFlowReturn* flow) {
  if (!shown.is_damaged && refused.ok()) {
    damage_.note_good();
    return false;
  }
  const std::string& why = refused.ok() ? shown.damage : refused.message;
  switch (damage_.judge(locked(decoder_, properties_.on_error), refused.ok(), why)) {
    case DamagePolicy::Verdict::kShow:
      return false;
    case DamagePolicy::Verdict::kFail:
      gst_video_decoder_release_frame(decoder_, shown.frame);
      *flow = GST_FLOW_ERROR;
      return true;
    case DamagePolicy::Verdict::kDrop:
      break;
  }
  count(&DiracFrameCounts::dropped);
  *flow = gst_video_decoder_drop_frame(decoder_, shown.frame);
  return true;
}

// ---- Samples ----

GstFlowReturn DiracFrames::write(const DiracShown& shown) {
  SubmittedFrame& out = in_flight_.next();
  const Status status = make(shown, &out);
  if (!status.ok()) {
    // All writes to the buffer must end before it goes back to its pool.
    mover_.settle();
    out.reset();
    if (status.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
    post_error(GST_ELEMENT(decoder_), status);
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
  in_flight_.add();
  waiting_.push_back(shown.frame);
  return GST_FLOW_OK;
}

Status DiracFrames::make(const DiracShown& shown, SubmittedFrame* out) {
  Rects rects;
  CT_RETURN_IF_ERROR(frame_output_.begin(out, &rects));
  CT_RETURN_IF_ERROR(write_pictures(shown, rects));
  FencePtr done;
  CT_RETURN_IF_ERROR(engine_.queue(QueueKind::kCompute).record(&done));
  return frame_output_.finish(mover_, rects, done, nullptr, out);
}

// Tells the engine to write the picture or fields of a frame to their places.
Status DiracFrames::write_pictures(const DiracShown& shown, const Rects& rects) {
  for (const auto& picture : shown.pictures) {
    if (picture == nullptr) continue;
    CT_RETURN_IF_ERROR(
        write_dirac_picture(engine_, *picture, picture->number, output_info_, rects));
  }
  if (!shown.sequence->field_coding || shown.pictures[1] != nullptr) return {};
  // A single field replaces the other, too.
  const DiracRendered& only = *shown.pictures[0];
  return write_dirac_picture(engine_, only, only.number ^ 1, output_info_, rects);
}

// ---- Times ----

bool DiracFrames::is_late(GstVideoCodecFrame* frame, const DiracSequence& sequence,
                          uint64_t sequence_count, uint32_t number) const {
  if (!framed_) {
    GstClockTime time = 0;
    if (!clock_.predict(sequence, sequence_count, number, &time)) return false;
    frame->deadline = gst_segment_to_running_time(&decoder_->input_segment, GST_FORMAT_TIME, time);
  }
  return gst_video_decoder_get_max_decode_time(decoder_, frame) < 0;
}

// Gives the next shown frame its time and duration. False: it is outside of the segment and was
// given up.
bool DiracFrames::set_times(const DiracShown& shown) {
  GstVideoCodecFrame* frame = shown.frame;
  if (framed_) reorder_times(frame);
  const DiracClock::Times times = clock_.show(*shown.sequence, shown.sequence_count, shown.number,
                                              framed_, frame->pts, decoder_->input_segment.start);
  GST_OBJECT_LOCK(decoder_);
  counts_.picture_time = times.duration / (shown.sequence->field_coding ? 2 : 1);
  GST_OBJECT_UNLOCK(decoder_);
  frame->pts = times.time;
  frame->dts = GST_CLOCK_TIME_NONE;
  frame->duration = times.duration;
  return !leaves_out(frame, times.is_given);
}

// The base class also holds the frames in flight, which have their times already.
void DiracFrames::reorder_times(GstVideoCodecFrame* shown) {
  GList* frames = gst_video_decoder_get_frames(decoder_);
  std::vector<GstClockTime*> others;
  for (GList* item = frames; item != nullptr; item = item->next) {
    auto* frame = static_cast<GstVideoCodecFrame*>(item->data);
    if (std::find(waiting_.begin(), waiting_.end(), frame) == waiting_.end())
      others.push_back(&frame->pts);
  }
  take_earliest_time(&shown->pts, others);
  g_list_free_full(frames, [](gpointer frame) {
    gst_video_codec_frame_unref(static_cast<GstVideoCodecFrame*>(frame));
  });
}

// Counts a frame that is outside of the segment, which the base class will not push. True: it was
// given up. The base class would end the stream with it. If we made its time ourselves, later
// frames may have times of their own.
bool DiracFrames::leaves_out(GstVideoCodecFrame* frame, bool is_given) {
  if (gst_segment_clip(&decoder_->input_segment, GST_FORMAT_TIME, frame->pts,
                       frame->pts + frame->duration, nullptr, nullptr))
    return false;
  count(&DiracFrameCounts::outside);
  if (is_given || !framed_) return false;
  if (!std::exchange(warned_of_outside_, true))
    GST_ELEMENT_WARNING(decoder_, STREAM, FORMAT,
                        ("Dropping frames outside the segment: non-monotonic container timestamps"),
                        ("first dropped frame at %" GST_TIME_FORMAT, GST_TIME_ARGS(frame->pts)));
  gst_video_decoder_release_frame(decoder_, frame);
  return true;
}

// ---- Caps, memory and latency ----

// Whether frames of `info` go out in CUDA memory. `*caps` are the frames' caps in system memory and
// then become those in CUDA memory. Formats that GStreamer cannot download whole stay in system
// memory where downstream takes that as well.
bool DiracFrames::choose_memory(const GstVideoInfo& info, CapsPtr* caps) const {
  bool downloads_well = false;
  if (!cuda_memory_holds(info, &downloads_well)) return false;
  const MemoryChoice choice =
      downloads_well ? MemoryChoice::kCudaWherePossible : MemoryChoice::kSystemIfPossible;
  return cudatransform::choose_memory(decoder_, engine_, choice, caps);
}

bool DiracFrames::decide_allocation(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (caps == nullptr) return false;
  const Status status = frame_output_.allocate(query, caps);
  return answer_allocation(decoder_, query, status, frame_output_.pool());
}

// None for a live source, which has one thread.
guint DiracFrames::max_kept() const {
  const bool overlaps = engine_.is_cuda() && loop_.threads() > 1;
  return overlaps && !frame_output_.is_bounded() ? 2 : 0;
}

// kUnsupported if downstream does not accept frames of `info`, which have `caps`.
Status DiracFrames::query_downstream(const GstVideoInfo& info, GstCaps* caps) const {
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  if (peer_accepts(src, caps)) return {};
  const CapsPtr all(gst_pad_get_pad_template_caps(src));
  const CapsPtr accepted(gst_pad_peer_query_caps(src, all.get()));
  return Status::error(StatusCode::kUnsupported,
                       std::string("the video is ") + GST_VIDEO_INFO_NAME(&info) + ", " +
                           std::to_string(GST_VIDEO_INFO_WIDTH(&info)) + "x" +
                           std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + "; " +
                           find_misfit(caps, accepted.get()).text());
}

// Whether frames of `sequence` can follow those that were pushed. kUnsupported: GStreamer has no
// such frames, or downstream does not accept them; the caps stay as they are.
Status DiracFrames::request_output(const DiracSequence& sequence) const {
  const bool is_known = output_ != nullptr && *output_ == sequence;
  if (is_known || !damage_.seen_good()) return {};
  GstVideoInfo info;
  gst_video_info_init(&info);
  bool unspecified_matrix = false;
  CT_RETURN_IF_ERROR(dirac_video_info(sequence, &info, &unspecified_matrix));
  CapsPtr caps(gst_video_info_to_caps(&info));
  (void)choose_memory(info, &caps);
  return query_downstream(info, caps.get());
}

GstFlowReturn DiracFrames::explain(GstFlowReturn flow) {
  const CodecStatePtr out(gst_video_decoder_get_output_state(decoder_));
  if (flow != GST_FLOW_NOT_NEGOTIATED || !out || !out->caps) return flow;
  const Status status = query_downstream(output_info_, out->caps);
  if (status.ok()) return flow;
  post_error(GST_ELEMENT(decoder_), status);
  return GST_FLOW_ERROR;
}

// Caps and pool for the frames of `sequence`.
GstFlowReturn DiracFrames::set_output(const std::shared_ptr<const DiracSequence>& sequence) {
  output_.reset();
  GstVideoInfo info;
  gst_video_info_init(&info);
  bool unspecified_matrix = false;
  const Status status = dirac_video_info(*sequence, &info, &unspecified_matrix);
  if (!status.ok()) {
    post_error(GST_ELEMENT(decoder_), status);
    return GST_FLOW_ERROR;
  }
  if (unspecified_matrix)
    GST_ELEMENT_WARNING(decoder_, STREAM, FORMAT, ("No colorimetry for YCoCg video"), (nullptr));
  const CodecStatePtr out(gst_video_decoder_set_interlaced_output_state(
      decoder_, GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_INFO_INTERLACE_MODE(&info), sequence->width,
      sequence->height, input_.get()));
  // The stream's own description takes precedence over the container's.
  const GstVideoFieldOrder order = GST_VIDEO_INFO_FIELD_ORDER(&info);
  out->info.fps_n = info.fps_n;
  out->info.fps_d = info.fps_d;
  out->info.par_n = info.par_n;
  out->info.par_d = info.par_d;
  out->info.colorimetry = info.colorimetry;
  GST_VIDEO_INFO_FIELD_ORDER(&out->info) = order;
  CapsPtr caps(gst_video_info_to_caps(&out->info));
  output_info_ = out->info;
  frame_output_.configure(out->info, choose_memory(out->info, &caps));
  gst_caps_replace(&out->caps, caps.get());
  // Frames wait for two with lower numbers, and for their own completion.
  loop_.set_rate(info.fps_n, info.fps_d, max_kept(), 2);
  const bool negotiated = gst_video_decoder_negotiate(decoder_);
  // A flush invalidates an answer that downstream gave while it was flushing.
  if (GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder_))) return GST_FLOW_FLUSHING;
  if (!negotiated) return GST_FLOW_NOT_NEGOTIATED;
  output_ = sequence;
  return GST_FLOW_OK;
}

}  // namespace cudatransform
