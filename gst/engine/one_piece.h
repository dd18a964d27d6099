// Buffers of several memories: joined before they are mapped, or read without that.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/engine/buffer_ptr.h"
#include "transform/device/status.h"

namespace cudatransform {

// Whether GStreamer maps all bytes of `buffer` without a copy.
bool is_one_piece(GstBuffer* buffer);

// When a buffer of several memories is mapped, GStreamer merges them, and ends the process if
// memory runs out. `*piece` gets a reference to `buffer` if it can be mapped as it is, else a copy
// of its bytes, for reading. kOutOfMemory without memory.
Status in_one_piece(GstBuffer* buffer, BufferPtr* piece);

// Copies all bytes of `from`, whatever its memories, to ordinary memory of one new buffer. Without
// metas and timestamps; null without memory.
GstBuffer* copy_bytes(GstBuffer* from);

}  // namespace cudatransform
