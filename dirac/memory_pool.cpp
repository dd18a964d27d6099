// Memory that the device may still be reading, to be used again.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/memory_pool.h"

#include <algorithm>
#include <utility>

namespace cudatransform {

Status DiracMemoryPool::take(Device& device, size_t bytes, Block* block) {
  size_t room = bytes;
  {
    std::lock_guard lock(mutex_);
    largest_ = std::max(largest_, bytes);
    room = std::min(largest_, 2 * bytes);
    const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& kept) {
      return kept.memory->size() >= bytes && kept.memory->size() / 2 <= bytes;
    });
    if (found != blocks_.end()) {
      *block = std::move(*found);
      blocks_.erase(found);
      return {};
    }
  }
  *block = {};
  Status status = allocate(device, room, &block->memory);
  if (status.code == StatusCode::kOutOfMemory && (trim() || room > bytes))
    status = allocate(device, bytes, &block->memory);
  return status;
}

// If the driver locks no pages, ordinary ones serve. Copies from them are slower.
Status DiracMemoryPool::allocate(Device& device, size_t bytes, std::unique_ptr<Memory>* memory) {
  Status status = budget_->allocate(device, kind_, bytes, memory);
  if (!status.ok() && kind_ == MemoryKind::kPinned)
    status = budget_->allocate_on_host(bytes, memory);
  if (status.ok()) bytes_ += (*memory)->size();
  return status;
}

bool DiracMemoryPool::trim() {
  std::vector<Block> freed;  // behind the lock
  std::lock_guard lock(mutex_);
  largest_ = 0;
  freed.swap(blocks_);
  for (const Block& block : freed) bytes_ -= block.memory->size();
  return !freed.empty();
}

bool DiracMemoryPool::is_full() const {
  size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.memory->size();
  return blocks_.size() >= most_ || (blocks_.size() >= kFew && bytes >= kMostBytes);
}

void DiracMemoryPool::give(Block block) {
  Block oldest;  // freed behind the lock
  std::lock_guard lock(mutex_);
  if (is_full()) {
    oldest = std::move(blocks_.front());
    bytes_ -= oldest.memory->size();
    blocks_.erase(blocks_.begin());
  }
  blocks_.push_back(std::move(block));
}

}  // namespace cudatransform
