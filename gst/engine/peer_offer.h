// A peer's offer of allocators and pools, and the start of a pool.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

typedef struct _GstCudaContext GstCudaContext;

namespace cudatransform {

// Aligned for SIMD: to a cache line, which is also the widest vector.
GstAllocationParams aligned_params();

// The allocation settings of a pool; null or unset fields leave them open.
struct Allocation {
  GstAllocator* allocator = nullptr;  // owned
  bool has_params = false;
  GstAllocationParams params;
  bool has_alignment = false;
  GstVideoAlignment alignment;

  Allocation();
  ~Allocation() { gst_clear_object(&allocator); }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  void write_to(GstStructure* config) const;
};

// The peer's answer to an ALLOCATION query: its first pool, its first allocator and parameters.
struct PeerOffer {
  GstBufferPool* pool = nullptr;  // owned
  guint size = 0, min = 0, max = 0;
  Allocation allocation;

  explicit PeerOffer(GstQuery* query);
  ~PeerOffer() { gst_clear_object(&pool); }
  PeerOffer(const PeerOffer&) = delete;
  PeerOffer& operator=(const PeerOffer&) = delete;

  // Whether the offer contains only memory that any element could have allocated. Pools of other
  // types, and other allocators, give memory that the peer needs: shared with a process, a display,
  // a device.
  bool is_plain_memory() const;
};

// Configures and starts `pool`; the caller keeps it even on failure. With `context`, frames in CUDA
// memory have a stream.
bool start_pool(GstBufferPool* pool, GstCaps* caps, gsize size, guint min, guint max,
                bool video_meta, const Allocation& allocation = {},
                GstCudaContext* context = nullptr);

}  // namespace cudatransform
