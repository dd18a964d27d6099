// Pictures of jpegcoefdec: decoded in parallel, pushed in order, and what becomes of damaged ones.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/pictures.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"
#include "gst/stream/decoder_memory.h"
#include "jpeg/irregular.h"
#include "transform/picture.h"

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
  negotiated_ = told_irregular_ = false;
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
  const GstFlowReturn flow = drain();
  if (flow == GST_FLOW_ERROR || flow == GST_FLOW_NOT_NEGOTIATED) {
    pusher_.set_told();  // the sender of the caps hears that they are refused
    return false;
  }
  input_.reset(gst_video_codec_state_ref(state));
  // The caps that come out depend on those that come in.
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
  if (!started_) start_workers();
  Job job = std::make_unique<JpegPictureJob>(frame);
  job->is_late = is_late(frame);
  // Of two pictures in a buffer that has a time the second has none, and the base class would give
  // it that of a later one which is on its way already. Damage can split a picture like that.
  if (GST_CLOCK_TIME_IS_VALID(frame->pts))
    last_pts_ = frame->pts;
  else if (framed_)
    frame->pts = last_pts_;
  if (!job->is_late) job->status = prepare(*job);
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
  const GstFlowReturn flow = push_done(true);
  // What downstream does not want now must not come behind what is drained for.
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

JpegPictureCounts JpegPictures::counts() const {
  GST_OBJECT_LOCK(decoder_);
  const JpegPictureCounts counted = counts_;
  GST_OBJECT_UNLOCK(decoder_);
  return counted;
}

void JpegPictures::count(guint64 JpegPictureCounts::*counter) {
  GST_OBJECT_LOCK(decoder_);
  (counts_.*counter)++;
  GST_OBJECT_UNLOCK(decoder_);
}

GstStructure* JpegPictures::stats() const {
  const JpegPictureCounts counted = counts();
  const JpegDecodeCounts decoded = codec_.counts();
  return gst_structure_new("application/x-jpegcoefdec-stats", "frames", G_TYPE_UINT64,
                           counted.frames, "damaged", G_TYPE_UINT64, counted.damaged, "irregular",
                           G_TYPE_UINT64, counted.irregular, "dropped", G_TYPE_UINT64,
                           counted.dropped, "cuda-frames", G_TYPE_UINT64, decoded.by_cuda,
                           "cpu-frames", G_TYPE_UINT64, decoded.by_cpu, nullptr);
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
  const guint64 bytes_of_input = job.bytes;
  Status status = codec_.read_header(job, input_.get());
  if (!status.ok()) job.bytes = bytes_of_input;  // nothing more will be taken
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

// `*found`: whether there was one that is done.
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
  if (job->is_good()) {
    note_good(*job);
    return push(std::move(job));
  }
  const Status why =
      job->status.ok() ? Status::error(StatusCode::kInvalidArgument, job->damage) : job->status;
  if (why.code != StatusCode::kCancelled) count(&JpegPictureCounts::damaged);
  // Only damage is a matter of opinion. A kind of file that we cannot hold may be damage, too: one
  // wrong bit of a header is enough, but hardly of the first picture's.
  const bool is_damage = why.code == StatusCode::kInvalidArgument ||
                         (why.code == StatusCode::kUnsupported && damage_.seen_good());
  if (!is_damage) return reject(std::move(job), why);
  // A picture that was not to be concealed has nothing behind the damage, even if on-error has
  // changed since.
  const bool can_show =
      job->is_decoded && job->conceals && why.code == StatusCode::kInvalidArgument;
  switch (damage_.judge(settings().on_error, can_show, why.message)) {
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

// What is odd about pictures is told once: cameras make all of theirs alike.
void JpegPictures::note_good(const JpegPictureJob& job) {
  damage_.note_good();
  if (job.irregular == 0) return;
  count(&JpegPictureCounts::irregular);
  if (!std::exchange(told_irregular_, true))
    GST_INFO_OBJECT(decoder_, "an irregular picture: %s", irregularity_text(job.irregular).c_str());
}

// A picture that cannot be decoded, for a reason that is no damage.
GstFlowReturn JpegPictures::reject(Job job, const Status& why) {
  give_up(std::move(job));
  if (why.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
  post_error(GST_ELEMENT(decoder_), why);
  return GST_FLOW_ERROR;
}

// Why nothing takes the picture. Otherwise the source would say that something is not negotiated.
static Status too_many_components(const GstDctInfo& info) {
  return Status::error(
      StatusCode::kUnsupported,
      std::string("the picture is ") + gst_coef_sampling_to_string(info.sampling) +
          ", and nothing behind jpegcoefdec takes four components: cudaidct8x8 does not, as no "
          "format of raw video has C, M, Y and K");
}

GstFlowReturn JpegPictures::push(Job job) {
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  if (!negotiated_ || !codec_.fits_output_state(*job) || gst_pad_check_reconfigure(src)) {
    codec_.set_output_state(*job, input_.get());
    negotiated_ = negotiate();
    if (!negotiated_) {
      give_up(std::move(job));
      return GST_PAD_IS_FLUSHING(src) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
    }
  }
  BufferPtr buffer;
  const Status status = codec_.finish(*job, &buffer);
  if (!status.ok()) return reject(std::move(job), status);
  if (!job->is_good()) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_CORRUPTED);
  if (workers_.threads() > 1 && latency_.add(job->took())) tell_latency();
  GstVideoCodecFrame* frame = job->take_frame();
  const GstDctInfo info = job->info;
  codec_.release(*job);
  job.reset();
  frame->output_buffer = buffer.release();
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  count(&JpegPictureCounts::frames);
  const GstFlowReturn flow = gst_video_decoder_finish_frame(decoder_, frame);
  if (flow != GST_FLOW_NOT_NEGOTIATED || info.n_components <= kMaxComponents) return flow;
  post_error(GST_ELEMENT(decoder_), too_many_components(info));
  return GST_FLOW_ERROR;
}

// ---- Caps ----

// Deliberately not chaining up: the default would put our caps, which no pool knows, into a pool.
bool JpegPictures::decide_allocation(GstQuery* query) {
  const Status status = codec_.allocate(query);
  return answer_allocation(decoder_, query, status, codec_.pool());
}

void JpegPictures::tell_latency() {
  gst_video_decoder_set_latency(decoder_, latency_.value(), latency_.value());
}

// With the output state that the codec has set.
bool JpegPictures::negotiate() {
  const CodecStatePtr state(gst_video_decoder_get_output_state(decoder_));
  // A picture leaves at the latest when as many have come behind it as may be in flight beside it.
  latency_.start(
      latency_of(static_cast<guint>(workers_.most() - 1), state->info.fps_n, state->info.fps_d));
  tell_latency();
  // An answer that downstream gave while it was flushing does not hold behind the flush.
  return gst_video_decoder_negotiate(decoder_) &&
         !GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder_));
}

// Caps for a gap that no picture has come before; a picture that differs changes them. False: what
// is behind the element takes none.
bool JpegPictures::negotiate_gap() {
  GST_VIDEO_DECODER_STREAM_LOCK(decoder_);
  (void)drain();  // what has failed shows again with the next picture
  bool possible = true;
  if (!CodecStatePtr(gst_video_decoder_get_output_state(decoder_))) {
    codec_.set(settings());
    if (!started_) start_workers();  // the latency depends on their number
    possible = codec_.set_gap_state(input_.get());
    if (possible) negotiated_ = negotiate();
  }
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_);
  return possible;
}

}  // namespace cudatransform
