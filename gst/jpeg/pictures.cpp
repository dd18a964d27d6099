// The pictures of jpegcoefdec: decoded in parallel, pushed in order; and the handling of damage.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/pictures.h"

#include <memory>
#include <utility>

#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"
#include "jpeg/irregular.h"

namespace cudatransform {

JpegPictures::JpegPictures(GstVideoDecoder* decoder, Engine& engine,
                           const JpegDecodeSettings& properties,
                           const EngineSettings& engine_properties)
    : decoder_(decoder),
      properties_(properties),
      engine_properties_(engine_properties),
      codec_(decoder, engine),
      damage_(decoder, "JPEG"),
      pusher_(GST_VIDEO_DECODER_SRC_PAD(decoder), &decoder->stream_lock, workers_, [this] {
        bool found = false;
        return push_oldest(workers_.is_overdue(), &found);
      }) {}

// ---- The stream ----

Status JpegPictures::start() {
  CT_RETURN_IF_ERROR(codec_.start(settings()));
  interrupts_ = 0;
  failed_ = GST_FLOW_OK;
  pusher_.forget();
  negotiated_ = told_irregular_ = is_refused_ = false;
  accepted_.clear();
  damage_.start();
  latency_ = {};
  last_pts_ = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK(decoder_);
  counts_ = {};
  GST_OBJECT_UNLOCK(decoder_);
  return {};
}

void JpegPictures::stop() {
  flush();
  workers_.stop();
  started_ = false;
  codec_.stop();
  input_.reset();
}

bool JpegPictures::set_input(GstVideoCodecState* state) {
  // What is held waits for pictures that may have caps of their own.
  const GstFlowReturn flow = drain_in_flight();
  if (flow == GST_FLOW_ERROR || flow == GST_FLOW_NOT_NEGOTIATED) {
    pusher_.set_told();  // the sender of the caps learns of the refusal
    return false;
  }
  if (detached_.is_holding() && !held_input_) held_input_ = std::move(input_);
  input_.reset(gst_video_codec_state_ref(state));
  // The output caps depend on the input caps.
  negotiated_ = false;
  return true;
}

GstFlowReturn JpegPictures::decode(GstVideoCodecFrame* frame) {
  if (failed_ != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, frame);
    pusher_.forget();
    return failed_;
  }
  codec_.set(settings());
  if (detached_.take(frame->input_buffer)) {
    if (!detached_.is_holding()) count(&JpegPictureCounts::detached);
    gst_video_decoder_release_frame(decoder_, frame);
    return detached_.is_complete() ? decode_held() : push_done(false);
  }
  if (const GstFlowReturn flow = decode_held(); flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, frame);
    return flow;
  }
  const JpegDecodeSettings& now = codec_.settings();
  const bool may_hold = now.pictures == JpegFilePictures::kFirst && now.keep_metadata &&
                        gst_video_decoder_get_packetized(decoder_);
  return may_hold && detached_.hold(frame) ? push_done(false) : decode_now(frame);
}

GstFlowReturn JpegPictures::decode_held() {
  GstVideoCodecFrame* frame = detached_.release();
  if (!frame) return GST_FLOW_OK;
  CodecStatePtr newer = std::move(held_input_);
  if (failed_ != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, frame);
    return failed_;
  }
  if (!newer) return decode_now(frame);
  // It is pushed before the newer caps hold.
  newer.swap(input_);
  negotiated_ = false;
  GstFlowReturn flow = decode_now(frame);
  if (flow == GST_FLOW_OK) flow = drain_in_flight();
  newer.swap(input_);
  negotiated_ = false;
  return flow;
}

GstFlowReturn JpegPictures::decode_now(GstVideoCodecFrame* frame) {
  if (!started_) start_workers();
  Job job = std::make_unique<JpegPictureJob>(frame);
  job->is_late = is_late(frame);
  // If a buffer with a time has two pictures, the second has no time, and the base class would give
  // it that of a later picture already on its way. Damage can split a picture like that.
  if (GST_CLOCK_TIME_IS_VALID(frame->pts))
    last_pts_ = frame->pts;
  else if (framed_)
    frame->pts = last_pts_;
  job->status = prepare(*job);
  if (!job->has_others()) detached_.expect(job->others());
  if (const GstFlowReturn flow = make_room(*job); flow != GST_FLOW_OK) {
    give_up(std::move(job));
    return flow;
  }
  codec_.begin(*job);
  workers_.submit(std::move(job));
  if (workers_.most() > 1) pusher_.start();
  return push_done(false);
}

