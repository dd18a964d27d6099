// The loop of all codecs: pictures are coded on several threads and pushed in order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>
#include <gst/video/gstvideoencoder.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "gst/engine/frame_workers.h"
#include "gst/stream/latency.h"

namespace cudatransform {

// What a codec does with its pictures, which it derives from FrameJob. The loop calls all functions
// with the stream lock of the element's base class, in the order of the pictures.
class PictureCodec {
 public:
  // Takes the oldest picture once its work is done: pushes or drops it. A flow that is_fatal()
  // ends the stream.
  virtual GstFlowReturn finish(std::unique_ptr<FrameJob> picture) = 0;
  // Takes a picture that must not be pushed: the stream has failed, or is being flushed.
  virtual void discard(std::unique_ptr<FrameJob> picture) = 0;
  // Frames that finish() has created and not pushed, because a device still writes them. Pushes all
  // of them or, without `all`, those that are written.
  virtual GstFlowReturn push_kept(bool /*all*/) { return GST_FLOW_OK; }
  virtual void discard_kept() {}
  // The flow to end the stream with instead of `flow`, after a more specific element error.
  virtual GstFlowReturn explain(GstFlowReturn flow) { return flow; }

 protected:
  ~PictureCodec() = default;
};

// A thread of the source pad that pushes finished pictures while no data arrives.
//
// Two threads may push the oldest finished picture: the streaming thread, when it brings the next
// one, or this thread. Both hold the lock of the element's base class, so pictures and events leave
// in order. This thread waits without a lock, and no thread that holds one waits for it. It starts
// with the first start() since the pad was activated, and ends with the pad. It is no GstTask of
// the pad, which would hold the pad's stream lock while it waits: decodebin takes that lock on the
// thread that sets caps.
class PushThread {
 public:
  // Call it in the element's instance_init: takes over the activation of `src`. `push` pushes
  // finished pictures and never waits for them; it is called with `stream_lock`, the base class's.
  PushThread(GstPad* src, GRecMutex* stream_lock, FrameWorkers& workers,
             std::function<void()> push);
  ~PushThread();
  PushThread(const PushThread&) = delete;
  PushThread& operator=(const PushThread&) = delete;

  // For workers that have threads or a device. Called by any thread. If no thread can be started,
  // the streaming thread pushes all pictures.
  void start();

 private:
  static gboolean activate(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active);
  static gpointer run(gpointer self);

  GstPad* const src_;
  GRecMutex* const stream_lock_;
  FrameWorkers& workers_;
  const std::function<void()> push_;
  std::mutex lock_;  // guards the members below
  bool active_ = false, started_ = false;
  GThread* thread_ = nullptr;
};

// Owns the worker threads, the order, the thread that pushes while no data arrives, the failure
// that ends a stream, the latency, and the count of the memory in use. It does not depend on a
// codec.
//
// Call it with the stream lock, except where a comment says otherwise. Functions that return a flow
// return the failure of the stream once there is one, until flush() or start(). A failure of the
// pushing thread is returned with the next picture, or at the end.
class OrderedPictures {
 public:
  // Call it in the element's instance_init.
  OrderedPictures(GstVideoDecoder* decoder, PictureCodec& codec);
  OrderedPictures(GstVideoEncoder* encoder, PictureCodec& codec);

  // A new stream.
  void start();
  // The number of threads if the property n-threads is `wanted`: picture_threads().
  int threads_for(guint wanted) const { return picture_threads(sink_, wanted); }
  // Makes the threads, unless there are as many: `max` pictures may be in flight. False: the
  // threads cannot be started, and there is one.
  bool start_workers(int threads, int max);
  bool is_started() const { return workers_.is_started(); }
  // Gives up all pictures and ends the threads.
  void stop();

  // ---- Pictures ----

  bool has_failed() const { return failure_ != GST_FLOW_OK; }
  // Returns the failure, for a picture that comes after it.
  GstFlowReturn failure() {
    pending_ = GST_FLOW_OK;
    return failure_;
  }
  // Begins the work for a picture, which counts `bytes` as used. If the loop is_full(), call
  // make_room() before.
  void add(std::unique_ptr<FrameJob> picture, guint64 bytes = 0);
  // Pushes at most `count` finished pictures; waits while `max` or more are in flight, or all that
  // may be.
  GstFlowReturn push_done(size_t max = SIZE_MAX, int count = INT_MAX);
  // Finishes the oldest picture. `*found`: whether there was one and, without `wait`, it was done.
  GstFlowReturn push_oldest(bool wait, bool* found);
  // Finishes pictures until has_room() or there are none.
  template <typename HasRoom>
  GstFlowReturn make_room(const HasRoom& has_room) {
    for (bool found = true; !has_room() && found;)
      if (const GstFlowReturn flow = push_oldest(true, &found); flow != GST_FLOW_OK) return flow;
    return GST_FLOW_OK;
  }
  // Pushes all pictures, and the frames of complete(), which the codec may add when the last one is
  // finished. What downstream refuses is dropped: it must not follow the event that the caller
  // drains for.
  GstFlowReturn drain(const std::function<GstFlowReturn()>& complete = {});
  void flush();
  // Ends the stream, because later pictures would hide the gap. Returns `flow`.
  GstFlowReturn end_stream(GstFlowReturn flow);

