// How much memory a stream may make its decoder hold: blocks are counted while they exist.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// Thread safe. Blocks may outlive the object that has taken them. Always in a shared_ptr.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  // `most` bytes; 0: any number. Blocks that exist stay.
  void set_most(uint64_t most) { most_ = most; }
  uint64_t used() const { return used_; }
  // Whether there is room for so many more.
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

  std::atomic<uint64_t> most_ = 0, used_ = 0;
};
using MemoryBudgetPtr = std::shared_ptr<MemoryBudget>;

// `budget`, or one without a limit in place of none.
inline MemoryBudgetPtr some_budget(MemoryBudgetPtr budget) {
  return budget != nullptr ? std::move(budget) : std::make_shared<MemoryBudget>();
}

}  // namespace cudatransform