GstFlowReturn JpegPictures::refuse(GstVideoCodecFrame* frame, const Status& status) {
  const GstFlowReturn flow = drain();
  gst_video_decoder_release_frame(decoder_, frame);
  if (flow != GST_FLOW_OK) return flow;
  post_error(GST_ELEMENT(decoder_), status);
  return fail(GST_FLOW_ERROR);
}

GstFlowReturn JpegPictures::drain() {
  const GstFlowReturn flow = decode_held();
  return flow == GST_FLOW_OK ? drain_in_flight() : flow;
}

GstFlowReturn JpegPictures::drain_in_flight() {
  const GstFlowReturn flow = push_done(true);
  // Refused frames must not follow the event that we drain for.
  while (Job job = take(true)) give_up(std::move(job));
  return flow;
}

GstFlowReturn JpegPictures::finish() {
  if (pusher_.is_told()) return failed_;
  const GstFlowReturn flow = drain();
  post_refusal(GST_ELEMENT(decoder_), flow);
  pusher_.set_told();
  const JpegPictureCounts counted = counts();
  if (flow != GST_FLOW_OK || counted.frames > 0 || counted.damaged == 0) return flow;
  GST_ELEMENT_ERROR(
      decoder_, STREAM, DECODE,
      ("None of %" G_GUINT64_FORMAT " JPEG pictures could be decoded", counted.damaged),
      ("on-error=conceal shows what there is of them"));
  return GST_FLOW_ERROR;
}

void JpegPictures::flush() {
  while (Job job = take(true)) codec_.release(*job);
  interrupts_ &= ~kFailed;
  failed_ = GST_FLOW_OK;
  pusher_.forget();
  last_pts_ = GST_CLOCK_TIME_NONE;
  if (GstVideoCodecFrame* held = detached_.release())
    gst_video_decoder_release_frame(decoder_, held);
  held_input_.reset();
  detached_.forget();
}

gboolean JpegPictures::sink_event(GstEvent* event, GstVideoDecoderClass* parent_class) {
  return pusher_.take_event(event, failed_, [&] { return take_event(event, parent_class); });
}

gboolean JpegPictures::take_event(GstEvent* event, GstVideoDecoderClass* parent_class) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_START:
      interrupt();
      break;
    case GST_EVENT_FLUSH_STOP: {
      // The parent class drops the interrupted pictures.
      const gboolean taken = parent_class->sink_event(decoder_, event);
      interrupts_ &= ~kFlushing;
      return taken;
    }
    case GST_EVENT_SEGMENT: {
      // We ask here, because the base class turns every other segment into a TIME segment.
      const GstSegment* segment = nullptr;
      gst_event_parse_segment(event, &segment);
      GST_VIDEO_DECODER_STREAM_LOCK(decoder_);
      framed_ = segment->format == GST_FORMAT_TIME;
      GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_);
      break;
    }
    case GST_EVENT_GAP:
      // The base class passes it on at once, and would make caps of raw video for it.
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

JpegPictureCounts JpegPictures::counts() const {
  GST_OBJECT_LOCK(decoder_);
  const JpegPictureCounts counted = counts_;
  GST_OBJECT_UNLOCK(decoder_);
  return counted;
}

void JpegPictures::count(guint64 JpegPictureCounts::*counter, guint64 more) {
  GST_OBJECT_LOCK(decoder_);
  counts_.*counter += more;
  GST_OBJECT_UNLOCK(decoder_);
}