  // ---- Events ----

  // The element's sink_event, without the stream lock; take() takes the event. The sender of an
  // event does not learn the result of the pushes that it causes, so that a failure stays pending.
  template <typename Take>
  gboolean take_event(GstEvent* event, const Take& take) {
    const bool is_serialized =
        (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) != 0;
    const bool ends_flush = GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP;
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) interrupt();
    if (is_serialized) begin_event();
    const gboolean taken = take();
    if (is_serialized) end_event();
    if (ends_flush) interrupts_ &= ~kFlushing;  // the base class has dropped the pictures
    return taken;
  }
  // The element's sink_query, without the stream lock, for queries that come at the right time. By
  // DRAIN upstream waits for its buffers: drain() pushes the pictures that hold them. The sender
  // does not learn the result, so a new failure stays pending.
  template <typename Drain>
  void take_query(GstQuery* query, const Drain& drain) {
    if (GST_QUERY_TYPE(query) != GST_QUERY_DRAIN) return;
    g_rec_mutex_lock(stream_lock_);
    const bool is_known = has_failed() && pending_ == GST_FLOW_OK;
    if (const GstFlowReturn flow = drain(); flow != GST_FLOW_OK && !is_known) pending_ = flow;
    g_rec_mutex_unlock(stream_lock_);
  }
  // Whether new caps may follow: drain() has pushed the pictures with the old ones. If not, the
  // sender of the caps learns of the failure.
  bool may_change_caps(GstFlowReturn drained);
  // The end of the stream, after drain(). No later push can return a refusal, so this
  // function posts it.
  template <typename Drain>
  GstFlowReturn finish(const Drain& drain) {
    if (is_known_) return failure_;
    const GstFlowReturn flow = drain();
    post_end(flow);
    return flow;
  }

  // Any thread: work is abandoned soon, also for new pictures, until the flush is over.
  void interrupt() { interrupts_ |= kFlushing; }
  // Not 0: work may end with kCancelled.
  const std::atomic<unsigned>& interrupts() const { return interrupts_; }

  // ---- Limits ----

  int threads() const { return workers_.threads(); }
  // The most pictures in flight.
  int max_in_flight() const { return std::min(limit_, workers_.max_jobs()); }
  // Fewer than the workers may have, until they are started anew.
  void limit_in_flight(int max) { limit_ = max; }
  bool is_full() const { return workers_.pending() >= static_cast<size_t>(max_in_flight()); }
  size_t in_flight() const { return workers_.pending(); }
  bool is_empty() const { return in_flight() == 0; }
  // The bytes of the pictures in flight.
  guint64 used_bytes() const { return used_bytes_; }
  // Whether the codec keeps frames that the pushing thread has to watch.
  void watch_kept(bool keeps) { workers_.watch(keeps); }

  // New caps. Reports the latency: a picture is pushed at the latest when all others that may be in
  // flight and `kept` frames have followed; `reordered` frames are pushed before it in any case.
  void set_rate(int fps_n, int fps_d, guint kept = 0, guint reordered = 0);
  // A picture has taken this long: the latency may grow.
  void note_time(GstClockTime took);

 private:
  // Bits of interrupts_.
  static constexpr unsigned kFlushing = 1, kFailed = 2;
  using SetLatency = void (*)(GstElement* element, GstClockTime latency);

  OrderedPictures(GstElement* element, GstPad* sink, GstPad* src, GRecMutex* stream_lock,
                  SetLatency set_latency, PictureCodec& codec);
  void push_from_thread();
  GstFlowReturn judge(GstFlowReturn flow);
  GstFlowReturn report(GstFlowReturn flow);
  void discard_all();
  void begin_event();
  void end_event();
  void post_end(GstFlowReturn flow);
  void report_latency();

  GstElement* const element_;
  GstPad* const sink_;
  GRecMutex* const stream_lock_;
  const SetLatency set_latency_;
  PictureCodec& codec_;
  FrameWorkers workers_;
  PushThread pusher_;
  std::atomic<unsigned> interrupts_ = 0;
  GstFlowReturn failure_ = GST_FLOW_OK;
  GstFlowReturn pending_ = GST_FLOW_OK;  // of pushes that upstream has not learned of
  bool is_known_ = false;  // within an event: upstream knows the failure, or it has been posted
  guint64 used_bytes_ = 0;
  int limit_ = INT_MAX;  // of pictures in flight, in addition to that of workers_
  MeasuredLatency latency_;
  GstClockTime reordering_ = 0;
};

}  // namespace cudatransform
