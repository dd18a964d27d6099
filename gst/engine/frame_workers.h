// Threads that work on several pictures in parallel; their results are taken in order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace cudatransform {

// The work for one picture. The owner derives from it and keeps its results there.
class FrameJob {
 public:
  virtual ~FrameJob() = default;
  // Runs on any thread; touches nothing that another job uses. The work of a job that does not
  // define run_part(), or that runs when it is taken.
  virtual void run() {}
  // More than one for a job that other jobs wait for: threads then call run_part() of each at the
  // same time, instead of run(). The thread that has done the last part calls finish_parts().
  virtual int parts() const { return 1; }
  virtual void run_part(int) { run(); }
  virtual void finish_parts() {}
  // Whether run() takes no longer than waking a thread: then submit() calls it.
  virtual bool is_small() const { return false; }
  // Whether run() does little besides waiting for a device. Then take() calls it instead of a
  // thread: when is_ready(), or when it has to wait.
  virtual bool runs_when_taken() const { return false; }
  // Whether take() need not wait for a device, once no thread works on the job any more. Never
  // blocks.
  virtual bool is_ready() { return true; }
  // The work that remains when a thread is done with a job: a device's work, which take() waits for
  // or, without `wait`, polls; or another run() by a thread.
  enum class Remaining { kNothing, kWork, kRun };
  virtual Remaining poll(bool /*wait*/) { return Remaining::kNothing; }
  // The time from submit() until a thread or a device was done, as far as the device was polled.
  GstClockTime took() const { return took_; }

 private:
  friend class FrameWorkers;
  friend class OrderedPictures;
  void note_time();

  guint64 bytes_ = 0;  // of memory, counted by OrderedPictures
  bool done_ = false;
  gint64 submitted_ = 0;  // by g_get_monotonic_time()
  GstClockTime took_ = 0;
};

// The number of threads for an element whose property n-threads is `wanted`. 0 means one per core,
// but one after a live source, which more would delay. Queries the peer of `sink`.
int picture_threads(GstPad* sink, guint wanted);

// Used by one thread at a time, which holds the lock of the stream, except where documented. At
// most max_jobs() jobs are in flight if the user takes one back before submitting the next: that
// bounds the memory.
class FrameWorkers {
 public:
  FrameWorkers() = default;
  ~FrameWorkers() { stop(); }
  FrameWorkers(const FrameWorkers&) = delete;
  FrameWorkers& operator=(const FrameWorkers&) = delete;

  // With one thread, submit() does the work itself: no thread is started, nothing is delayed. False
  // if the threads cannot be made. `max_jobs`: the maximum number of jobs in flight, at least one
  // per thread; more keep threads busy while the user waits for an expensive job.
  bool start(int threads) { return start(threads, threads); }
  bool start(int threads, int max_jobs);
  // Waits for running jobs and drops all.
  void stop();
  bool is_started() const { return is_started_; }
  int threads() const { return threads_; }
  int max_jobs() const { return max_jobs_; }

  void submit(std::unique_ptr<FrameJob> job);
  // Returns the oldest job once it is done. Null if there is no job or, without `wait`, if it is
  // not done.
  std::unique_ptr<FrameJob> take(bool wait);
  // The oldest job once no thread works on it any more, for a caller that discards its results: a
  // job that runs when it is taken is not run. Null if there is none.
  std::unique_ptr<FrameJob> drop();
  size_t pending() const { return jobs_.size(); }
  bool full() const { return jobs_.size() >= static_cast<size_t>(max_jobs_); }

  // Called by a second thread. Waits until the oldest job can be taken without waiting, and until
  // no other thread has submitted or taken one for kGrace, to stay out of their way. Another thread
  // may still take the job. With watch(true) it also returns now and then, for its caller's other
  // work. False: after interrupt(true).
  bool await_oldest();
  // Called after it, on that thread: the device has had the oldest job for so long that it may have
  // failed. Only a take() that waits finds that out.
  bool is_overdue() const { return is_overdue_; }
  // Any thread.
  void watch(bool watched) { set(&FrameWorkers::is_watched_, watched); }
  void interrupt(bool interrupted) { set(&FrameWorkers::is_interrupted_, interrupted); }

 private:
  // The state of a job that threads share. Threads that come when all parts are taken may touch
  // only this: the job may have been freed.
  struct Parts {
    explicit Parts(FrameJob* job) : job(job), count(job->parts()), left(count) {}
    FrameJob* const job;
    const int count;
    std::atomic<int> next = 0, left;
  };
  void run(Parts& parts);
  void start(FrameJob* job);
  bool finish_first(bool wait);
  bool wait_for_thread(const FrameJob& job, bool wait);
  std::unique_ptr<FrameJob> pop();
  void set(bool FrameWorkers::*flag, bool value);
  FrameJob* started_first() const;
  void note_move();
  void wake_push_thread();
  void nap(std::unique_lock<std::mutex>& lock, gint64 microseconds);

  // Microseconds. kNap is the minimum time between two polls of the device: each takes the
  // driver's lock, which submitting threads need as well. With a single job none of ours submits,
  // so for its first kSoon it is polled after kNapAlone; then its work is long, and other elements
  // have their own to submit.
  static constexpr gint64 kGrace = 500, kNap = 200, kNapAlone = 30, kSoon = 4000,
                          kOverdue = G_USEC_PER_SEC;

  bool is_started_ = false;
  int threads_ = 1, max_jobs_ = 1;
  GThreadPool* pool_ = nullptr;
  // Changed with both locks: the stream's and lock_.
  std::deque<std::unique_ptr<FrameJob>> jobs_;
  std::mutex lock_;         // guards the members below, and done_ of the jobs
  bool is_taking_ = false;  // take() is working on the oldest job
  std::condition_variable finished_;
  // State of await_oldest().
  gint64 moved_ = 0;                      // when others last submitted or took a job
  const GThread* push_thread_ = nullptr;  // only compared
  bool is_watched_ = false, is_interrupted_ = false;
  bool is_napping_ = false;  // need not be woken
  bool is_overdue_ = false;  // as seen by the second thread
  std::condition_variable push_wakeup_;
};

}  // namespace cudatransform
