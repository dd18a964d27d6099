// GstAllocators of host memory: page-locked, which a device copies without staging, and ordinary.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/device/device.h"

namespace cudatransform {

inline constexpr char kPinnedMemoryType[] = "CudaTransformPinnedMemory";

// For everybody else its memory is plain system memory, aligned to 64 bytes or more. Memory and
// allocator are thread safe and may outlive the device: memory keeps what it needs of the driver
// alive. Blocks that come back are kept for the next allocation of the same size, because locking
// pages takes the driver long and stops the device. Where the driver locks none, memory of
// ordinary_allocator() is handed out. `device` must live until detach_pinned_allocator().
GstAllocator* new_pinned_allocator(Device& device);

// Gives up the device, waiting for an allocation in progress. From now on the allocator hands out
// ordinary memory: pools of other elements may still hold it.
void detach_pinned_allocator(GstAllocator* allocator);

// Ordinary memory, of GStreamer's plain type, aligned to 64 bytes or more; no reference is passed.
// Where there is none, gst_allocator_alloc() returns null. GStreamer's own allocator, null in most
// calls, ends the process instead: nothing that may be large comes from there.
GstAllocator* ordinary_allocator();

}  // namespace cudatransform
