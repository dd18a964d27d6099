// The device that an engine runs on. It owns memory, three queues, fences and timers, and does not
// depend on the transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The host device (host_device.h) executes every call before it returns; the CUDA device
// (cuda/device/cuda_device.h) enqueues it. Code that is the same for both is correct on both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transform/device/status.h"

namespace cudatransform {

// A point in a queue's work. Thread safe, and may outlive its Device.
class Fence {
 public:
  virtual ~Fence() = default;
  // True once all work before the fence has finished (also when it failed). Never blocks, and does
  // not poll the device at every call: it may be 20 us late.
  virtual bool done() = 0;
  // Whether the fence is known to be done (also when the work failed), by an earlier question about
  // it or about a later fence of its queue or of one that has waited for it. Costs next to nothing:
  // the device is not polled.
  virtual bool known_done() = 0;
  // Blocks the calling thread until done; reports a failure of the work.
  virtual Status wait() = 0;
  // Makes later work of `native_stream`, a CUstream of any context of the process, start after the
  // fence. The host device's fence is always done and accepts anything.
  virtual Status enqueue_wait(void* native_stream) = 0;
};
using FencePtr = std::shared_ptr<Fence>;

// Whether the first of `count` fences, in the order in which they were made, is done. `at(i)` is
// number i; null is done. Where one in the middle is done, all before it in its queue are: it is
// polled first, so that the device need not be polled for each.
template <typename At>
bool first_is_done(size_t count, At&& at) {
  Fence* first = at(0);
  if (first == nullptr || first->known_done()) return true;
  Fence* middle = count > 2 ? at((count - 1) / 2) : nullptr;
  if (middle != nullptr) (void)middle->done();
  return first->done();
}

// An ordered sequence of work. Used by one thread at a time.
class Queue {
 public:
  virtual ~Queue() = default;
  // Later work of this queue starts after `fence`; null means no condition.
  virtual Status wait_for(const FencePtr& fence) = 0;
  // Later work of this queue starts after all that `native_stream`, a CUstream of the queue's own
  // context, has been given so far. Nothing to wait for on the host.
  virtual Status wait_for_stream(void* native_stream) = 0;
  // Makes a fence that is done when all work enqueued so far is. Where that fails, the call returns
  // when the work is over, because no later call could wait for it.
  virtual Status record(FencePtr* fence) = 0;
  // The CUstream, or null on the host.
  virtual void* native() = 0;
};

// Measures the time between two points of a queue. Reusable: begin, end, read, begin ...
class Timer {
 public:
  virtual ~Timer() = default;
  virtual Status begin(Queue& queue) = 0;
  virtual Status end(Queue& queue) = 0;
  // False while the work between begin and end has not finished. Never blocks.
  virtual bool read_ns(uint64_t* nanoseconds) = 0;
};

enum class MemoryKind {
  kDevice,  // the memory of kernels; on the host device, ordinary memory aligned to 64 bytes
  kPinned,  // host memory that the device copies to and from without staging
};

// A block of memory, freed with the object, which may outlive its Device.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void* data() const = 0;  // a device address for kDevice, else a host address
  virtual size_t size() const = 0;
};

enum class QueueKind { kUpload, kCompute, kDownload };

// A rectangle of `rows` rows of `row_bytes` bytes; pitches in bytes, at least row_bytes.
struct Copy2D {
  void* dst = nullptr;
  ptrdiff_t dst_pitch = 0;
  const void* src = nullptr;
  ptrdiff_t src_pitch = 0;
  size_t row_bytes = 0;
  size_t rows = 0;
  // For copy(): the CUcontext that `src` was allocated in, also on another device; null: the
  // device's own.
  void* src_context = nullptr;
};

// Of bytes without gaps.
inline Copy2D copy_of_bytes(void* dst, const void* src, size_t bytes) {
  Copy2D copy;
  copy.dst = dst;
  copy.src = src;
  copy.dst_pitch = copy.src_pitch = static_cast<ptrdiff_t>(bytes);
  copy.row_bytes = bytes;
  copy.rows = 1;
  return copy;
}

class Device {
 public:
  virtual ~Device() = default;
  virtual bool is_host() const = 0;
  // For messages: "NVIDIA H200", or "CPU (AVX2, 8 threads)".
  virtual const char* name() const = 0;
  virtual Queue& queue(QueueKind kind) = 0;
  // Any thread may call it.
  virtual Status allocate(MemoryKind kind, size_t bytes, std::unique_ptr<Memory>* memory) = 0;
  virtual std::unique_ptr<Timer> make_timer() = 0;
  // Host to device, device to host and device to device. Pageable host memory is allowed: then the
  // source may be reused when the call returns, and a destination is complete when it returns. If a
  // copy fails, all earlier work of the queue is over when the call returns.
  virtual Status upload(Queue& queue, const Copy2D& copy) = 0;
  virtual Status download(Queue& queue, const Copy2D& copy) = 0;
  virtual Status copy(Queue& queue, const Copy2D& copy) = 0;
};

}  // namespace cudatransform
