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

// What is done for one picture. The owner derives from it and finds its results there.
class FrameJob {
 public:
  virtual ~FrameJob() = default;
  // On any thread; touches nothing that another job uses.
  virtual void run() = 0;
  // Of a job that others wait for, more than one, and run_part() of each instead of run(): threads
  // do them at the same time. Then whoever has done the last calls finish_parts().
  virtual int parts() const { return 1; }
  virtual void run_part(int) { run(); }
  virtual void finish_parts() {}
  // Whether there is little for run() to do but to wait for a device. Then no thread does, but
  // whoever takes the job: when is_ready(), or when it has to be waited for.
  virtual bool runs_when_taken() const { return false; }
  virtual bool is_ready() { return true; }
  // What is left of a job that a thread is through with: a device's work, which whoever takes the
  // job waits for, or looks at where it does not `wait`; or another run(), by a thread again.
  enum class Left { kNothing, kWork, kRun };
  virtual Left look(bool /*wait*/) { return Left::kNothing; }

 private:
  friend class FrameWorkers;
  bool done_ = false;
};

// How many threads an element works with whose property n-threads is `wanted`: with 0, one per
// core, but one behind a live source, which more of them would delay. Asks the peer of `sink`.
int picture_threads(GstPad* sink, guint wanted);

// Used by one thread at a time (a streaming thread), which never sees more than most() jobs in
// flight if it takes one back before it submits the next: that bounds the memory.
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
  // Waits for what is running and drops all jobs.
  void stop();
  int threads() const { return threads_; }
  int most() const { return most_; }

  void submit(std::unique_ptr<FrameJob> job);
  // Gives back the oldest job once it is done: null if there is none or, without `wait`, while it
  // is not.
  std::unique_ptr<FrameJob> take(bool wait);
  // The oldest job when no thread works on it any more, for whoever does not want its results: what
  // runs when it is taken is not run. Null if there is none.
  std::unique_ptr<FrameJob> drop();
  size_t pending() const { return jobs_.size(); }
  bool full() const { return jobs_.size() >= static_cast<size_t>(most_); }

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

  int threads_ = 1, most_ = 1;
  GThreadPool* pool_ = nullptr;
  std::deque<std::unique_ptr<FrameJob>> jobs_;
  std::mutex lock_;  // guards done_ of the jobs
  std::condition_variable finished_;
};

}  // namespace cudatransform
