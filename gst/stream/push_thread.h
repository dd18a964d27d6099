// A thread of the source pad that pushes what is finished while nothing comes in.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <mutex>
#include <utility>

#include "gst/engine/frame_workers.h"

namespace cudatransform {

// The oldest picture that is finished is pushed by the first thread that comes: the streaming
// thread when it brings the next picture, or this thread. Both do so with the lock of the element's
// base class, so pictures leave in order with all that travels with the stream. The thread waits
// without a lock, and it never has to be waited for with one. It starts with the first start()
// since the pad was activated, and ends with the pad. It is no GstTask of the pad, which would hold
// the pad's stream lock while it waits: decodebin takes that lock on the thread that sets caps.
class PushThread {
 public:
  // In the element's instance_init: takes over the activation of `src`. `push` pushes what is
  // finished, and never waits for it; it is called with `stream`, the base class's lock.
  PushThread(GstPad* src, GRecMutex* stream, FrameWorkers& workers,
             std::function<GstFlowReturn()> push);
  ~PushThread();
  PushThread(const PushThread&) = delete;
  PushThread& operator=(const PushThread&) = delete;

  // For workers that have threads or a device. Any thread. Where no thread can be made the
  // streaming thread pushes everything.
  void start();

  // With the stream's lock. What the thread's pushes have returned, upstream hears once: with its
  // next picture, or at the end. `flow` goes before it.
  GstFlowReturn told(GstFlowReturn flow) {
    const GstFlowReturn untold = std::exchange(untold_, GST_FLOW_OK);
    return flow == GST_FLOW_OK ? untold : flow;
  }
  bool has_untold() const { return untold_ != GST_FLOW_OK; }
  void forget() { untold_ = GST_FLOW_OK; }

  // The element's sink_event, without the stream's lock: calls take(), which takes `event`. Its
  // sender hears nothing of what is pushed for it, so an error of that stays untold. `failed`: the
  // error that has ended the stream.
  template <typename Take>
  gboolean take_event(const GstEvent* event, const GstFlowReturn& failed, const Take& take) {
    if ((gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) == 0)
      return take();
    g_rec_mutex_lock(stream_);
    is_told_ = failed != GST_FLOW_OK && !has_untold();
    g_rec_mutex_unlock(stream_);
    const gboolean taken = take();
    g_rec_mutex_lock(stream_);
    if (failed != GST_FLOW_OK && !is_told_) untold_ = failed;
    g_rec_mutex_unlock(stream_);
    return taken;
  }
  // Inside of take(): whether upstream had heard of the error before, hears of it with the event,
  // or somebody has posted it.
  bool is_told() const { return is_told_; }
  void set_told() { is_told_ = true; }

 private:
  static gboolean activate(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active);
  static gpointer run(gpointer self);

  GstPad* const src_;
  GRecMutex* const stream_;
  FrameWorkers& workers_;
  const std::function<GstFlowReturn()> push_;
  GstFlowReturn untold_ = GST_FLOW_OK;
  bool is_told_ = false;
  std::mutex lock_;  // guards what is below
  bool active_ = false, started_ = false;
  GThread* thread_ = nullptr;
};

}  // namespace cudatransform
