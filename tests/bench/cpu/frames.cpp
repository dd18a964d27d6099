// Makes the frames of the CPU benchmark, and the threads of jobs on them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu/frames.h"

#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>
#include <tbb/task_scheduler_observer.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/bench/common.h"
#include "transform/device/host_device.h"
#include "transform/device/host_threads.h"
#include "transform/device/simd_targets.h"

namespace cudatransform::bench {

size_t frames_beyond_caches(size_t bytes) {
  const long reported = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const size_t cache = reported > 0 ? size_t(reported) : size_t{32} << 20;
  return 2 + 4 * cache / bytes;
}

Frames::Frames(const test::KernelJob& job, const FrameSize& size) {
  const std::vector<uint8_t> input = job.input();
  frames_.resize(size.resident ? 1 : frames_beyond_caches(job.in_size + job.out_size));
  for (Frame& frame : frames_) {
    frame = {allocate<uint8_t>(job.in_size), allocate<uint8_t>(job.out_size),
             allocate<uint8_t>(std::max(job.in_size, job.out_size))};
    std::copy(input.begin(), input.end(), frame.in.get());
  }
}

namespace {

// Pins each thread of an arena to its own processor: jobs of a millisecond end before some
// schedulers, especially those of virtual machines, spread them.
class Pinned final : public tbb::task_scheduler_observer {
 public:
  explicit Pinned(tbb::task_arena& arena) : task_scheduler_observer(arena) {
    CPU_ZERO(&allowed_);
    sched_getaffinity(0, sizeof allowed_, &allowed_);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed_)) processors_.push_back(cpu);
    }
    observe(true);
  }
  void on_scheduler_entry(bool) override {
    const auto slot = size_t(tbb::this_task_arena::current_thread_index());
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors_[slot % processors_.size()], &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
  }
  void on_scheduler_exit(bool) override {
    pthread_setaffinity_np(pthread_self(), sizeof allowed_, &allowed_);
  }

 private:
  cpu_set_t allowed_;
  std::vector<int> processors_;
};

}  // namespace

Device& device(Threads threads) {
  static const std::unique_ptr<Device> one = make_host_device(1), all = make_host_device(0);
  static const Pinned pinned(host_threads(*all)->arena());
  return threads == Threads::kOne ? *one : *all;
}

int thread_count(Threads threads) { return host_threads(device(threads))->count(); }

void describe_cpu() {
  benchmark::AddCustomContext("cpu", cpu_model());
  benchmark::AddCustomContext("cores", std::to_string(thread_count(Threads::kAll)));
#ifdef __clang__
  benchmark::AddCustomContext("compiler", "clang " __clang_version__);
#else
  benchmark::AddCustomContext("compiler", "gcc " __VERSION__);
#endif
  benchmark::AddCustomContext("highway_target", host_simd_targets().front().first);
}

void for_block_rows(Threads threads, int rows, const std::function<void(int by)>& body) {
  if (threads == Threads::kOne) {
    for (int by = 0; by < rows; ++by) body(by);
    return;
  }
  host_threads(device(threads))->for_each(rows, body);
}

}  // namespace cudatransform::bench
