// A thread of the source pad that pushes finished pictures while no data comes in.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/push_thread.h"

#include <utility>

namespace cudatransform {

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
