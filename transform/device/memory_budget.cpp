// Memory that grows, and memory budgets of decoders and encoders: how much a stream may allocate,
// and memory that a device may still read.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "transform/device/memory_budget.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "transform/device/host_device.h"

namespace cudatransform {

Status grow_memory(Device& device, MemoryKind kind, size_t bytes, std::unique_ptr<Memory>* memory,
                   size_t room) {
  if (*memory != nullptr && (*memory)->size() >= bytes) return {};
  memory->reset();
  const Status status = device.allocate(kind, std::max(bytes, room), memory);
  return status.code == StatusCode::kOutOfMemory && room > bytes
             ? device.allocate(kind, bytes, memory)
             : status;
}

class MemoryBudget::Counted final : public Memory {
 public:
  Counted(MemoryBudgetPtr budget, uint64_t bytes, std::unique_ptr<Memory> memory)
      : budget_(std::move(budget)), bytes_(bytes), memory_(std::move(memory)) {}
  ~Counted() override {
    memory_.reset();
    budget_->used_ -= bytes_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  void* data() const override { return memory_->data(); }
  size_t size() const override { return memory_->size(); }

 private:
  const MemoryBudgetPtr budget_;
  const uint64_t bytes_;
  std::unique_ptr<Memory> memory_;
};

bool MemoryBudget::has(uint64_t bytes) const {
  const uint64_t most = max_, used = used_;
  return most == 0 || (used <= most && bytes <= most - used);
}

Status MemoryBudget::no_room(uint64_t bytes) const {
  return Status::error(StatusCode::kOutOfMemory,
                       "decoding needs " + std::to_string(used_ + bytes) +
                           " bytes, exceeds max-memory=" + std::to_string(max_));
}

template <typename Allocate>
Status MemoryBudget::count(uint64_t bytes, std::unique_ptr<Memory>* memory,
                           const Allocate& allocate) {
  // A refused block is never counted, not even for a moment: another thread would be refused, too.
  uint64_t used = used_;
  do {
    const uint64_t most = max_;
    if (most > 0 && (used > most || bytes > most - used)) return no_room(bytes);
  } while (!used_.compare_exchange_weak(used, used + bytes));
  std::unique_ptr<Memory> made;
  const Status status = allocate(&made);
  auto* counted = status.ok() ? new (std::nothrow)
                                    Counted(shared_from_this(), bytes, std::move(made))
                              : nullptr;
  if (counted == nullptr) {
    used_ -= bytes;
    return status.ok() ? Status::error(StatusCode::kOutOfMemory, "no memory") : status;
  }
  memory->reset(counted);
  return {};
}

Status MemoryBudget::allocate_on_host(uint64_t bytes, std::unique_ptr<Memory>* memory) {
  return count(bytes, memory, [&](auto* made) { return allocate_host_memory(bytes, made); });
}

Status MemoryBudget::allocate(Device& device, MemoryKind kind, uint64_t bytes,
                              std::unique_ptr<Memory>* memory) {
  return count(bytes, memory, [&](auto* made) { return device.allocate(kind, bytes, made); });
}

Status BudgetedPool::take(Device& device, size_t bytes, Block* block) {
  size_t room = bytes;
  {
    std::lock_guard lock(mutex_);
    largest_ = std::max(largest_, bytes);
    room = std::min(largest_, 2 * bytes);
    const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                    [&](const Block& kept) { return serves(kept, bytes); });
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

bool BudgetedPool::serves(const Block& kept, size_t bytes) {
  return kept.memory->size() >= bytes && kept.memory->size() / 2 <= bytes;
}

size_t BudgetedPool::kept(size_t bytes) const {
  std::lock_guard lock(mutex_);
  return static_cast<size_t>(std::count_if(blocks_.begin(), blocks_.end(),
                                           [&](const Block& kept) { return serves(kept, bytes); }));
}

// If the driver pins no memory, ordinary memory is used. Copies from them are slower.
Status BudgetedPool::allocate(Device& device, size_t bytes, std::unique_ptr<Memory>* memory) {
  Status status = budget_->allocate(device, kind_, bytes, memory);
  if (!status.ok() && kind_ == MemoryKind::kPinned)
    status = budget_->allocate_on_host(bytes, memory);
  if (status.ok()) bytes_ += (*memory)->size();
  return status;
}

bool BudgetedPool::trim() {
  std::vector<Block> freed;  // after the lock
  std::lock_guard lock(mutex_);
  largest_ = 0;
  freed.swap(blocks_);
  for (const Block& block : freed) bytes_ -= block.memory->size();
  return !freed.empty();
}

bool BudgetedPool::trim_others(size_t bytes) {
  std::vector<Block> freed;  // after the lock
  std::lock_guard lock(mutex_);
  largest_ = bytes;
  const auto others = std::partition(blocks_.begin(), blocks_.end(),
                                     [&](const Block& kept) { return serves(kept, bytes); });
  for (auto block = others; block != blocks_.end(); ++block) {
    bytes_ -= block->memory->size();
    freed.push_back(std::move(*block));
  }
  blocks_.erase(others, blocks_.end());
  return !freed.empty();
}

bool BudgetedPool::is_full() const {
  size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.memory->size();
  return blocks_.size() >= max_ || (blocks_.size() >= kFew && bytes >= max_bytes_);
}

void BudgetedPool::give(Block block) {
  Block oldest;  // freed after the lock
  std::lock_guard lock(mutex_);
  if (is_full()) {
    oldest = std::move(blocks_.front());
    bytes_ -= oldest.memory->size();
    blocks_.erase(blocks_.begin());
  }
  blocks_.push_back(std::move(block));
}

}  // namespace cudatransform
