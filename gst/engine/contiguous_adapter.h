// Contiguous bytes: of an adapter, and of a buffer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstadapter.h>
#include <gst/gst.h>
#include <gst/video/gstvideodecoder.h>

#include <cstdint>
#include <deque>
#include <span>
#include <utility>

#include "gst/engine/buffer_ptr.h"
#include "transform/device/status.h"

namespace cudatransform {

// A GstAdapter of many buffers walks them at each access, or merges them. This keeps it at one
// buffer: a single buffer of one memory is read where it is, and any other bytes are moved to the
// end of a block of memory, which the adapter then holds. So each byte is copied kMaxCopies times
// at most, however small the buffers are, and the base class's arithmetic of offsets stays right.
//
// The adapter's bytes are taken through this object alone. Buffers taken from a block keep it
// alive; nothing that they have is written again. The memory is malloc()'s, because GLib's ends the
// process when memory runs out.
class ContiguousAdapter {
 public:
  static constexpr guint64 kMaxCopies = 4;

  ContiguousAdapter() = default;
  ~ContiguousAdapter() { clear(); }
  ContiguousAdapter(const ContiguousAdapter&) = delete;
  ContiguousAdapter& operator=(const ContiguousAdapter&) = delete;

  // Call it when `adapter` may have received bytes, which it keeps. kOutOfMemory; kFailed: a buffer
  // cannot be read. Then only discard() is possible.
  Status gather(GstAdapter* adapter);
  // All bytes of the adapter, until one of the other functions is called.
  std::span<const uint8_t> bytes() const { return bytes_; }
  // Whether they are in a block of ours.
  bool is_copied() const { return !buffer_ && !bytes_.empty(); }

  // Drops the first `count` bytes.
  void flush(gsize count);
  // Moves the first `count` bytes to the decoder's frame, without a copy. They have the metas of
  // the buffer that contained the first of them.
  void add_to_frame(GstVideoDecoder* decoder, gsize count);
  // Drops all bytes of `adapter`, gathered or not, except the last `remaining`.
  void discard(GstAdapter* adapter, gsize remaining);
  // The base class has cleared its adapter.
  void clear();

  // How many bytes have been copied so far, and how large the block is.
  guint64 copied() const { return copied_; }
  gsize capacity() const;

 private:
  struct Block;
  static void unref(gpointer block);
  bool is_alone() const;
  bool read_in_place(gsize size);
  bool make_room(gsize more);
  bool move_to_block(gsize capacity);
  bool move_rest_of_adapter();
  void note_metas(GstBuffer* buffer, guint64 position);
  void push_block(gsize begin, gsize end, GstBuffer* metas);
  void consume(gsize count);
  void clear_buffer();
  void drop_block();

  GstAdapter* adapter_ = nullptr;  // the decoder's
  std::span<const uint8_t> bytes_;
  BufferPtr buffer_;  // the adapter's own, if they are read where they are
  MappedBuffer mapped_;
  Block* block_ = nullptr;
  gsize begin_ = 0, end_ = 0;  // of the bytes in the block; both 0 if buffer_ is set
  guint64 consumed_ = 0;       // bytes, of all
  guint64 copied_ = 0;
  // Where buffers began whose metas the block does not have, in bytes of all; null: without metas.
  std::deque<std::pair<guint64, BufferPtr>> metas_;
};

// Whether GStreamer maps all bytes of `buffer` without a copy.
bool is_one_piece(GstBuffer* buffer);

// When a buffer of several memories is mapped, GStreamer merges them, and ends the process if
// memory runs out. `*piece` gets a reference to `buffer` if it can be mapped as it is, else a copy
// of its bytes, for reading. kOutOfMemory without memory.
Status in_one_piece(GstBuffer* buffer, BufferPtr* piece);

// Copies all bytes of `from`, of any memory, to ordinary memory of one new buffer. Without metas
// and timestamps; null without memory.
GstBuffer* copy_bytes(GstBuffer* from);

}  // namespace cudatransform
