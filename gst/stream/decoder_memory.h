// The memory of a decoder's output frames, and the pool that its base class insists on.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "transform/device/status.h"

namespace cudatransform {

enum class MemoryChoice {
  kCudaWherePossible,  // CUDA memory if downstream takes it
  kSystemIfPossible,   // CUDA memory if downstream takes no other
};

// Whether frames go out in CUDA memory: the engine is CUDA, and downstream takes such frames, as
// `choice` requires. `*caps`, which are of system memory, then become those of CUDA memory.
bool choose_memory(GstVideoDecoder* decoder, const Engine& engine, MemoryChoice choice,
                   CapsPtr* caps);

// Ends GstVideoDecoder::decide_allocation for frames that bring their buffers: replaces all pools
// in `query` by `pool`, which the base class insists on. `status` is the result of choosing the
// pool; if that is an error, posts it and returns false.
bool answer_allocation(GstVideoDecoder* decoder, GstQuery* query, const Status& status,
                       GstBufferPool* pool);

}  // namespace cudatransform
