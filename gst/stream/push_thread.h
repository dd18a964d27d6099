// A thread of the source pad that pushes finished pictures while no data comes in.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <mutex>

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

}  // namespace cudatransform
