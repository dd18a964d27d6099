// The memory that a decoder's frames leave in, and the pool that its base class insists on.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "transform/device/status.h"

namespace cudatransform {

enum class MemoryChoice {
  kCudaWherePossible,  // wherever downstream takes it
  kSystemIfPossible,   // CUDA memory where downstream takes nothing else
};

// Whether frames go out in CUDA memory: the engine is CUDA, and downstream takes them there as
// `choice` says. `*caps`, which are of system memory, then become those of CUDA memory.
bool choose_memory(GstVideoDecoder* decoder, const Engine& engine, MemoryChoice choice,
                   CapsPtr* caps);

// Ends GstVideoDecoder::decide_allocation for frames that bring their buffers: puts `pool`, which
// the base class insists on, in place of all in `query`. Where `status`, of what has chosen the
// pool, is none, posts it and is false.
bool answer_allocation(GstVideoDecoder* decoder, GstQuery* query, const Status& status,
                       GstBufferPool* pool);

}  // namespace cudatransform
