// The output of cudadiracdec: turns shown pictures into frames with timestamps and caps, and pushes
// them.
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
      properties_(properties),
      frames_(
          decoder, engine, pictures,
          [this](const GstVideoInfo& info, CapsPtr* caps) { return choose_memory(info, caps); }),
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
  frames_.stop();
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

// The base class silently drops frames outside of the segment.
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
  // A new peer may require another memory. The frames in flight have the old caps and precede the
  // dropped ones.
  const bool renegotiates = gst_pad_needs_reconfigure(GST_VIDEO_DECODER_SRC_PAD(decoder_)) ||
                            output_ == nullptr || !(*output_ == *shown.sequence);
  GstFlowReturn flow = GST_FLOW_OK;
  if (renegotiates || is_dropped || shown.is_damaged) flow = frames_.push_all();
  if (flow == GST_FLOW_OK && is_dropped) return gst_video_decoder_drop_frame(decoder_, shown.frame);
  const Status refused = request_output(*shown.sequence);
  if (flow == GST_FLOW_OK && discards(shown, refused, &flow)) return flow;
  if (flow == GST_FLOW_OK && renegotiates) flow = set_output(shown.sequence);
  if (flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, shown.frame);
    return flow;
  }
  return frames_.write(
      shown.frame, [&](const Rects& rects) { return write_pictures(shown, rects); },
      [&](GstBuffer* buffer) { describe(shown, buffer); });
}

// True: the frame was dropped, with the result in `*flow`. A frame that cannot leave, because it is
// `refused`, is damage of a stream that began well.
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

// Sets the buffer's flags, and its crop meta for a clean area.
void DiracFrames::describe(const DiracShown& shown, GstBuffer* buffer) {
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
}

// Enqueues the copies of the picture or fields of a frame to their places.
Status DiracFrames::write_pictures(const DiracShown& shown, const Rects& rects) {
  for (const auto& picture : shown.pictures) {
    if (picture == nullptr) continue;
    CT_RETURN_IF_ERROR(
        write_dirac_picture(engine_, *picture, picture->number, frames_.info(), rects));
  }
  if (!shown.sequence->field_coding || shown.pictures[1] != nullptr) return {};
  // A single field replaces the other, too.
  const DiracRendered& only = *shown.pictures[0];
  return write_dirac_picture(engine_, only, only.number ^ 1, frames_.info(), rects);
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
    if (!frames_.is_kept(frame)) others.push_back(&frame->pts);
  }
  take_earliest_time(&shown->pts, others);
  g_list_free_full(frames, [](gpointer frame) {
    gst_video_codec_frame_unref(static_cast<GstVideoCodecFrame*>(frame));
  });
}

// Counts a frame that is outside of the segment, which the base class will not push. True: it was
// given up. The base class would end the stream with it. If we computed its timestamp, later frames
// may still have their own.
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
// memory where downstream accepts that as well.
bool DiracFrames::choose_memory(const GstVideoInfo& info, CapsPtr* caps) const {
  bool downloads_well = false;
  if (!cuda_memory_holds(info, &downloads_well)) return false;
  const MemoryChoice choice =
      downloads_well ? MemoryChoice::kCudaWherePossible : MemoryChoice::kSystemIfPossible;
  return cudatransform::choose_memory(decoder_, engine_, choice, caps);
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
  return frames_.query_downstream(info);
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
  // Frames wait for two with lower numbers, and for their own completion.
  if (const GstFlowReturn flow = frames_.negotiate(out.get(), {}, 2); flow != GST_FLOW_OK)
    return flow;
  output_ = sequence;
  return GST_FLOW_OK;
}

}  // namespace cudatransform
