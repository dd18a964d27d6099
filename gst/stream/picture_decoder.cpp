// Pictures that are decoded in parallel and pushed in order: the part of a decoder's element that
// does not depend on what is decoded.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/picture_decoder.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"
#include "gst/engine/one_piece.h"

namespace cudatransform {

PictureDecoder::PictureDecoder(GstVideoDecoder* decoder, PictureCodec& codec, Settings settings)
    : decoder_(decoder),
      codec_(codec),
      settings_(settings),
      damage_(decoder, codec.name()),
      pusher_(GST_VIDEO_DECODER_SRC_PAD(decoder), &decoder->stream_lock, workers_, [this] {
        bool found = false;
        return push_oldest(workers_.is_overdue(), &found);
      }) {}

// ---- The stream ----

void PictureDecoder::start() {
  interrupts_ = 0;
  failed_ = GST_FLOW_OK;
  pusher_.forget();
  negotiated_ = told_irregular_ = false;
  damage_.start();
  latency_ = {};
  last_pts_ = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK(decoder_);
  counts_ = PictureCounts();
  GST_OBJECT_UNLOCK(decoder_);
}

void PictureDecoder::stop() {
  flush();
  workers_.stop();
  started_ = false;
  codec_.stop();
  if (input_) gst_video_codec_state_unref(input_);
  input_ = nullptr;
}

bool PictureDecoder::set_input(GstVideoCodecState* state) {
  const GstFlowReturn flow = drain();
  if (flow == GST_FLOW_ERROR || flow == GST_FLOW_NOT_NEGOTIATED) {
    pusher_.set_told();  // who has sent caps hears that they are refused
    return false;
  }
  if (input_) gst_video_codec_state_unref(input_);
  input_ = gst_video_codec_state_ref(state);
  // The caps that come out depend on those that come in.
  negotiated_ = false;
  return true;
}

GstFlowReturn PictureDecoder::decode(GstVideoCodecFrame* frame) {
  if (failed_ != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, frame);
    pusher_.forget();
    return failed_;
  }
  const PictureSettings settings = settings_(decoder_);
  if (!started_) start_workers(settings);
  std::unique_ptr<PictureJob> job = codec_.new_job();
  job->late_ = is_late(frame);
  // Of two pictures in a buffer that has a time the second has none, and the base class would give
  // it that of a later one which is on its way already. Damage can split a picture like that.
  if (GST_CLOCK_TIME_IS_VALID(frame->pts))
    last_pts_ = frame->pts;
  else if (framed_)
    frame->pts = last_pts_;
  job->frame_ = frame;
  job->bytes_ = gst_buffer_get_size(frame->input_buffer);
  if (!job->late_) job->status_ = prepare(*job, settings);
  most_bytes_ = settings.max_memory;
  if (const GstFlowReturn flow = make_room(*job); flow != GST_FLOW_OK) {
    give_up(std::move(job));
    return flow;
  }
  if (!job->late_ && job->status_.ok()) job->status_ = codec_.begin(*job);
  submit(std::move(job));
  return push_done(false);
}

GstFlowReturn PictureDecoder::refuse(GstVideoCodecFrame* frame, const Status& status) {
  const GstFlowReturn flow = drain();
  gst_video_decoder_release_frame(decoder_, frame);
  if (flow != GST_FLOW_OK) return flow;
  post_error(GST_ELEMENT(decoder_), status);
  return fail(GST_FLOW_ERROR);
}

GstFlowReturn PictureDecoder::drain() {
  const GstFlowReturn flow = push_done(true);
  // What downstream does not want now must not come behind what is drained for.
  while (std::unique_ptr<PictureJob> job = take(true)) give_up(std::move(job));
  return flow;
}

GstFlowReturn PictureDecoder::finish() {
  if (pusher_.is_told()) return failed_;
  const GstFlowReturn flow = drain();
  post_refusal(GST_ELEMENT(decoder_), flow);
  pusher_.set_told();
  const PictureCounts counted = counts();
  if (flow != GST_FLOW_OK || counted.frames > 0 || counted.damaged == 0) return flow;
  GST_ELEMENT_ERROR(decoder_, STREAM, DECODE,
                    ("None of %" G_GUINT64_FORMAT " %s pictures could be decoded", counted.damaged,
                     codec_.name()),
                    ("on-error=conceal shows what there is of them"));
  return GST_FLOW_ERROR;
}

