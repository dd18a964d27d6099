// Memory that the device may still be reading, for whoever needs some next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// Thread safe. Freeing and allocating what a device uses takes it longer than a picture does.
class DiracMemoryPool {
 public:
  struct Block {
    std::unique_ptr<Memory> memory;
    FencePtr read;  // who writes there next waits for it; null: for nothing
  };

  // Keeps `most` blocks that nobody has.
  DiracMemoryPool(MemoryKind kind, size_t most) : kind_(kind), most_(most) {}

  // Of `bytes`, or a little more.
  Status take(Device& device, size_t bytes, Block* block);
  void give(Block block);

 private:
  const MemoryKind kind_;
  const size_t most_;
  std::mutex mutex_;
  std::vector<Block> blocks_;  // the oldest first
};

}  // namespace cudatransform
