// Pools of device blocks: CUDA memory that a fence guards from its last use to its next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

#include <gst/coef/fence.h>
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"

namespace cudatransform {

// Device memory of `rows` rows of at least `row_bytes` bytes: one GstCudaMemory in a GstBuffer. It
// goes back to its pool with the object, unless the buffer has been taken out. Move only.
struct DeviceBlock {
  BufferPtr buffer;        // null: there is no block
  guint8* data = nullptr;  // device address
  gsize pitch = 0;
  GstCoefFence* fence = nullptr;  // of this use of the memory; owned by the memory

  explicit operator bool() const { return buffer != nullptr; }
};

// A private pool of device blocks. The blocks are GstCudaMemory, as memory:CUDAMemory promises.
// Their caps are placeholder raw caps (RGBA, a quarter as wide as a row has bytes), because gstcuda
// allocates by raw format and does not know ours.
//
// A kernel may still read memory that returns to the pool. The fence of its last use lives with
// the memory, and acquire() makes the queue that will write wait for it.
//
// Consumers' sync points are foreign code and may fail. That costs no frame: a reader whose work
// has failed has left the memory. Where a queue cannot wait, the host waits. If work that cannot be
// waited for may still use a block, the pool sets it aside and allocates another. An error means
// that our own device is lost.
class BlockPool {
 public:
  ~BlockPool() { clear(); }
  // Does nothing if the pool is already configured like this.
  Status configure(Engine& engine, gsize row_bytes, guint rows);
  Status acquire(Queue& writer, DeviceBlock* block);
  void clear();

  // Whether the device pads rows beyond the requested size, as far as the caller has seen.
  bool pads_rows = false;

 private:
  void set_aside(BufferPtr block, Queue& writer);
  void make_spare();

  Engine* engine_ = nullptr;  // of pool_
  GstBufferPool* pool_ = nullptr;
  std::vector<BufferPtr> aside_;
  guint blocks_ = 0;  // blocks that were seen, or tried to allocate
  gsize row_bytes_ = 0;
  guint rows_ = 0;
};

// Whether `fence` belongs to the memory in `buffer`, and so guards its reuse. That of a deep copy
// does not: the copy shares the fence of its original.
bool fence_guards_memory(GstBuffer* buffer, const GstCoefFence* fence);

}  // namespace cudatransform
