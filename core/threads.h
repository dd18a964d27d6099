// Worker threads of an engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

// GCC 12's libstdc++ has a second version of this function, which does the same. With the first one
// the library also runs with GCC 11's, that of Ubuntu 22.04 and RHEL 9.
#if defined(__GLIBCXX__) && (defined(__x86_64__) || defined(__aarch64__))
#define CT_WAIT "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
__asm__(".symver " CT_WAIT ", " CT_WAIT "@GLIBCXX_3.4.11");
#undef CT_WAIT
#endif

namespace cudatransform::core {

// Waits for a number of steps. Shared by those who take them and the one who waits.
class Latch {
 public:
  explicit Latch(size_t steps) : left_(steps) {}
  void add() {
    const std::lock_guard lock(mutex_);
    ++left_;
  }
  void step() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) done_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  size_t left_;
};

// Takes loops one after the other; the iterations of a loop run on all threads. Unlike oneTBB's
// threads, they can be recreated after a fork.
class Threads {
 public:
  explicit Threads(int count);
  // Waits for the iterations under way. Loops that have not begun are dropped.
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return count_; }
  // Calls work(i) for each i below `count`, then done(), on the threads. Returns immediately, or,
  // where the process may have no threads, when all is done.
  void run(size_t count, std::function<void(size_t)> work, std::function<void()> done);
  // The same, and waits. The caller's thread works, too: loops before this one do not delay it.
  void run_here(size_t count, const std::function<void(size_t)>& work);

 private:
  struct Loop {
    size_t count;
    std::function<void(size_t)> work;
    std::function<void()> done;
    std::atomic<size_t> next{0}, left;
  };
  std::shared_ptr<Loop> begin(size_t count, std::function<void(size_t)> work,
                              std::function<void()> done);
  bool start_threads();
  static void iterate(Loop& loop);
  void work();
  std::shared_ptr<Loop> wait_for_loop();

  const int count_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Loop>> loops_;
  bool ends_ = false;
  std::vector<std::thread> threads_;  // started with the first loop
};

}  // namespace cudatransform::core
