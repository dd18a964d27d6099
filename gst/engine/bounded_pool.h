// A buffer pool that keeps no more idle memory than it may.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

// GStreamer's pools keep every buffer that comes back: as many as were ever on their way at once.
// This one frees those that come back while it keeps `limit` bytes (at first: any number).
GstBufferPool* bounded_pool_new();
// For pools that bounded_pool_new() has made. Frees idle buffers beyond the limit. Called by
// the thread that acquires buffers.
void bounded_pool_set_limit(GstBufferPool* pool, gsize limit);
// How many bytes are idle.
gsize bounded_pool_idle(GstBufferPool* pool);

}  // namespace cudatransform
