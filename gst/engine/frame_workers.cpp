// Threads that work on several pictures at once, whose results are taken in order.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/frame_workers.h"

#include <algorithm>

namespace cudatransform {

int picture_threads(GstPad* sink, guint wanted) {
  if (wanted > 0) return static_cast<int>(wanted);
  GstQuery* query = gst_query_new_latency();
  gboolean live = FALSE;
  if (gst_pad_peer_query(sink, query)) gst_query_parse_latency(query, &live, nullptr, nullptr);
  gst_query_unref(query);
  return live ? 1 : static_cast<int>(g_get_num_processors());
}

bool FrameWorkers::start(int threads, int most) {
  stop();
  threads_ = threads;
  most_ = most;
  if (threads == 1) return true;
  // Exclusive threads: a picture must not wait for other users of GLib's shared ones.
  pool_ = g_thread_pool_new(
      [](gpointer item, gpointer self) {
        const std::unique_ptr<std::shared_ptr<Parts>> parts(
            static_cast<std::shared_ptr<Parts>*>(item));
        static_cast<FrameWorkers*>(self)->run(**parts);
      },
      this, threads, TRUE, nullptr);
  // The pool is there even if none of its threads could be made: then nobody would take a job.
  if (pool_ && g_thread_pool_get_num_threads(pool_) > 0) return true;
  if (pool_) g_thread_pool_free(pool_, TRUE, FALSE);
  pool_ = nullptr;
  threads_ = most_ = 1;
  return false;
}

void FrameWorkers::stop() {
  while (drop()) {
  }
  if (pool_) g_thread_pool_free(pool_, FALSE, TRUE);
  pool_ = nullptr;
}

void FrameWorkers::run(Parts& parts) {
  for (int part = parts.next++; part < parts.count; part = parts.next++) {
    parts.job->run_part(part);
    if (--parts.left > 0) continue;
    parts.job->finish_parts();
    std::lock_guard lock(lock_);
    parts.job->done_ = true;
    finished_.notify_one();
  }
}

void FrameWorkers::submit(std::unique_ptr<FrameJob> job) {
  FrameJob* raw = job.get();
  jobs_.push_back(std::move(job));
  start(raw);
}

void FrameWorkers::start(FrameJob* job) {
  job->done_ = false;  // it may have been used before
  if (job->runs_when_taken()) return;
  const auto parts = std::make_shared<Parts>(job);
  if (pool_ == nullptr) return run(*parts);
  // Pushing fails only where a new thread cannot be made; the job is queued for the others anyway.
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
    return true;
  }
  while (wait_for_thread(first, wait)) {
    const FrameJob::Left left = first.look(wait);
    if (left != FrameJob::Left::kRun) return left == FrameJob::Left::kNothing;
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
  if (jobs_.empty() || !finish_first(wait)) return nullptr;
  return pop();
}

std::unique_ptr<FrameJob> FrameWorkers::drop() {
  if (jobs_.empty()) return nullptr;
  if (!jobs_.front()->runs_when_taken()) wait_for_thread(*jobs_.front(), true);
  return pop();
}

}  // namespace cudatransform
