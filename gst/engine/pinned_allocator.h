// GstAllocators of host memory: page-locked, which a device copies without staging, and ordinary.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/device/device.h"

namespace cudatransform {

inline constexpr char kPinnedMemoryType[] = "CudaTransformPinnedMemory";

// To other code its memory is plain system memory, aligned to 64 bytes or more. Memory and
// allocator are thread safe and may outlive the device: memory keeps the part of the driver alive
// that it needs. The allocator keeps freed blocks for the next allocation of the same size, because
// locking pages takes long and stops the device. If the driver locks none, it hands out memory of
// ordinary_allocator(). `device` must live until detach_pinned_allocator().
GstAllocator* new_pinned_allocator(Device& device);

// Gives up the device, waiting for an allocation in progress. From now on the allocator hands out
// ordinary memory: pools of other elements may still hold it.
void detach_pinned_allocator(GstAllocator* allocator);

// Ordinary memory, of GStreamer's plain type, aligned to 64 bytes or more; no reference is passed.
// If memory runs out, gst_allocator_alloc() returns null. GStreamer's own allocator, null in most
// calls, ends the process instead, so do not use it for large memory.
GstAllocator* ordinary_allocator();

}  // namespace cudatransform
