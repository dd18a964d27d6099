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
  limit_ = INT_MAX;
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
    flow = push_oldest(is_full() || workers_.pending() >= max, &found);
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
  const guint others = static_cast<guint>(max_in_flight() - 1) + kept;
  latency_.start(latency_of(others, fps_n, fps_d));
  reordering_ = reordered > 0 ? latency_of(reordered, fps_n, fps_d) : 0;
  report_latency();
}

void OrderedPictures::note_time(GstClockTime took) {
  if (workers_.threads() > 1 && latency_.add(took)) report_latency();
}

void OrderedPictures::report_latency() { set_latency_(element_, reordering_ + latency_.value()); }

// ---- The pushing thread ----

PushThread::PushThread(GstPad* src, GRecMutex* stream_lock, FrameWorkers& workers,
                       std::function<void()> push)
    : src_(GST_PAD_CAST(gst_object_ref(src))),
      stream_lock_(stream_lock),
      workers_(workers),
      push_(std::move(push)) {
  gst_pad_set_activatemode_function_full(src, activate, this, nullptr);
}

// The pad may outlive its element.
PushThread::~PushThread() {
  gst_pad_set_activatemode_function_full(src_, nullptr, nullptr, nullptr);
  gst_object_unref(src_);
}

void PushThread::start() {
  std::lock_guard lock(lock_);
  if (!active_ || std::exchange(started_, true)) return;
  thread_ = g_thread_try_new("GstCoefPush", run, this, nullptr);
}

// When the thread ends, the pad is flushing already: the thread does not stay in a push.
gboolean PushThread::activate(GstPad* pad, GstObject*, GstPadMode mode, gboolean active) {
  if (mode != GST_PAD_MODE_PUSH) return !active;
  auto* self = static_cast<PushThread*>(pad->activatemodedata);
  GThread* ended = nullptr;
  {
    std::lock_guard lock(self->lock_);
    self->active_ = active;
    self->started_ = false;
    ended = std::exchange(self->thread_, nullptr);
  }
  self->workers_.interrupt(!active);
  if (ended == nullptr) return TRUE;
  if (ended == g_thread_self()) {
    g_critical("the push thread cannot join itself");
    g_thread_unref(ended);
  } else {
    g_thread_join(ended);
  }
  return TRUE;
}

gpointer PushThread::run(gpointer data) {
  auto* self = static_cast<PushThread*>(data);
  while (self->workers_.await_oldest()) {
    g_rec_mutex_lock(self->stream_lock_);
    self->push_();
    g_rec_mutex_unlock(self->stream_lock_);
  }
  return nullptr;
}

}  // namespace cudatransform
