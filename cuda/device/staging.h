// Bytes from the host to a queue's work: pinned and device memory, used alternately.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <memory>

#include "cuda/device/queue.h"
#include "transform/device/device.h"

namespace cudatransform::cuda {

// For bytes that a job reads once: some are in flight while others are written. For one queue.
class Staging final {
 public:
  // Room for `bytes`, aligned to 256, to be written by the host. Waits for the device when all
  // slots are in flight.
  Status begin(Device& device, size_t bytes, void** host);
  // Enqueues the copy of begin()'s memory. Later work of the queue finds it at `*address`,
  // until end() has been called kSlots more times.
  Status end(Device& device, StreamQueue& queue, const void** address);
  // The same to memory of the caller's on the device.
  Status end_at(void* to, Device& device, StreamQueue& queue);
  // begin() and end() for bytes that are in pinned memory already, reusable when `*copied` is done.
  Status copy(Device& device, StreamQueue& queue, const void* pinned, size_t bytes,
              const void** address, FencePtr* copied);

 private:
  Status copy_to(void* to, Device& device, StreamQueue& queue, const void* pinned, size_t bytes,
                 FencePtr* copied);

  static constexpr size_t kSlots = 4;
  struct Slot {
    std::unique_ptr<Memory> pinned, device;
    FencePtr copied;
  };
  Slot slots_[kSlots];
  size_t next_ = 0, bytes_ = 0;
};

}  // namespace cudatransform::cuda