GstStructure* JpegPictures::stats() const {
  const JpegPictureCounts counted = counts();
  const JpegDecodeCounts decoded = codec_.counts();
  return gst_structure_new(
      "application/x-jpegcoefdec-stats", "frames", G_TYPE_UINT64, counted.frames, "damaged",
      G_TYPE_UINT64, counted.damaged, "irregular", G_TYPE_UINT64, counted.irregular, "dropped",
      G_TYPE_UINT64, counted.dropped, "attachments", G_TYPE_UINT64, counted.attachments, "detached",
      G_TYPE_UINT64, counted.detached, "cuda-frames", G_TYPE_UINT64, decoded.by_cuda, "cpu-frames",
      G_TYPE_UINT64, decoded.by_cpu, nullptr);
}

JpegDecodeSettings JpegPictures::settings() const {
  GST_OBJECT_LOCK(decoder_);
  const JpegDecodeSettings now = properties_;
  GST_OBJECT_UNLOCK(decoder_);
  return now;
}

// ---- On the way in ----

void JpegPictures::start_workers() {
  GST_OBJECT_LOCK(decoder_);
  const guint wanted = engine_properties_.n_threads;
  GST_OBJECT_UNLOCK(decoder_);
  const int threads = picture_threads(GST_VIDEO_DECODER_SINK_PAD(decoder_), wanted);
  const bool more = wanted == 0 && threads > 1;
  if (!workers_.start(threads, more ? threads * codec_.pictures_a_thread() : threads))
    workers_.start(1);
  started_ = true;
  GST_INFO_OBJECT(decoder_, "%d pictures at a time", workers_.most());
}

bool JpegPictures::is_late(GstVideoCodecFrame* frame) const {
  gboolean qos = FALSE;
  g_object_get(decoder_, "qos", &qos, nullptr);
  const bool late = qos && gst_video_decoder_get_max_decode_time(decoder_, frame) < 0;
  if (late) GST_DEBUG_OBJECT(decoder_, "too late: skipped");
  return late;
}

Status JpegPictures::prepare(JpegPictureJob& job) {
  const JpegDecodeSettings& settings = codec_.settings();
  job.conceals = settings.on_error == OnError::kConceal;
  job.max_memory = settings.max_memory;
  job.interrupt = &interrupts_;
  CT_RETURN_IF_ERROR(job.map());
  if (settings.pictures == JpegFilePictures::kFirst) CT_RETURN_IF_ERROR(job.look_behind());
  if (job.is_late) return {};
  const guint64 bytes_of_input = job.bytes;
  Status status = codec_.read_header(job, input_.get());
  if (!status.ok()) job.bytes = bytes_of_input;  // no more pictures will be taken
  return status;
}

// Pushes pictures until there is room for what `job` needs.
GstFlowReturn JpegPictures::make_room(const JpegPictureJob& job) {
  for (bool found = true; !codec_.has_room(job) && found;)
    if (const GstFlowReturn flow = push_oldest(true, &found); flow != GST_FLOW_OK) return flow;
  return GST_FLOW_OK;
}

// ---- On the way out ----

JpegPictures::Job JpegPictures::take(bool wait) {
  return Job(static_cast<JpegPictureJob*>(workers_.take(wait).release()));
}

GstFlowReturn JpegPictures::push_done(bool all) {
  GstFlowReturn flow = failed_;
  for (bool found = true; found && flow == GST_FLOW_OK;)
    flow = push_oldest(all || workers_.full(), &found);
  return pusher_.told(flow);
}

// `*found`: whether a picture was done.
GstFlowReturn JpegPictures::push_oldest(bool wait, bool* found) {
  Job job = take(wait);
  *found = job != nullptr;
  if (!job) return GST_FLOW_OK;
  const GstFlowReturn flow = push_or_reject(std::move(job));
  return is_fatal(flow) ? fail(flow) : flow;
}

// Pushing later pictures would hide the gap.
GstFlowReturn JpegPictures::fail(GstFlowReturn flow) {
  failed_ = flow;
  interrupts_ |= kFailed;
  while (Job job = take(true)) give_up(std::move(job));
  return flow;
}

void JpegPictures::give_up(Job job) {
  gst_video_decoder_release_frame(decoder_, job->take_frame());
  codec_.release(*job);
}

