// A buffer pool that limits its idle memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

// GStreamer's pools keep every buffer that comes back: as many as were ever in use at once. This
// pool frees returning buffers while it keeps `limit` bytes (at first: any number).
GstBufferPool* bounded_pool_new();
// For pools made by bounded_pool_new(). Frees idle buffers beyond the limit. Called by the thread
// that acquires buffers.
void bounded_pool_set_limit(GstBufferPool* pool, gsize limit);
// The number of idle bytes.
gsize bounded_pool_idle(GstBufferPool* pool);

}  // namespace cudatransform
