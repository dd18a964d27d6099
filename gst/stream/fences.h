// The fence of a buffer of coefficients, in terms of our own queues and fences.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/fence.h>
#include "gst/engine/engine.h"

namespace cudatransform {

// `done` is the work that writes the memory that `fence` guards, or that reads it.
void set_written(GstCoefFence* fence, const FencePtr& done);
void add_read(GstCoefFence* fence, const FencePtr& done);

// Later work of `queue` starts when the memory that `fence` guards is written. Null: the host
// waits. Without a fence the memory is written already.
Status wait_written(Engine& engine, GstCoefFence* fence, Queue* queue);

}  // namespace cudatransform
