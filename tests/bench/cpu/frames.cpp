// Makes the frames of the CPU benchmark, and submits jobs on them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu/frames.h"

#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>
#include <tbb/task_scheduler_observer.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/common.h"
#include "tests/engine/kernel_jobs.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/host_device.h"
#include "transform/device/host_threads.h"
#include "transform/device/simd_targets.h"

namespace cudatransform::bench {

size_t frames_beyond_caches(size_t bytes) {
  const long reported = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const size_t cache = reported > 0 ? size_t(reported) : size_t{32} << 20;
  return 2 + 4 * cache / bytes;
}

const QuantTable& quality85() {
  static const QuantTable table = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 85);
  return table;
}

Frames::Frames(const FrameSize& size, const uint8_t* permutation) : size_(size) {
  const std::vector<uint8_t> picture = test::tiled_picture(size.width, size.height);
  const size_t count = size.resident ? 1 : frames_beyond_caches(3 * size.samples());
  for (size_t i = 0; i < count; ++i) {
    Frame frame;
    frame.source = allocate<uint8_t>(size.samples());
    frame.coefs = allocate<int16_t>(size.samples());
    frame.decoded = allocate<uint8_t>(size.samples());
    std::copy(picture.begin(), picture.end(), frame.source.get());
    run_portable(size, Method::kIslow, Direction::kForward, frame);
    frame.levels = allocate<int16_t>(size.samples());
    std::copy_n(frame.coefs.get(), size.samples(), frame.levels.get());
    if (permutation != nullptr) {
      frame.permuted = allocate<int16_t>(size.samples());
      for (size_t k = 0; k < size.samples(); ++k) {
        frame.permuted[k / 64 * 64 + permutation[k % 64]] = frame.levels[k];
      }
    }
    frames_.push_back(std::move(frame));
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

void run_engine(const Dct8x8Ops& ops, Threads threads, const FrameSize& size, Method method,
                Direction direction, Frame& frame) {
  Dct8x8Job job;
  job.direction = direction;
  job.method = method;
  job.components = 1;
  job.tables[0] = quality85();
  const bool forward = direction == Direction::kForward;
  job.samples[0].data = (forward ? frame.source : frame.decoded).get();
  job.samples[0].pitch = size.width;
  job.samples[0].width = size.width;
  job.samples[0].height = size.height;
  job.coefs[0].data = (forward ? frame.coefs : frame.levels).get();
  job.coefs[0].pitch = ptrdiff_t{128} * size.blocks_w();
  job.coefs[0].blocks_w = size.blocks_w();
  job.coefs[0].blocks_h = size.blocks_h();
  Device& host = device(threads);
  FencePtr fence;
  Status status = ops.submit(host, host.queue(QueueKind::kCompute), job, &fence);
  if (status.ok()) status = fence->wait();
  if (!status.ok()) throw std::runtime_error(status.message);
}

void run_portable(const FrameSize& size, Method method, Direction direction, Frame& frame) {
  run_engine(portable_dct8x8_ops(), Threads::kOne, size, method, direction, frame);
}

}  // namespace cudatransform::bench
