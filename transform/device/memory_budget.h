// Memory that grows, and memory budgets of decoders and encoders: how much a stream may allocate,
// and memory that a device may still read.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// Makes `*memory` at least `bytes` large: where it is smaller, it is freed and allocated with
// `room` bytes or, if there is no memory for these, with `bytes`.
Status grow_memory(Device& device, MemoryKind kind, size_t bytes, std::unique_ptr<Memory>* memory,
                   size_t room = 0);

// Thread safe. Blocks may outlive the object that has taken them. Always in a shared_ptr.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  // `most` bytes; 0: any number. Existing blocks are kept.
  void set_max(uint64_t max) { max_ = max; }
  uint64_t used() const { return used_; }
  // Whether there is room for this many more.
  bool has(uint64_t bytes) const;
  // The error where there is not: names max-memory.
  Status no_room(uint64_t bytes) const;

  // kOutOfMemory where there is no room, or no memory.
  Status allocate_on_host(uint64_t bytes, std::unique_ptr<Memory>* memory);
  Status allocate(Device& device, MemoryKind kind, uint64_t bytes, std::unique_ptr<Memory>* memory);

 private:
  class Counted;
  template <typename Allocate>
  Status count(uint64_t bytes, std::unique_ptr<Memory>* memory, const Allocate& allocate);

  std::atomic<uint64_t> max_ = 0, used_ = 0;
};
using MemoryBudgetPtr = std::shared_ptr<MemoryBudget>;

// `budget`, or an unlimited one if null.
inline MemoryBudgetPtr some_budget(MemoryBudgetPtr budget) {
  return budget != nullptr ? std::move(budget) : std::make_shared<MemoryBudget>();
}

// Thread safe. Freeing and allocating a device's memory takes it longer than a picture does.
class BudgetedPool {
 public:
  struct Block {
    std::unique_ptr<Memory> memory;
    FencePtr read;  // the next writer waits for it; null: no wait
  };

  // Keeps up to `most` unused blocks, and more than three only until they have `most_bytes`.
  static constexpr size_t kUsualBytes = size_t{256} << 20;
  BudgetedPool(MemoryKind kind, size_t most, MemoryBudgetPtr budget = nullptr,
               size_t most_bytes = kUsualBytes)
      : kind_(kind), max_(most), max_bytes_(most_bytes), budget_(some_budget(std::move(budget))) {}

  // Takes a block of `bytes`, or up to twice as many: new blocks are as large as any have had to
  // be, so that all fit pictures that differ by little. If there is no memory, kept blocks are
  // freed first.
  Status take(Device& device, size_t bytes, Block* block);
  void give(Block block);
  // The number of kept blocks that take() has for so many: it allocates nothing.
  size_t kept(size_t bytes) const;
  bool keeps(size_t bytes) const { return kept(bytes) > 0; }
  // The size of all blocks that exist.
  uint64_t bytes() const { return bytes_; }
  // Frees the kept blocks, or only those that take() does not have for this many bytes. False:
  // there are none.
  bool trim();
  bool trim_others(size_t bytes);

 private:
  static constexpr size_t kFew = 3;
  static bool serves(const Block& kept, size_t bytes);
  bool is_full() const;
  Status allocate(Device& device, size_t bytes, std::unique_ptr<Memory>* memory);

  const MemoryKind kind_;
  const size_t max_, max_bytes_;
  const MemoryBudgetPtr budget_;
  mutable std::mutex mutex_;
  std::atomic<uint64_t> bytes_ = 0;
  size_t largest_ = 0;         // that was requested
  std::vector<Block> blocks_;  // the oldest first
};

}  // namespace cudatransform
