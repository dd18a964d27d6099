// Reference-counted blocks of memory for results, kept for later ones.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/blocks.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "transform/device/host_device.h"

namespace cudatransform::core {
namespace {

constexpr size_t kMin = 4096;

size_t rounded(size_t bytes) {
  if (bytes <= kMin) return kMin;
  const size_t step = std::bit_ceil(bytes) / 16;
  return (bytes + step - 1) / step * step;
}

}  // namespace

std::unique_ptr<CtBlock> Blocks::find(size_t bytes) {
  const auto found = idle_.find(bytes);
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<CtBlock> block = std::move(found->second);
  idle_.erase(found);
  kept_ -= bytes;
  return block;
}

// The kept block that was returned first; null: none is kept.
std::unique_ptr<CtBlock> Blocks::oldest() {
  const auto found = std::min_element(idle_.begin(), idle_.end(), [](const auto& a, const auto& b) {
    return a.second->given < b.second->given;
  });
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<CtBlock> block = std::move(found->second);
  kept_ -= found->first;
  idle_.erase(found);
  return block;
}

// Frees kept blocks until `bytes` more are within the limit. False: they are not.
bool Blocks::make_room(size_t bytes) {
  if (most_ == 0) return true;
  while (!idle_.empty() && lent_ + kept_ + bytes > most_) {
    const auto last = std::prev(idle_.end());
    kept_ -= last->first;
    idle_.erase(last);
  }
  return lent_ + kept_ + bytes <= most_;
}

Status Blocks::take(size_t wanted, CtBlock** block) {
  const size_t bytes = rounded(wanted);
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<CtBlock> found = find(bytes);
    if (!found && !make_room(bytes))
      return Status::error(StatusCode::kOutOfMemory,
                           "a picture needs " + std::to_string(wanted) + " bytes of memory, and " +
                               std::to_string(lent_) +
                               " of max_device_memory=" + std::to_string(most_) + " are in use");
    lent_ += bytes;
    peak_ = std::max(peak_, lent_);
    if (found) {
      found->references = 1;
      found->owner = shared_from_this();
      *block = found.release();
      return {};
    }
  }
  auto made = std::make_unique<CtBlock>();
  Status status = device_->allocate(kind_, bytes, &made->memory);
  if (status.code == StatusCode::kOutOfMemory) {  // kept blocks of other sizes may be in the way
    const std::lock_guard lock(mutex_);
    idle_.clear();
    kept_ = 0;
    status = device_->allocate(kind_, bytes, &made->memory);
  }
  if (!status.ok()) {
    const std::lock_guard lock(mutex_);
    lent_ -= bytes;
    return status;
  }
  made->owner = shared_from_this();
  *block = made.release();
  return {};
}

void Blocks::give(std::unique_ptr<CtBlock> block) {
  const size_t bytes = block->memory->size();
  std::vector<std::unique_ptr<CtBlock>> freed;  // without the lock: a device may take its time
  const std::lock_guard lock(mutex_);
  lent_ -= bytes;
  if (closed_) return;
  // Blocks of sizes that nobody wants any more would be kept for ever, and this one be made again
  // and again.
  while (lent_ + kept_ + bytes > peak_) {
    freed.push_back(oldest());
    if (!freed.back()) return;
  }
  kept_ += bytes;
  block->given = ++gifts_;
  idle_.emplace(bytes, std::move(block));
}

void Blocks::trim(size_t most) {
  const std::lock_guard lock(mutex_);
  while (kept_ > most) {
    const auto last = std::prev(idle_.end());
    kept_ -= last->first;
    idle_.erase(last);
  }
  peak_ = lent_ + kept_;
}

void Blocks::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  idle_.clear();
  kept_ = 0;
}

uint8_t* make_host_room(size_t bytes, std::unique_ptr<Memory>* memory) {
  if (!*memory || (*memory)->size() < bytes) {
    memory->reset();
    if (!allocate_host_memory(bytes + bytes / 8, memory).ok()) return nullptr;
  }
  return static_cast<uint8_t*>((*memory)->data());
}

Status make_host_block(size_t bytes, CtBlock** block) {
  auto made = std::make_unique<CtBlock>();
  CT_RETURN_IF_ERROR(allocate_host_memory(bytes, &made->memory));
  *block = made.release();
  return {};
}

void ref(CtBlock* block) { block->references.fetch_add(1, std::memory_order_relaxed); }

void unref(CtBlock* block) {
  if (block == nullptr || block->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block->owner && !block->owner->is_own()) return;
  std::unique_ptr<CtBlock> last(block);
  const std::shared_ptr<Blocks> owner = std::move(block->owner);
  if (owner) owner->give(std::move(last));
}

}  // namespace cudatransform::core
