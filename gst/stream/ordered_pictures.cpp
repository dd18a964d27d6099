// The loop of all codecs: pictures are coded on several threads and pushed in order.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/ordered_pictures.h"

#include <utility>

#include "gst/engine/debug.h"
#include "gst/engine/engine_element.h"

namespace cudatransform {

OrderedPictures::OrderedPictures(GstElement* element, GstPad* sink, GstPad* src,
                                 GRecMutex* stream_lock, SetLatency set_latency,
                                 PictureCodec& codec)
    : element_(element),
      sink_(sink),
      stream_lock_(stream_lock),
      set_latency_(set_latency),
      codec_(codec),
      pusher_(src, stream_lock, workers_, [this] { push_from_thread(); }) {}

OrderedPictures::OrderedPictures(GstVideoDecoder* decoder, PictureCodec& codec)
    : OrderedPictures(
          GST_ELEMENT(decoder), GST_VIDEO_DECODER_SINK_PAD(decoder),
          GST_VIDEO_DECODER_SRC_PAD(decoder), &decoder->stream_lock,
          [](GstElement* element, GstClockTime latency) {
            gst_video_decoder_set_latency(GST_VIDEO_DECODER(element), latency, latency);
          },
          codec) {}

OrderedPictures::OrderedPictures(GstVideoEncoder* encoder, PictureCodec& codec)
    : OrderedPictures(
          GST_ELEMENT(encoder), GST_VIDEO_ENCODER_SINK_PAD(encoder),
          GST_VIDEO_ENCODER_SRC_PAD(encoder), &encoder->stream_lock,
          [](GstElement* element, GstClockTime latency) {
            gst_video_encoder_set_latency(GST_VIDEO_ENCODER(element), latency, latency);
          },
          codec) {}

// ---- The stream ----

void OrderedPictures::start() {
  interrupts_ = 0;
  failure_ = pending_ = GST_FLOW_OK;
  latency_ = {};
}

bool OrderedPictures::start_workers(int threads, int max) {
  if (workers_.is_started() && workers_.threads() == threads && workers_.max_jobs() == max)
    return true;
  const bool has_threads = workers_.start(threads, max);
  GST_INFO_OBJECT(element_, "%d threads, %d pictures in flight", workers_.threads(),
                  workers_.max_jobs());
  return has_threads;
}

void OrderedPictures::stop() {
  flush();
  workers_.stop();
}

void OrderedPictures::flush() {
  discard_all();
  interrupts_ &= ~kFailed;
  failure_ = pending_ = GST_FLOW_OK;
}

GstFlowReturn OrderedPictures::end_stream(GstFlowReturn flow) {
  failure_ = flow;
  interrupts_ |= kFailed;
  discard_all();
  return flow;
}

void OrderedPictures::discard_all() {
  while (std::unique_ptr<FrameJob> picture = workers_.drop()) codec_.discard(std::move(picture));
  used_bytes_ = 0;
  codec_.discard_kept();
  workers_.watch(false);
}

// ---- Pictures ----

void OrderedPictures::add(std::unique_ptr<FrameJob> picture, guint64 bytes) {
  picture->bytes_ = bytes;
  used_bytes_ += bytes;
  workers_.submit(std::move(picture));
  if (workers_.max_jobs() > 1) pusher_.start();
}

GstFlowReturn OrderedPictures::push_oldest(bool wait, bool* found) {
  std::unique_ptr<FrameJob> picture = workers_.take(wait);
  *found = picture != nullptr;
  if (!picture) return GST_FLOW_OK;
  used_bytes_ -= picture->bytes_;
  return judge(codec_.finish(std::move(picture)));
}

GstFlowReturn OrderedPictures::push_done(size_t max, int count) {
  GstFlowReturn flow = failure_;
  for (bool found = true; found && flow == GST_FLOW_OK && count > 0; count--)
    flow = push_oldest(workers_.full() || workers_.pending() >= max, &found);
  return report(flow);
}

GstFlowReturn OrderedPictures::drain(const std::function<GstFlowReturn()>& complete) {
  GstFlowReturn flow = push_done(0);
  if (flow == GST_FLOW_OK && complete) flow = judge(complete());
  if (flow == GST_FLOW_OK) flow = judge(codec_.push_kept(true));
  if (flow != GST_FLOW_OK) discard_all();
  return flow;
}

// Called by the pushing thread, with the stream lock. Only where the device may have failed it
// waits, to find out.
void OrderedPictures::push_from_thread() {
  if (has_failed()) return;
  bool found = false;
  GstFlowReturn flow = push_oldest(workers_.is_overdue(), &found);
  if (flow == GST_FLOW_OK) flow = judge(codec_.push_kept(false));
  if (flow != GST_FLOW_OK) pending_ = flow;
}

GstFlowReturn OrderedPictures::judge(GstFlowReturn flow) {
  if (!is_fatal(flow) || has_failed()) return flow;
  return end_stream(codec_.explain(flow));
}

// The result of a push for upstream: a failure of the pushing thread comes with the next one.
GstFlowReturn OrderedPictures::report(GstFlowReturn flow) {
  const GstFlowReturn pending = std::exchange(pending_, GST_FLOW_OK);
  return flow == GST_FLOW_OK ? pending : flow;
}

// ---- Events ----

void OrderedPictures::begin_event() {
  g_rec_mutex_lock(stream_lock_);
  is_known_ = has_failed() && pending_ == GST_FLOW_OK;
  g_rec_mutex_unlock(stream_lock_);
}

void OrderedPictures::end_event() {
  g_rec_mutex_lock(stream_lock_);
  if (has_failed() && !is_known_) pending_ = failure_;
  g_rec_mutex_unlock(stream_lock_);
}

bool OrderedPictures::may_change_caps(GstFlowReturn drained) {
  if (drained != GST_FLOW_ERROR && drained != GST_FLOW_NOT_NEGOTIATED) return true;
  is_known_ = true;
  return false;
}

void OrderedPictures::post_end(GstFlowReturn flow) {
  post_refusal(element_, flow);
  is_known_ = true;
}

// ---- Latency ----

void OrderedPictures::set_rate(int fps_n, int fps_d, guint kept, guint reordered) {
  const guint others = static_cast<guint>(workers_.max_jobs() - 1) + kept;
  latency_.start(latency_of(others, fps_n, fps_d));
  reordering_ = reordered > 0 ? latency_of(reordered, fps_n, fps_d) : 0;
  report_latency();
}

void OrderedPictures::note_time(GstClockTime took) {
  if (workers_.threads() > 1 && latency_.add(took)) report_latency();
}

void OrderedPictures::report_latency() { set_latency_(element_, reordering_ + latency_.value()); }

}  // namespace cudatransform
