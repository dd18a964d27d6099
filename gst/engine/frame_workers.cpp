// Threads that work on several pictures in parallel; their results are taken in order.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/frame_workers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "gst/engine/buffer_ptr.h"

namespace cudatransform {

int picture_threads(GstPad* sink, guint wanted) {
  if (wanted > 0) return static_cast<int>(wanted);
  const QueryPtr query(gst_query_new_latency());
  gboolean live = FALSE;
  if (gst_pad_peer_query(sink, query.get()))
    gst_query_parse_latency(query.get(), &live, nullptr, nullptr);
  return live ? 1 : static_cast<int>(g_get_num_processors());
}

bool FrameWorkers::start(int threads, int max_jobs) {
  stop();
  is_started_ = true;
  threads_ = threads;
  max_jobs_ = max_jobs;
  if (threads == 1) return true;
  // Exclusive threads: a picture must not wait for other users of GLib's shared ones.
  pool_ = g_thread_pool_new(
      [](gpointer item, gpointer self) {
        const std::unique_ptr<std::shared_ptr<Parts>> parts(
            static_cast<std::shared_ptr<Parts>*>(item));
        static_cast<FrameWorkers*>(self)->run(**parts);
      },
      this, threads, TRUE, nullptr);
  // GLib creates the pool even if it cannot start a thread: then no thread would run a job.
  if (pool_ && g_thread_pool_get_num_threads(pool_) > 0) return true;
  if (pool_) g_thread_pool_free(pool_, TRUE, FALSE);
  pool_ = nullptr;
  threads_ = max_jobs_ = 1;
  return false;
}

void FrameWorkers::stop() {
  while (drop()) {
  }
  if (pool_) g_thread_pool_free(pool_, FALSE, TRUE);
  pool_ = nullptr;
  is_started_ = false;
}

void FrameJob::note_time() {
  took_ = static_cast<GstClockTime>(g_get_monotonic_time() - submitted_) * GST_USECOND;
}

void FrameWorkers::run(Parts& parts) {
  for (int part = parts.next++; part < parts.count; part = parts.next++) {
    parts.job->run_part(part);
    if (--parts.left > 0) continue;
    parts.job->finish_parts();
    std::lock_guard lock(lock_);
    parts.job->done_ = true;
    parts.job->note_time();
    if (parts.job != jobs_.front().get()) continue;
    finished_.notify_one();
    wake_push_thread();
  }
}

void FrameWorkers::submit(std::unique_ptr<FrameJob> job) {
  FrameJob* raw = job.get();
  raw->submitted_ = g_get_monotonic_time();
  raw->took_ = 0;
  {
    std::lock_guard lock(lock_);
    raw->done_ = false;  // it may have been used before
    jobs_.push_back(std::move(job));
    note_move();
  }
  start(raw);
}

void FrameWorkers::start(FrameJob* job) {
  if (job->runs_when_taken()) return;
  const auto parts = std::make_shared<Parts>(job);
  if (pool_ == nullptr || job->is_small()) return run(*parts);
  // Pushing fails only if no new thread can be started; the job is queued for the others anyway.
  for (int i = 0; i < std::min(parts->count, threads_); ++i)
    g_thread_pool_push(pool_, new std::shared_ptr<Parts>(parts), nullptr);
}

bool FrameWorkers::wait_for_thread(const FrameJob& job, bool wait) {
  std::unique_lock lock(lock_);
  if (wait) finished_.wait(lock, [&] { return job.done_; });
  return job.done_;
}

// Whether the oldest job is done.
bool FrameWorkers::finish_first(bool wait) {
  FrameJob& first = *jobs_.front();
  if (first.runs_when_taken()) {
    if (!wait && !first.is_ready()) return false;
    first.run();
    if (first.took_ == 0) first.note_time();
    return true;
  }
  while (wait_for_thread(first, wait)) {
    const FrameJob::Remaining remaining = first.poll(wait);
    if (remaining != FrameJob::Remaining::kRun) return remaining == FrameJob::Remaining::kNothing;
    {
      std::lock_guard lock(lock_);
      first.done_ = false;
    }
    start(&first);
  }
  return false;
}

std::unique_ptr<FrameJob> FrameWorkers::pop() {
  std::unique_ptr<FrameJob> job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

std::unique_ptr<FrameJob> FrameWorkers::take(bool wait) {
  if (jobs_.empty()) return nullptr;
  {
    std::lock_guard lock(lock_);
    is_taking_ = true;
  }
  const bool is_finished = finish_first(wait);
  std::lock_guard lock(lock_);
  is_taking_ = false;
  std::unique_ptr<FrameJob> job = is_finished ? pop() : nullptr;
  note_move();
  return job;
}

std::unique_ptr<FrameJob> FrameWorkers::drop() {
  if (jobs_.empty()) return nullptr;
  if (!jobs_.front()->runs_when_taken()) wait_for_thread(*jobs_.front(), true);
  std::lock_guard lock(lock_);
  return pop();
}

// ---- The second thread ----

// The oldest job if only a device remains to wait for; with lock_.
FrameJob* FrameWorkers::started_first() const {
  if (jobs_.empty() || is_taking_) return nullptr;
  FrameJob* const first = jobs_.front().get();
  return first->done_ || first->runs_when_taken() ? first : nullptr;
}

bool FrameWorkers::await_oldest() {
  std::unique_lock lock(lock_);
  push_thread_ = g_thread_self();
  const FrameJob* on_device = nullptr;
  gint64 since = 0;  // when it was first seen on the device
  is_overdue_ = false;
  while (!is_interrupted_) {
    FrameJob* const first = started_first();
    const gint64 grace = moved_ + kGrace - g_get_monotonic_time();
    if (grace > 0) {
      nap(lock, grace);  // even without a job: small pictures would wake this thread one by one
    } else if (first == nullptr && !is_watched_) {
      push_wakeup_.wait(lock);
    } else if (first != nullptr && first->is_ready()) {
      if (first == on_device) first->note_time();
      return true;
    } else {
      const gint64 now = g_get_monotonic_time();
      if (std::exchange(on_device, first) != first) since = now;
      is_overdue_ = first != nullptr && now - since > kOverdue;
      if (is_overdue_) return true;
      const bool is_alone = jobs_.size() == 1 && !is_watched_;
      nap(lock, is_alone && now - since < kSoon ? kNapAlone : kNap);
      if (is_watched_ && !is_taking_ && moved_ + kGrace <= g_get_monotonic_time())
        return !is_interrupted_;
    }
  }
  return false;
}

void FrameWorkers::nap(std::unique_lock<std::mutex>& lock, gint64 microseconds) {
  is_napping_ = true;
  push_wakeup_.wait_for(lock, std::chrono::microseconds(microseconds));
  is_napping_ = false;
}

// With lock_.
void FrameWorkers::note_move() {
  if (push_thread_ == nullptr) return;  // no thread has waited there yet
  if (g_thread_self() != push_thread_) moved_ = g_get_monotonic_time();
  if (started_first() != nullptr) wake_push_thread();
}

void FrameWorkers::wake_push_thread() {
  if (!is_napping_) push_wakeup_.notify_one();
}

void FrameWorkers::set(bool FrameWorkers::*flag, bool value) {
  std::lock_guard lock(lock_);
  if (std::exchange(this->*flag, value) != value) push_wakeup_.notify_one();
}

}  // namespace cudatransform
