// Memory of output buffers: allocators of pinned and ordinary host memory, pools for us and
// our peers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <gst/coef/fence.h>
#include "gst/engine/engine.h"
#include "transform/device/device.h"

namespace cudatransform {

inline constexpr char kPinnedMemoryType[] = "CudaTransformPinnedMemory";

// To other code its memory is plain system memory, aligned to 64 bytes or more. Memory and
// allocator are thread safe and may outlive the device: memory keeps the part of the driver alive
// that it needs. The allocator keeps freed blocks for the next allocation of the same size, because
// pinning pages is slow and stalls the device. If the driver pins none, it returns memory of
// ordinary_allocator(). `device` must live until detach_pinned_allocator().
GstAllocator* new_pinned_allocator(Device& device);

// Gives up the device, waiting for an allocation in progress. From now on the allocator returns
// ordinary memory: pools of other elements may still hold it.
void detach_pinned_allocator(GstAllocator* allocator);

// Ordinary memory, of GStreamer's plain type, aligned to 64 bytes or more; no reference is passed.
// If memory runs out, gst_allocator_alloc() returns null. GStreamer's own allocator, null in most
// calls, ends the process instead, so do not use it for large memory.
GstAllocator* ordinary_allocator();

// kOutOfMemory, with the use and the size in its message.
Status no_system_memory(const char* what, gsize bytes);

// Acquires from `pool`; kCancelled while it is flushing, as at shutdown and on seeks.
Status acquire_buffer(GstBufferPool* pool, const char* what, GstBuffer** buffer);

// The error of a CUDA pool that does not start. The pool allocates when it is configured, to learn
// the pitch. We only request formats that it can hold, so only the allocation can fail there.
Status no_device_memory(const char* what, gsize bytes);

// The promise to honor the fence of coefficients, in an answer to an ALLOCATION query; and whether
// all peers have created it.
void promise_to_honor_fence(GstQuery* query);
bool peers_honor_fence(GstQuery* query);

// A buffer of system memory, aligned for SIMD as those of make_system_pool(); null without memory.
GstBuffer* new_system_buffer(gsize size);

// The most buffers that the pool of `buffer` may have; 0: no limit, or no pool.
guint pool_maximum(GstBuffer* buffer);

// Unreferences the pool after deactivating it, and clears the variable.
void clear_pool(GstBufferPool** pool);
// The same for a pool whose buffers the engine works on. If the device is stuck, the pool is kept
// for ever as it is: the driver would not return from freeing device memory, and the device may
// still download to the buffers.
void clear_pool(Engine& engine, GstBufferPool** pool);
// Keeps the caller's reference for ever: a stuck device may be working on the memory.
void keep_for_ever(gpointer object);

// An active pool of buffers of `size` bytes in system memory, aligned for SIMD, from `allocator`
// or, if null, from ordinary_allocator(). `make` creates the pool.
Status make_system_pool(GstAllocator* allocator, gsize size, GstBufferPool** pool,
                        GstBufferPool* (*make)() = gst_buffer_pool_new);

// The allocator that the answered ALLOCATION query proposes, if pools can use it; transfer full.
GstAllocator* proposed_allocator(GstQuery* query);

// An active pool of raw frames of `caps` from the answered ALLOCATION `query`: the peer's if it
// fits our engine and memory kind, else our own. If the peer has only plain memory to offer, frames
// that the engine downloads come from our own pool of pinned memory with the peer's alignment.
// `*maximum` is the most buffers that the pool may have; 0: no limit.
Status make_raw_pool(Engine& engine, GstQuery* query, GstCaps* caps, GstBufferPool** pool,
                     guint* maximum);

// Proposes a pool to the peer that sent `query`: for raw frames of `caps`, or for coefficients
// of `size` bytes in system memory, if that helps the engine.
void propose_raw_pool(Engine& engine, GstQuery* query, GstCaps* caps, guint min_buffers);
void propose_coefficient_pool(Engine& engine, GstQuery* query, GstCaps* caps, gsize size,
                              guint min_buffers);

// GStreamer's pools keep every returned buffer: as many as were ever in use at the same time. This
// pool frees returning buffers while it keeps `limit` bytes (at first: any number).
GstBufferPool* bounded_pool_new();
// For pools of bounded_pool_new(). Frees idle buffers beyond the limit. Called by the thread
// that acquires buffers.
void bounded_pool_set_limit(GstBufferPool* pool, gsize limit);
// The number of idle bytes.
gsize bounded_pool_idle(GstBufferPool* pool);

}  // namespace cudatransform
