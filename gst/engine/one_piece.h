// Buffers of several memories, in one piece before they are mapped.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/engine/buffer_ptr.h"
#include "transform/device/status.h"

namespace cudatransform {

// Mapping a buffer of several memories makes GStreamer merge them, and end the process where there
// is no memory for that. `*piece` gets a reference to `buffer` where it can be mapped as it is,
// else a copy of its bytes, for reading. kOutOfMemory without memory.
Status in_one_piece(GstBuffer* buffer, BufferPtr* piece);

// Copies all bytes of `from`, in whatever memories, to ordinary memory of one new buffer. Without
// metas and timestamps; null without memory.
GstBuffer* copy_bytes(GstBuffer* from);

}  // namespace cudatransform
