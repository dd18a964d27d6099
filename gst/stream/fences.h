// The fence of a buffer of coefficients, in terms of our own queues and fences.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/fence.h>
#include "gst/engine/engine.h"

namespace cudatransform {

// `done` is the work that writes what `fence` guards, or that reads it.
void set_written(GstCoefFence* fence, const FencePtr& done);
void add_read(GstCoefFence* fence, const FencePtr& done);

// Later work of `queue` starts when what `fence` guards is written; null: the host waits. No fence
// means that it is.
Status wait_written(Engine& engine, GstCoefFence* fence, Queue* queue);

}  // namespace cudatransform