GstFlowReturn JpegPictures::push_or_reject(Job job) {
  if (job->is_late) return drop(std::move(job));
  Status why = !job->status.ok() || job->is_good()
                   ? job->status
                   : Status::error(StatusCode::kInvalidArgument, job->damage);
  // A picture that was not to be concealed has no coefficients after the damage, even if on-error
  // has changed since.
  const bool is_whole = why.ok();
  const bool has_output =
      is_whole || (job->is_decoded && job->conceals && why.code == StatusCode::kInvalidArgument);
  const Status refused = has_output ? ask_downstream(*job) : Status();
  if (is_whole) why = refused;
  if (is_whole) note_irregular(*job);
  if (why.ok()) return push(std::move(job));
  if (why.code != StatusCode::kCancelled) count(&JpegPictureCounts::damaged);
  // A policy applies to damage only. Damage may also look like an unsupported kind of file: one
  // wrong bit of a header is enough, but it hardly hits the first picture.
  const bool is_damage = why.code == StatusCode::kInvalidArgument ||
                         (why.code == StatusCode::kUnsupported && damage_.seen_good());
  if (!is_damage) return reject(std::move(job), why);
  switch (damage_.judge(settings().on_error, has_output && refused.ok(), why.message)) {
    case DamagePolicy::Verdict::kShow:
      return push(std::move(job));
    case DamagePolicy::Verdict::kFail:
      give_up(std::move(job));
      return GST_FLOW_ERROR;
    case DamagePolicy::Verdict::kDrop:
      break;
  }
  count(&JpegPictureCounts::dropped);
  return drop(std::move(job));
}

GstFlowReturn JpegPictures::drop(Job job) {
  GstVideoCodecFrame* frame = job->take_frame();
  codec_.release(*job);
  return gst_video_decoder_drop_frame(decoder_, frame);
}

// The user is told of odd pictures once: cameras make all of theirs alike.
void JpegPictures::note_irregular(const JpegPictureJob& job) {
  if (job.irregular == 0) return;
  count(&JpegPictureCounts::irregular);
  if (!std::exchange(told_irregular_, true))
    GST_INFO_OBJECT(decoder_, "an irregular picture: %s", irregularity_text(job.irregular).c_str());
}

// Handles a picture that cannot be decoded, for a reason other than damage.
GstFlowReturn JpegPictures::reject(Job job, const Status& why) {
  give_up(std::move(job));
  if (why.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
  post_error(GST_ELEMENT(decoder_), why);
  return GST_FLOW_ERROR;
}

GstFlowReturn JpegPictures::push(Job job) {
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  const bool is_good = job->is_good(), is_other = is_of_other_kind(*job);
  const bool is_changed = gst_pad_check_reconfigure(src);
  if (is_changed) accepted_.clear();
  if (!negotiated_ || is_changed || !codec_.fits_output_state(*job)) {
    codec_.set_output_state(*job, input_.get());
    negotiated_ = negotiate();
    if (!negotiated_) {
      give_up(std::move(job));
      return GST_PAD_IS_FLUSHING(src) ? GST_FLOW_FLUSHING : explain(GST_FLOW_NOT_NEGOTIATED);
    }
  }
  BufferPtr buffer;
  const Status status = codec_.finish(*job, &buffer);
  if (!status.ok()) return reject(std::move(job), status);
  if (!is_good) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_CORRUPTED);
  if (workers_.threads() > 1 && latency_.add(job->took())) tell_latency();
  const guint64 attachments = job->behind && job->has_others() ? job->others().count : 0;
  GstVideoCodecFrame* frame = job->take_frame();
  codec_.release(*job);
  job.reset();
  frame->output_buffer = buffer.release();
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  count(&JpegPictureCounts::frames);
  count(&JpegPictureCounts::attachments, attachments);
  const GstFlowReturn flow = gst_video_decoder_finish_frame(decoder_, frame);
  is_refused_ = flow == GST_FLOW_NOT_NEGOTIATED;
  if (is_refused_) return is_other ? drop_refused() : explain(flow);
  if (is_good) damage_.note_good();
  return flow;
}

}  // namespace cudatransform