void PictureDecoder::flush() {
  while (std::unique_ptr<PictureJob> job = take(true)) codec_.release(*job);
  interrupts_ &= ~kFailed;
  failed_ = GST_FLOW_OK;
  pusher_.forget();
  last_pts_ = GST_CLOCK_TIME_NONE;
}

gboolean PictureDecoder::sink_event(GstEvent* event, GstVideoDecoderClass* parent_class) {
  return pusher_.take_event(event, failed_, [&] { return take_event(event, parent_class); });
}

gboolean PictureDecoder::take_event(GstEvent* event, GstVideoDecoderClass* parent_class) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_START:
      interrupt();
      break;
    case GST_EVENT_FLUSH_STOP: {
      // What was interrupted is dropped by the parent class.
      const gboolean taken = parent_class->sink_event(decoder_, event);
      interrupts_ &= ~kFlushing;
      return taken;
    }
    case GST_EVENT_SEGMENT: {
      // Asked here, because the base class makes a TIME segment of every other.
      const GstSegment* segment = nullptr;
      gst_event_parse_segment(event, &segment);
      GST_VIDEO_DECODER_STREAM_LOCK(decoder_);
      framed_ = segment->format == GST_FORMAT_TIME;
      GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_);
      break;
    }
    case GST_EVENT_GAP:
      // The base class passes it on at once, and its own caps would be those of raw video.
      if (!negotiate_gap()) {
        GST_ELEMENT_ERROR(decoder_, STREAM, FORMAT,
                          ("A gap cannot be passed on: no caps have been negotiated"),
                          ("downstream takes none of the caps that the element can make"));
        return gst_pad_push_event(GST_VIDEO_DECODER_SRC_PAD(decoder_), event);
      }
      break;
    default:
      break;
  }
  return parent_class->sink_event(decoder_, event);
}

PictureCounts PictureDecoder::counts() const {
  GST_OBJECT_LOCK(decoder_);
  const PictureCounts counted = counts_;
  GST_OBJECT_UNLOCK(decoder_);
  return counted;
}

void PictureDecoder::count(guint64 PictureCounts::*counter) {
  GST_OBJECT_LOCK(decoder_);
  (counts_.*counter)++;
  GST_OBJECT_UNLOCK(decoder_);
}

GstStructure* PictureDecoder::stats(const char* name) const {
  const PictureCounts counted = counts();
  return gst_structure_new(name, "frames", G_TYPE_UINT64, counted.frames, "damaged", G_TYPE_UINT64,
                           counted.damaged, "irregular", G_TYPE_UINT64, counted.irregular,
                           "dropped", G_TYPE_UINT64, counted.dropped, nullptr);
}

// ---- On the way in ----

void PictureDecoder::start_workers(const PictureSettings& settings) {
  const guint wanted = settings.n_threads;
  const int threads = picture_threads(GST_VIDEO_DECODER_SINK_PAD(decoder_), wanted);
  const bool more = wanted == 0 && threads > 1;
  if (!workers_.start(threads, more ? threads * settings.pictures_a_thread : threads))
    workers_.start(1);
  started_ = true;
  GST_INFO_OBJECT(decoder_, "%d pictures at a time", workers_.most());
}

bool PictureDecoder::is_late(GstVideoCodecFrame* frame) const {
  gboolean qos = FALSE;
  g_object_get(decoder_, "qos", &qos, nullptr);
  const bool late = qos && gst_video_decoder_get_max_decode_time(decoder_, frame) < 0;
  if (late) GST_DEBUG_OBJECT(decoder_, "too late: skipped");
  return late;
}

