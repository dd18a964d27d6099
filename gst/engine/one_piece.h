// Buffers of several memories: joined before they are mapped, or read without that.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstadapter.h>
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

// As gst_adapter_masked_scan_uint32(), which maps each buffer, and so merges memories at each call:
// where four bytes of `size` from `at` on are `pattern` under `mask`, in the order of a big-endian
// number; -1 for nowhere.
gssize find_in_adapter(GstAdapter* adapter, guint32 mask, guint32 pattern, gsize at, gsize size);

}  // namespace cudatransform
