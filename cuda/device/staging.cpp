// Bytes from the host to a queue's work: pinned and device memory, used alternately.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/device/staging.h"

#include "transform/device/host_device.h"
#include "transform/device/memory_budget.h"

namespace cudatransform::cuda {

namespace {

// A quarter more than is needed, so that pictures that grow slowly do not allocate every time.
Status grow(Device& device, MemoryKind kind, size_t bytes, std::unique_ptr<Memory>* memory) {
  const Status status = grow_memory(device, kind, bytes, memory, bytes + bytes / 4);
  // If the driver pins no memory, ordinary memory is used. Copies from it are slower.
  return status.ok() || kind != MemoryKind::kPinned
             ? status
             : allocate_host_memory(bytes + bytes / 4, memory);
}

}  // namespace

Status Staging::begin(Device& device, size_t bytes, void** host) {
  Slot& slot = slots_[next_];
  // The work that reads the device's half is after the copy in the same queue, and so is the next
  // copy into it; only the pinned half has to be waited for.
  if (slot.copied != nullptr) CT_RETURN_IF_ERROR(slot.copied->wait());
  slot.copied.reset();
  CT_RETURN_IF_ERROR(grow(device, MemoryKind::kPinned, bytes, &slot.pinned));
  bytes_ = bytes;
  *host = slot.pinned->data();
  return {};
}

Status Staging::end(Device& device, StreamQueue& queue, const void** address) {
  Slot& slot = slots_[next_];
  return copy(device, queue, slot.pinned->data(), bytes_, address, &slot.copied);
}

Status Staging::end_at(void* to, Device& device, StreamQueue& queue) {
  Slot& slot = slots_[next_];
  return copy_to(to, device, queue, slot.pinned->data(), bytes_, &slot.copied);
}

Status Staging::copy(Device& device, StreamQueue& queue, const void* pinned, size_t bytes,
                     const void** address, FencePtr* copied) {
  Slot& slot = slots_[next_];
  CT_RETURN_IF_ERROR(grow(device, MemoryKind::kDevice, bytes, &slot.device));
  *address = slot.device->data();
  return copy_to(slot.device->data(), device, queue, pinned, bytes, copied);
}

Status Staging::copy_to(void* to, Device& device, StreamQueue& queue, const void* pinned,
                        size_t bytes, FencePtr* copied) {
  CT_RETURN_IF_ERROR(device.upload(queue, copy_of_bytes(to, pinned, bytes)));
  CT_RETURN_IF_ERROR(queue.record(copied));
  next_ = (next_ + 1) % kSlots;
  return {};
}

}  // namespace cudatransform::cuda