Status PictureDecoder::prepare(PictureJob& job, const PictureSettings& settings) {
  job.conceals_ = settings.on_error == OnError::kConceal;
  job.max_memory_ = settings.max_memory;
  job.interrupt_ = &interrupts_;
  CT_RETURN_IF_ERROR(in_one_piece(job.frame_->input_buffer, &job.input_));
  job.mapped_ = gst_buffer_map(job.input_.get(), &job.map_, GST_MAP_READ);
  if (!job.mapped_)
    return Status::error(StatusCode::kFailed,
                         std::string("a buffer of ") + codec_.name() + " data could not be mapped");
  const guint64 bytes_of_input = job.bytes_;
  Status status = codec_.read_header(job, input_);
  if (!status.ok()) job.bytes_ = bytes_of_input;  // nothing more will be taken
  return status;
}

// Pushes pictures until there is room for what `job` needs. Memory that is kept for pictures to
// come is what goes first, all but what this one will use.
GstFlowReturn PictureDecoder::make_room(const PictureJob& job) {
  if (most_bytes_ == 0) {
    codec_.limit_kept(G_MAXSIZE);
    return GST_FLOW_OK;
  }
  // Refused pictures are not too large here.
  const guint64 most = std::max(most_bytes_, job.bytes_);
  for (bool found = true;;) {
    const guint64 used = used_bytes_ + job.bytes_;
    codec_.limit_kept((most > used ? most - used : 0) + codec_.reusable(job));
    if (used <= most || !found) return GST_FLOW_OK;
    if (const GstFlowReturn flow = push_oldest(true, &found); flow != GST_FLOW_OK) return flow;
  }
}

void PictureDecoder::submit(std::unique_ptr<PictureJob> job) {
  used_bytes_ += job->bytes_;
  if (most_bytes_ != 0)
    codec_.limit_kept(most_bytes_ > used_bytes_ ? most_bytes_ - used_bytes_ : 0);
  workers_.submit(std::move(job));
  if (workers_.most() > 1) pusher_.start();
}

// ---- On the way out ----

std::unique_ptr<PictureJob> PictureDecoder::take(bool wait) {
  std::unique_ptr<FrameJob> done = workers_.take(wait);
  if (!done) return nullptr;
  std::unique_ptr<PictureJob> job(static_cast<PictureJob*>(done.release()));
  used_bytes_ -= job->bytes_;
  // What it leaves behind may be kept for the next.
  if (most_bytes_ > used_bytes_) codec_.limit_kept(most_bytes_ - used_bytes_);
  return job;
}

GstFlowReturn PictureDecoder::push_done(bool all) {
  GstFlowReturn flow = failed_;
  for (bool found = true; found && flow == GST_FLOW_OK;)
    flow = push_oldest(all || workers_.full(), &found);
  return pusher_.told(flow);
}

// `*found`: whether there was one that is done.
GstFlowReturn PictureDecoder::push_oldest(bool wait, bool* found) {
  std::unique_ptr<PictureJob> job = take(wait);
  *found = job != nullptr;
  if (!job) return GST_FLOW_OK;
  const GstFlowReturn flow = push_or_reject(std::move(job));
  return is_fatal(flow) ? fail(flow) : flow;
}

// Pushing later pictures would hide the gap.
GstFlowReturn PictureDecoder::fail(GstFlowReturn flow) {
  failed_ = flow;
  interrupts_ |= kFailed;
  while (std::unique_ptr<PictureJob> job = take(true)) give_up(std::move(job));
  return flow;
}

void PictureDecoder::give_up(std::unique_ptr<PictureJob> job) {
  gst_video_decoder_release_frame(decoder_, job->take_frame());
  codec_.release(*job);
}

