// Threads that work on several pictures at once, whose results are taken in order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace cudatransform {

// The work for one picture. The owner derives from it and finds its results there.
class FrameJob {
 public:
  virtual ~FrameJob() = default;
  // On any thread; touches nothing that another job uses.
  virtual void run() = 0;
  // Of a job that others wait for, more than one, and run_part() of each instead of run(): threads
  // do them at the same time. The thread that has done the last calls finish_parts().
  virtual int parts() const { return 1; }
  virtual void run_part(int) { run(); }
  virtual void finish_parts() {}
  // Whether that takes no longer than to wake a thread for it: then submit() does it.
  virtual bool is_small() const { return false; }
  // Whether run() does little besides waiting for a device. Then take() calls it, and no thread:
  // when is_ready(), or when it has to be waited for.
  virtual bool runs_when_taken() const { return false; }
  // Whether take() has no device to wait for, when no thread works on the job any more. Never
  // blocks.
  virtual bool is_ready() { return true; }
  // What is left of a job that a thread is through with: a device's work, which take() waits for
  // or, without `wait`, looks at; or another run(), by a thread again.
  enum class Left { kNothing, kWork, kRun };
  virtual Left look(bool /*wait*/) { return Left::kNothing; }
  // From submit() until it was done: by a thread, or by a device as far as it has been asked.
  GstClockTime took() const { return took_; }

 private:
  friend class FrameWorkers;
  void note_time();

  bool done_ = false;
  gint64 submitted_ = 0;  // by g_get_monotonic_time()
  GstClockTime took_ = 0;
};

// How many threads an element works with whose property n-threads is `wanted`: with 0, one per
// core, but one behind a live source, which more of them would delay. Asks the peer of `sink`.
int picture_threads(GstPad* sink, guint wanted);

// Used by one thread at a time, the one that holds the lock of the stream, except where a function
// says otherwise. There are never more than most() jobs in flight if one is taken back before the
// next is submitted: that bounds the memory.
class FrameWorkers {
 public:
  FrameWorkers() = default;
  ~FrameWorkers() { stop(); }
  FrameWorkers(const FrameWorkers&) = delete;
  FrameWorkers& operator=(const FrameWorkers&) = delete;

  // With one thread, submit() does the work itself: no thread is made, nothing is delayed. False if
  // the threads cannot be made. `most`: jobs in flight, as many as there are threads or more, so
  // that none is idle while an expensive one is waited for.
  bool start(int threads) { return start(threads, threads); }
  bool start(int threads, int most);
  // Waits for running jobs and drops all.
  void stop();
  int threads() const { return threads_; }
  int most() const { return most_; }

  void submit(std::unique_ptr<FrameJob> job);
  // Gives back the oldest job once it is done: null if there is none or, without `wait`, while it
  // is not.
  std::unique_ptr<FrameJob> take(bool wait);
  // The oldest job when no thread works on it any more, for a caller that does not want its
  // results: a job that runs when it is taken is not run. Null if there is none.
  std::unique_ptr<FrameJob> drop();
  size_t pending() const { return jobs_.size(); }
  bool full() const { return jobs_.size() >= static_cast<size_t>(most_); }

  // A thread beside that one: waits until the oldest job can be taken without waiting, and until no
  // other thread has submitted or taken one for kGrace, so that it stays out of their way. Another
  // thread may take the job all the same. With watch(true) it also returns now and then, for what
  // its caller looks at besides. False: after interrupt(true).
  bool await_oldest();
  // Behind it, on that thread: the device has had the oldest job for so long that it may have
  // failed, which only a take() that waits finds out.
  bool is_overdue() const { return is_overdue_; }
  // Any thread.
  void watch(bool watched) { set(&FrameWorkers::is_watched_, watched); }
  void interrupt(bool interrupted) { set(&FrameWorkers::is_interrupted_, interrupted); }

 private:
  // What threads share of a job. Those that come when all parts are taken find nothing else: the
  // job may be gone.
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
  void wake_beside();
  void nap(std::unique_lock<std::mutex>& lock, gint64 microseconds);

  // Microseconds. The device is asked no oftener than kNap: that takes the driver's lock, which
  // submitting threads need as well.
  static constexpr gint64 kGrace = 500, kNap = 200, kOverdue = G_USEC_PER_SEC;

  int threads_ = 1, most_ = 1;
  GThreadPool* pool_ = nullptr;
  // Changed with the lock of the stream and lock_.
  std::deque<std::unique_ptr<FrameJob>> jobs_;
  std::mutex lock_;         // guards what is below, and done_ of the jobs
  bool is_taking_ = false;  // take() has the oldest job in work
  std::condition_variable finished_;
  // Of await_oldest().
  gint64 moved_ = 0;                        // when others last submitted or took a job
  const GThread* beside_thread_ = nullptr;  // only compared
  bool is_watched_ = false, is_interrupted_ = false;
  bool is_napping_ = false;  // need not be woken
  bool is_overdue_ = false;  // of the thread beside
  std::condition_variable beside_;
};

}  // namespace cudatransform
