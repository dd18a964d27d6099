// Memory that the device may still be reading, to be used again.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dirac/memory_budget.h"
#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// Thread safe. Freeing and allocating a device's memory takes it longer than a picture does.
class DiracMemoryPool {
 public:
  struct Block {
    std::unique_ptr<Memory> memory;
    FencePtr read;  // the next writer waits for it; null: no wait
  };

  // Keeps up to `most` unused blocks, and of large ones no more than three.
  DiracMemoryPool(MemoryKind kind, size_t most, MemoryBudgetPtr budget = nullptr)
      : kind_(kind), most_(most), budget_(some_budget(std::move(budget))) {}

  // Takes a block of `bytes`, or up to twice as many: new blocks are as large as any have had to
  // be, so that all serve for pictures that differ by little. If there is no memory, kept blocks
  // are freed first.
  Status take(Device& device, size_t bytes, Block* block);
  void give(Block block);
  // The size of all blocks that exist.
  uint64_t bytes() const { return bytes_; }
  // Frees the kept blocks. False: there are none.
  bool trim();

 private:
  static constexpr size_t kFew = 3, kMostBytes = size_t{256} << 20;
  bool is_full() const;
  Status allocate(Device& device, size_t bytes, std::unique_ptr<Memory>* memory);

  const MemoryKind kind_;
  const size_t most_;
  const MemoryBudgetPtr budget_;
  std::mutex mutex_;
  std::atomic<uint64_t> bytes_ = 0;
  size_t largest_ = 0;         // that was asked for
  std::vector<Block> blocks_;  // the oldest first
};

}  // namespace cudatransform