GstFlowReturn PictureDecoder::push_or_reject(std::unique_ptr<PictureJob> job) {
  if (job->late_) return gst_video_decoder_drop_frame(decoder_, job->take_frame());
  if (job->is_good()) {
    note_good(*job);
    return push(std::move(job));
  }
  const Status why =
      job->status_.ok() ? Status::error(StatusCode::kInvalidArgument, job->damage_) : job->status_;
  if (why.code != StatusCode::kCancelled) count(&PictureCounts::damaged);
  // Only damage is a matter of opinion. A kind of file that we cannot hold may be damage, too: one
  // wrong bit of a header is enough, but hardly of the first picture's.
  const bool is_damage = why.code == StatusCode::kInvalidArgument ||
                         (why.code == StatusCode::kUnsupported && damage_.seen_good());
  if (!is_damage) return reject(std::move(job), why);
  // Where it was not to be concealed there is nothing behind the damage, even if it were to be
  // shown by now.
  const bool can_show = job->decoded_ && job->conceals_ && why.code == StatusCode::kInvalidArgument;
  switch (damage_.judge(settings_(decoder_).on_error, can_show, why.message)) {
    case DamagePolicy::Verdict::kShow:
      return push(std::move(job));
    case DamagePolicy::Verdict::kFail:
      give_up(std::move(job));
      return GST_FLOW_ERROR;
    case DamagePolicy::Verdict::kDrop:
      break;
  }
  count(&PictureCounts::dropped);
  GstVideoCodecFrame* frame = job->take_frame();
  codec_.release(*job);
  return gst_video_decoder_drop_frame(decoder_, frame);
}

// What is odd about pictures is told once: cameras make all of theirs alike.
void PictureDecoder::note_good(const PictureJob& job) {
  damage_.note_good();
  if (job.irregular_.empty()) return;
  count(&PictureCounts::irregular);
  if (!std::exchange(told_irregular_, true))
    GST_INFO_OBJECT(decoder_, "an irregular picture: %s", job.irregular_.c_str());
}

// A picture that cannot be decoded, for a reason that is no damage.
GstFlowReturn PictureDecoder::reject(std::unique_ptr<PictureJob> job, const Status& why) {
  give_up(std::move(job));
  if (why.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
  post_error(GST_ELEMENT(decoder_), why);
  return GST_FLOW_ERROR;
}

GstFlowReturn PictureDecoder::push(std::unique_ptr<PictureJob> job) {
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  if (!negotiated_ || codec_.needs_new_state(*job) || gst_pad_check_reconfigure(src)) {
    codec_.set_output_state(*job, input_);
    negotiated_ = negotiate();
    if (!negotiated_) {
      give_up(std::move(job));
      return GST_PAD_IS_FLUSHING(src) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
    }
  }
  GstBuffer* buffer = nullptr;
  const Status status = codec_.finish(*job, &buffer);
  if (!status.ok()) {
    give_up(std::move(job));
    if (status.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
    post_error(GST_ELEMENT(decoder_), status);
    return GST_FLOW_ERROR;
  }
  if (!job->is_good()) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
  if (workers_.threads() > 1 && latency_.add(job->took())) tell_latency();
  GstVideoCodecFrame* frame = job->take_frame();
  codec_.release(*job);
  job.reset();
  frame->output_buffer = buffer;
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  count(&PictureCounts::frames);
  return gst_video_decoder_finish_frame(decoder_, frame);
}

// ---- Caps ----

void PictureDecoder::tell_latency() {
  gst_video_decoder_set_latency(decoder_, latency_.value(), latency_.value());
}

// With the output state that the codec has set.
bool PictureDecoder::negotiate() {
  GstVideoCodecState* state = gst_video_decoder_get_output_state(decoder_);
  // A picture leaves at the latest when as many have come behind it as may be in flight beside it.
  latency_.start(
      latency_of(static_cast<guint>(workers_.most() - 1), state->info.fps_n, state->info.fps_d));
  gst_video_codec_state_unref(state);
  tell_latency();
  // What downstream has answered while it was flushing holds for nothing behind the flush.
  return gst_video_decoder_negotiate(decoder_) &&
         !GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder_));
}

// Caps for a gap that no picture has come before; a picture that differs changes them. False: what
// is behind the element takes none.
bool PictureDecoder::negotiate_gap() {
  GST_VIDEO_DECODER_STREAM_LOCK(decoder_);
  (void)drain();  // what has failed shows again with the next picture
  bool possible = true;
  if (GstVideoCodecState* state = gst_video_decoder_get_output_state(decoder_)) {
    gst_video_codec_state_unref(state);
  } else {
    if (!started_) start_workers(settings_(decoder_));  // the latency depends on their number
    possible = codec_.set_gap_state(input_);
    if (possible) negotiated_ = negotiate();
  }
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_);
  return possible;
}

}  // namespace cudatransform
