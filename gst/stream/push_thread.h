// A thread of the source pad that pushes finished pictures while no data comes in.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <mutex>
#include <utility>

#include "gst/engine/frame_workers.h"

namespace cudatransform {

// Two threads may push the oldest finished picture: the streaming thread, when it brings the next
// one, or this thread. Both hold the lock of the element's base class, so pictures and events leave
// in order. This thread waits without a lock, and no thread that holds one waits for it. It starts
// with the first start() since the pad was activated, and ends with the pad. It is no GstTask of
// the pad, which would hold the pad's stream lock while it waits: decodebin takes that lock on the
// thread that sets caps.
class PushThread {
 public:
  // Call it in the element's instance_init: takes over the activation of `src`. `push` pushes
  // finished pictures and never waits for them; it is called with `stream`, the base class's lock.
  PushThread(GstPad* src, GRecMutex* stream, FrameWorkers& workers,
             std::function<GstFlowReturn()> push);
  ~PushThread();
  PushThread(const PushThread&) = delete;
  PushThread& operator=(const PushThread&) = delete;

  // For workers that have threads or a device. Called by any thread. If no thread can be made, the
  // streaming thread pushes all pictures.
  void start();

  // Call it with the stream's lock. Returns the result of this thread's pushes to upstream once:
  // with the next picture, or at the end. `flow` takes precedence.
  GstFlowReturn told(GstFlowReturn flow) {
    const GstFlowReturn untold = std::exchange(untold_, GST_FLOW_OK);
    return flow == GST_FLOW_OK ? untold : flow;
  }
  bool has_untold() const { return untold_ != GST_FLOW_OK; }
  void forget() { untold_ = GST_FLOW_OK; }

  // The element's sink_event, without the stream's lock: calls take(), which takes `event`. The
  // sender of an event does not learn the result of pushes that the event causes, so an error of
  // theirs stays untold. `failed`: the error that has ended the stream.
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
  // Inside of take(): whether upstream knew the error before, learns it with the event, or it has
  // been posted.
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
  std::mutex lock_;  // guards the members below
  bool active_ = false, started_ = false;
  GThread* thread_ = nullptr;
};

}  // namespace cudatransform
