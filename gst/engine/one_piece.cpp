// Buffers of several memories: joined before they are mapped, or read without that.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/one_piece.h"

#include "gst/engine/pools.h"

namespace cudatransform {

// One memory, or parts of one block that follow each other.
bool is_one_piece(GstBuffer* buffer) {
  for (guint i = 1; i < gst_buffer_n_memory(buffer); i++)
    if (!gst_memory_is_span(gst_buffer_peek_memory(buffer, i - 1),
                            gst_buffer_peek_memory(buffer, i), nullptr))
      return false;
  return true;
}

GstBuffer* copy_bytes(GstBuffer* from) {
  const gsize size = gst_buffer_get_size(from);
  BufferPtr copy(new_system_buffer(size));
  GstMapInfo map;
  if (!copy || !gst_buffer_map(copy.get(), &map, GST_MAP_WRITE)) return nullptr;
  const gsize copied = gst_buffer_extract(from, 0, map.data, size);
  gst_buffer_unmap(copy.get(), &map);
  return copied == size ? copy.release() : nullptr;
}

Status in_one_piece(GstBuffer* buffer, BufferPtr* piece) {
  if (is_one_piece(buffer)) {
    piece->reset(gst_buffer_ref(buffer));
    return {};
  }
  piece->reset(copy_bytes(buffer));
  if (*piece) return {};
  return no_system_memory("a buffer of several memories", gst_buffer_get_size(buffer));
}

}  // namespace cudatransform
