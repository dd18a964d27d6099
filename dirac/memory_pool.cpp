// Memory that the device may still be reading, for whoever needs some next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/memory_pool.h"

#include <algorithm>
#include <utility>

namespace cudatransform {

Status DiracMemoryPool::take(Device& device, size_t bytes, Block* block) {
  {
    std::lock_guard lock(mutex_);
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
  return device.allocate(kind_, bytes, &block->memory);
}

void DiracMemoryPool::give(Block block) {
  Block oldest;  // freed behind the lock
  std::lock_guard lock(mutex_);
  if (blocks_.size() == most_) {
    oldest = std::move(blocks_.front());
    blocks_.erase(blocks_.begin());
  }
  blocks_.push_back(std::move(block));
}

}  // namespace cudatransform
