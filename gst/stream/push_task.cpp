// A task of the source pad that pushes what is finished while nothing comes in.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/push_task.h"

namespace cudatransform {

PushTask::PushTask(GstPad* src, GRecMutex* stream, FrameWorkers& workers,
                   std::function<GstFlowReturn()> push)
    : src_(GST_PAD_CAST(gst_object_ref(src))),
      stream_(stream),
      workers_(workers),
      push_(std::move(push)) {
  gst_pad_set_activatemode_function_full(src, activate, this, nullptr);
}

// Somebody may keep the pad longer than its element.
PushTask::~PushTask() {
  gst_pad_set_activatemode_function_full(src_, nullptr, nullptr, nullptr);
  gst_object_unref(src_);
}

void PushTask::start() {
  std::lock_guard lock(lock_);
  if (!active_ || std::exchange(started_, true)) return;
  if (!gst_pad_start_task(src_, run, this, nullptr)) give_up_task();
}

// Its thread could not be made. GStreamer would wait for ever for such a task to end; without one
// the streaming thread pushes everything.
void PushTask::give_up_task() {
  GST_OBJECT_LOCK(src_);
  GstTask* const task = std::exchange(GST_PAD_TASK(src_), nullptr);
  GST_OBJECT_UNLOCK(src_);
  if (task == nullptr) return;
  gst_task_stop(task);
  gst_object_unref(task);
}

// When it ends, the pad is flushing already: the task does not stay in a push.
gboolean PushTask::activate(GstPad* pad, GstObject*, GstPadMode mode, gboolean active) {
  if (mode != GST_PAD_MODE_PUSH) return !active;
  auto* self = static_cast<PushTask*>(pad->activatemodedata);
  {
    std::lock_guard lock(self->lock_);
    self->active_ = active;
    self->started_ = false;
  }
  self->workers_.interrupt(!active);
  return active || gst_pad_stop_task(pad);
}

void PushTask::run(gpointer data) {
  auto* self = static_cast<PushTask*>(data);
  if (!self->workers_.await_oldest()) {
    gst_pad_pause_task(self->src_);
    return;
  }
  g_rec_mutex_lock(self->stream_);
  const GstFlowReturn flow = self->push_();
  if (flow != GST_FLOW_OK) self->untold_ = flow;
  g_rec_mutex_unlock(self->stream_);
}

}  // namespace cudatransform
