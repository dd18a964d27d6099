// Contiguous bytes: of an adapter, and of a buffer.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/contiguous_adapter.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "gst/engine/pools.h"

namespace cudatransform {
namespace {

constexpr gsize kMinBlock = gsize{1} << 16;

}  // namespace

// Its bytes follow it.
struct ContiguousAdapter::Block {
  std::atomic<guint> users = 1;
  gsize capacity = 0;

  guint8* bytes() { return reinterpret_cast<guint8*>(this + 1); }
};

void ContiguousAdapter::unref(gpointer block) {
  auto* from = static_cast<Block*>(block);
  if (--from->users == 0) std::free(from);
}

gsize ContiguousAdapter::capacity() const { return block_ ? block_->capacity : 0; }

// Whether no buffer shares the block. Others only give it up.
bool ContiguousAdapter::is_alone() const { return block_ && block_->users == 1; }

Status ContiguousAdapter::gather(GstAdapter* adapter) {
  adapter_ = adapter;
  const gsize available = gst_adapter_available(adapter), left = bytes_.size();
  if (available == left) return {};
  if (left == 0 && read_in_place(available)) return {};
  gst_adapter_flush(adapter, left);  // the buffer that shares the block, or that buffer_ keeps
  if (!make_room(available - left)) return no_system_memory("the bytes of a stream", available);
  const bool is_read = move_rest_of_adapter();
  bytes_ = {block_->bytes() + begin_, end_ - begin_};
  push_block(begin_, end_, nullptr);
  if (is_read) return {};
  return Status::error(StatusCode::kFailed, "failed to map an input buffer");
}

bool ContiguousAdapter::read_in_place(gsize size) {
  if (gst_adapter_available_fast(adapter_) != size) return false;
  BufferPtr all(gst_adapter_get_buffer_fast(adapter_, size));
  // GStreamer merges several memories to map them.
  if (gst_buffer_n_memory(all.get()) != 1 || !mapped_.map(all.get(), GST_MAP_READ)) return false;
  buffer_ = std::move(all);
  bytes_ = {mapped_.data(), size};
  if (block_ && !is_alone()) drop_block();
  begin_ = end_ = 0;
  return true;
}

// Sees to a block that has the bytes, and room for `more` after them. A block whose bytes have
// mostly been taken gives way to one of the size that was in use: what one large picture needed is
// not kept for small ones.
bool ContiguousAdapter::make_room(gsize more) {
  const gsize size = bytes_.size() + more;
  if (begin_ >= std::max(kMinBlock, size))
    return move_to_block(std::max(2 * size, begin_ + begin_ / 4));
  if (block_ && !buffer_ && block_->capacity - end_ >= more) return true;
  return move_to_block(std::max(kMinBlock, 2 * size));
}

// Moves the bytes to the front of a block of about this size, which is twice what has to have room
// or more. So between two moves as many bytes come or go as the second one moves.
bool ContiguousAdapter::move_to_block(gsize capacity) {
  const gsize size = bytes_.size();
  const bool fits =
      is_alone() && block_->capacity >= capacity / 2 && block_->capacity / 4 <= capacity;
  if (fits && (buffer_ || begin_ >= size)) {
    if (size > 0) memcpy(block_->bytes(), bytes_.data(), size);
  } else if (is_alone() && !buffer_ && begin_ == 0) {
    void* larger = std::realloc(static_cast<void*>(block_), sizeof(Block) + capacity);
    if (!larger) return false;
    block_ = static_cast<Block*>(larger);
    block_->capacity = capacity;
  } else {
    void* memory = std::malloc(sizeof(Block) + capacity);
    if (!memory) return false;
    auto* block = new (memory) Block;
    block->capacity = capacity;
    if (size > 0) memcpy(block->bytes(), bytes_.data(), size);
    drop_block();
    block_ = block;
  }
  if (buffer_) note_metas(buffer_.get(), consumed_);
  clear_buffer();
  copied_ += size;
  begin_ = 0;
  end_ = size;
  return true;
}

bool ContiguousAdapter::move_rest_of_adapter() {
  bool is_read = true;
  while (const gsize size = gst_adapter_available_fast(adapter_)) {
    const BufferPtr buffer(gst_adapter_take_buffer(adapter_, size));
    note_metas(buffer.get(), consumed_ + (end_ - begin_));
    is_read = gst_buffer_extract(buffer.get(), 0, block_->bytes() + end_, size) == size && is_read;
    end_ += size;
    copied_ += size;
  }
  return is_read;
}

void ContiguousAdapter::note_metas(GstBuffer* buffer, guint64 position) {
  gpointer state = nullptr;
  if (!gst_buffer_iterate_meta(buffer, &state)) {
    if (!metas_.empty()) metas_.emplace_back(position, nullptr);
    return;
  }
  BufferPtr metas(gst_buffer_new());
  gst_buffer_copy_into(metas.get(), buffer, GST_BUFFER_COPY_META, 0, G_MAXSIZE);
  metas_.emplace_back(position, std::move(metas));
}

void ContiguousAdapter::push_block(gsize begin, gsize end, GstBuffer* metas) {
  if (begin == end) return;
  block_->users++;
  GstBuffer* buffer = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, block_->bytes() + begin,
                                                  end - begin, 0, end - begin, block_, unref);
  if (metas) gst_buffer_copy_into(buffer, metas, GST_BUFFER_COPY_META, 0, G_MAXSIZE);
  gst_adapter_push(adapter_, buffer);
}

void ContiguousAdapter::flush(gsize count) {
  gst_adapter_flush(adapter_, count);
  consume(count);
}

void ContiguousAdapter::add_to_frame(GstVideoDecoder* decoder, gsize count) {
  if (is_copied() && !metas_.empty() && metas_.front().first <= consumed_) {
    gst_adapter_flush(adapter_, bytes_.size());
    push_block(begin_, begin_ + count, metas_.front().second.get());
    push_block(begin_ + count, end_, nullptr);
  }
  gst_video_decoder_add_to_frame(decoder, static_cast<int>(count));
  consume(count);
}

void ContiguousAdapter::consume(gsize count) {
  bytes_ = bytes_.subspan(count);
  consumed_ += count;
  while (metas_.size() > 1 && metas_[1].first <= consumed_) metas_.pop_front();
  if (bytes_.empty() || (metas_.size() == 1 && !metas_.front().second)) metas_.clear();
  if (!buffer_)
    begin_ += count;
  else if (bytes_.empty())
    clear_buffer();
}

void ContiguousAdapter::discard(GstAdapter* adapter, gsize remaining) {
  clear();
  const gsize available = gst_adapter_available(adapter);
  if (available > remaining) gst_adapter_flush(adapter, available - remaining);
}

void ContiguousAdapter::clear_buffer() {
  mapped_.unmap();
  buffer_.reset();
}

void ContiguousAdapter::drop_block() {
  if (block_) unref(std::exchange(block_, nullptr));
}

void ContiguousAdapter::clear() {
  bytes_ = {};
  metas_.clear();
  clear_buffer();
  drop_block();
  begin_ = end_ = 0;
}

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
