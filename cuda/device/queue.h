// A CUDA stream as a Queue, on which a transform enqueues its kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "cuda/device/context.h"
#include "transform/device/device.h"

namespace cudatransform::cuda {

// The progress of a stream's work, as known from its fences. They are numbered as they are
// recorded, and done in that order: one query of the driver, which takes a microsecond, resolves
// many. It resolves those of other streams, too: work that this one has waited for was done before.
// Thread safe, except for the numbers' order, which is that of the events' only because one thread
// at a time records in a queue.
class Progress {
 public:
  uint64_t next_number() { return ++recorded_; }
  uint64_t recorded() const { return recorded_; }

  bool is_done(uint64_t number) const { return number <= done_; }
  void note_done(uint64_t number);
  // Fences that are recorded from now on come after fence `number` of `other`.
  void follow(const std::shared_ptr<Progress>& other, uint64_t number);
  // Whether this fence, or one before it, has not been polled in the last 20 us.
  bool may_poll(uint64_t number);

  // How long the next thread should spin. A thread that sleeps returns some 70 us late, so it
  // sleeps at once only if recent waits were long.
  int64_t spin_ns() const { return sleeps_left_ > 0 ? 0 : Wait::kLong; }
  void note_wait(int64_t ns) {
    if (ns > Wait::kLong)
      sleeps_left_ = kSleeps;
    else if (sleeps_left_ > 0)
      --sleeps_left_;  // two concurrent threads may count too far, below 0
  }

 private:
  static constexpr int64_t kPollInterval = 20'000;  // ns
  static constexpr int kSleeps = 16;                // short ones until a thread spins again
  // More than are ever in flight. Beyond that the oldest are forgotten, and the driver has to be
  // polled for them.
  static constexpr size_t kMaxFollowed = 64;
  struct Followed {
    std::weak_ptr<Progress> other;  // streams may wait for each other
    uint64_t number;
    uint64_t until;  // the first fence here that comes after it
  };

  std::atomic<uint64_t> recorded_ = 0, done_ = 0, polled_number_ = 0;
  std::atomic<int64_t> polled_at_ = 0;
  std::atomic<int> sleeps_left_ = 0;
  std::mutex mutex_;  // guards followed_
  std::deque<Followed> followed_;
};

class StreamQueue final : public Queue {
 public:
  StreamQueue(std::shared_ptr<Context> context, CUstream stream);
  ~StreamQueue() override;  // waits for the stream's work; keeps the stream if that is stuck

  Status wait_for(const FencePtr& fence) override;
  Status wait_for_stream(void* native_stream) override;
  Status record(FencePtr* fence) override;
  void* native() override { return stream_; }

  // Device memory for intermediates, at least `bytes`, the same from call to call. Its users are
  // ordered by the stream. A call for more replaces it: earlier addresses and contents are lost.
  // Growing waits for the stream's work, which is rare: sizes change seldom.
  Status scratch(size_t bytes, CUdeviceptr* address);
  // At most 4096 bytes of device memory that were zero when first returned, the same from call to
  // call. The user must reset them to zero.
  Status zeroed(size_t bytes, CUdeviceptr* address);
  // Without allocating or locking anything once the kernel has been used. A kernel that
  // `waits_itself` for its predecessor in the stream may be launched while that still runs, where
  // the device can do so. `jobs`: the grid's other side (cuda/common/batch.h). `shared`: bytes of
  // dynamic shared memory, at most Context::max_shared().
  Status launch(KernelKey key, unsigned blocks, unsigned threads, void** arguments,
                bool waits_itself, unsigned jobs = 1, unsigned shared = 0);
  // The same of a kernel whose one parameter is a struct.
  template <typename Params>
  Status launch(KernelKey key, unsigned blocks, unsigned threads, Params& params, bool waits_itself,
                unsigned jobs = 1, unsigned shared = 0) {
    static_assert(std::is_class_v<Params>);
    void* arguments[] = {&params};
    return launch(key, blocks, threads, arguments, waits_itself, jobs, shared);
  }
  // Whether launches may overlap in this way, as they do by default: benchmarks compare the two.
  void allow_overlap(bool allowed) { may_overlap_ = allowed; }
  // An object that a transform keeps with the queue from job to job: one of each type, made when it
  // is first requested.
  struct Kept {
    virtual ~Kept() = default;
  };
  template <typename T>
  T& kept() {
    const size_t index = kept_index<T>;
    if (index >= kept_.size()) kept_.resize(index + 1);
    if (kept_[index] == nullptr) kept_[index] = std::make_unique<T>();
    return static_cast<T&>(*kept_[index]);
  }
  // Finds a kernel, without launching it.
  Status load(KernelKey key);
  Status clear(CUdeviceptr address, size_t bytes);
  // `source` is pinned, so the driver need not check whether it is. It must stay until the copy
  // is done.
  Status send(CUdeviceptr destination, const void* source, size_t bytes);
  // `destination` is pinned.
  Status read_back(void* destination, CUdeviceptr source, size_t bytes);
  // Waits for the stream's work. `spin_ns` as of Wait.
  Status synchronize(int64_t spin_ns);
  Status synchronize() { return synchronize(progress_->spin_ns()); }
  Context& context() { return *context_; }

 private:
  struct Grid {
    unsigned blocks, jobs, threads, shared;
  };
  CUresult launch(CUfunction function, const Grid& grid, void** arguments, bool waits_itself);
  Status try_record(FencePtr* fence);

  // Types of kept objects, numbered in the order in which the process first used them.
  static inline std::atomic<size_t> kept_types_ = 0;
  template <typename T>
  static inline const size_t kept_index = kept_types_++;

  std::shared_ptr<Context> context_;
  CUstream stream_;
  std::shared_ptr<Progress> progress_;
  bool may_overlap_ = true;
  std::vector<CUfunction> large_;  // that may have more shared memory than others
  CUdeviceptr scratch_ = 0;
  size_t scratch_bytes_ = 0;
  CUdeviceptr zeroed_ = 0;
  std::vector<std::unique_ptr<Kept>> kept_;  // by kept_index
};

// Refuses the queue of a job, `stream`, where it is none of a CUDA device.
Status check_queue(Device& device, const StreamQueue* stream);

// Whether `image` has `kernel` for the device: an engine checks before its first job.
Status probe_kernel(Device& device, KernelKey key);

}  // namespace cudatransform::cuda
