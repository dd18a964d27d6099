// The CPU as a Device: ordinary memory, calls that finish before they return, fences that are done.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/host_device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "transform/device/host_threads.h"
#include "transform/device/simd_targets.h"

namespace cudatransform {

namespace {

constexpr size_t kAlignment = 64;

class HostFence final : public Fence {
 public:
  bool done() override { return true; }
  bool known_done() override { return true; }
  Status wait() override { return {}; }
  Status enqueue_wait(void*) override { return {}; }
};

class HostQueue final : public Queue {
 public:
  explicit HostQueue(FencePtr done) : done_(std::move(done)) {}
  // A fence of another device may still be pending: then the only queue must wait here.
  Status wait_for(const FencePtr& fence) override { return fence ? fence->wait() : Status{}; }
  Status wait_for_stream(void*) override { return {}; }
  Status record(FencePtr* fence) override {
    *fence = done_;
    return {};
  }
  void* native() override { return nullptr; }

 private:
  FencePtr done_;
};

class HostTimer final : public Timer {
 public:
  Status begin(Queue&) override {
    begin_ = Clock::now();
    ended_ = false;
    return {};
  }
  Status end(Queue&) override {
    end_ = Clock::now();
    ended_ = true;
    return {};
  }
  bool read_ns(uint64_t* nanoseconds) override {
    if (!ended_) return false;
    *nanoseconds =
        uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(end_ - begin_).count());
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_, end_;
  bool ended_ = false;
};

class HostMemory final : public Memory {
 public:
  HostMemory(void* data, size_t size) : data_(data), size_(size) {}
  ~HostMemory() override { std::free(data_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* data() const override { return data_; }
  size_t size() const override { return size_; }

 private:
  void* data_;
  size_t size_;
};

Status copy_rows(const Copy2D& copy) {
  if (copy.row_bytes == 0 || copy.rows == 0) return {};
  if (copy.dst == nullptr || copy.src == nullptr) {
    return Status::error(StatusCode::kInvalidArgument, "copy with a null address");
  }
  const auto row_bytes = ptrdiff_t(copy.row_bytes);
  if (row_bytes < 0 || copy.dst_pitch < row_bytes || copy.src_pitch < row_bytes) {
    return Status::error(StatusCode::kInvalidArgument,
                         "pitches " + std::to_string(copy.src_pitch) + " and " +
                             std::to_string(copy.dst_pitch) + ", expected at least " +
                             std::to_string(copy.row_bytes));
  }
  auto* dst = static_cast<uint8_t*>(copy.dst);
  const auto* src = static_cast<const uint8_t*>(copy.src);
  for (size_t row = 0; row < copy.rows; ++row) {
    std::memcpy(dst + ptrdiff_t(row) * copy.dst_pitch, src + ptrdiff_t(row) * copy.src_pitch,
                copy.row_bytes);
  }
  return {};
}

class HostDevice final : public Device {
 public:
  explicit HostDevice(int threads) : threads_(threads), queue_(std::make_shared<HostFence>()) {
    const int count = threads_.count();
    std::string simd = host_simd_targets().front().first;
    if (simd.rfind("AVX3", 0) == 0) simd = "AVX-512";  // Highway's name is little known
    name_ = "CPU (" + simd + ", " + std::to_string(count) + (count == 1 ? " thread)" : " threads)");
  }

  bool is_host() const override { return true; }
  const char* name() const override { return name_.c_str(); }
  Queue& queue(QueueKind) override { return queue_; }

  Status allocate(MemoryKind, size_t bytes, std::unique_ptr<Memory>* memory) override {
    return allocate_host_memory(bytes, memory);
  }

  std::unique_ptr<Timer> make_timer() override { return std::make_unique<HostTimer>(); }
  Status upload(Queue&, const Copy2D& copy) override { return copy_rows(copy); }
  Status download(Queue&, const Copy2D& copy) override { return copy_rows(copy); }
  Status copy(Queue&, const Copy2D& copy) override { return copy_rows(copy); }

  HostThreads& threads() { return threads_; }

 private:
  HostThreads threads_;
  HostQueue queue_;
  std::string name_;
};

}  // namespace

Status allocate_host_memory(size_t bytes, std::unique_ptr<Memory>* memory) {
  void* data = nullptr;
  if (bytes <= SIZE_MAX - kAlignment) {
    // aligned_alloc requires a multiple of the alignment.
    const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1);
    data = std::aligned_alloc(kAlignment, rounded);
  }
  if (data == nullptr) {
    return Status::error(StatusCode::kOutOfMemory,
                         "no host memory for " + std::to_string(bytes) + " bytes");
  }
  *memory = std::make_unique<HostMemory>(data, bytes);
  return {};
}

std::unique_ptr<Device> make_host_device(int threads) {
  try {
    return std::make_unique<HostDevice>(threads);
  } catch (const std::exception&) {  // no memory for the threads
    return nullptr;
  }
}

HostThreads* host_threads(Device& device) {
  auto* host = dynamic_cast<HostDevice*>(&device);
  return host != nullptr ? &host->threads() : nullptr;
}

}  // namespace cudatransform
