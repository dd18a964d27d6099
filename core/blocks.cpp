// Reference-counted blocks of memory for results, kept for later ones.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/blocks.h"

#include <algorithm>
#include <bit>
#include <string>

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

void Blocks::keep(uint64_t most, Dropped* dropped) {
  while (kept_ > most) {
    const auto oldest = std::min_element(
        idle_.begin(), idle_.end(),
        [](const auto& a, const auto& b) { return a.second->given < b.second->given; });
    dropped->push_back(std::move(oldest->second));
    kept_ -= oldest->first;
    idle_.erase(oldest);
  }
}

Status Blocks::take(size_t wanted, CtBlock** block) {
  const size_t bytes = rounded(wanted);
  {
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<CtBlock> found = find(bytes);
    if (!found && most_ > 0) {
      if (lent_ + bytes > most_)
        return Status::error(StatusCode::kOutOfMemory,
                             "a picture needs " + std::to_string(wanted) +
                                 " bytes of memory, and " + std::to_string(lent_) +
                                 " of max_device_memory=" + std::to_string(most_) + " are in use");
      keep(most_ - lent_ - bytes, &dropped);
    }
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
    {
      Dropped dropped;
      const std::lock_guard lock(mutex_);
      keep(0, &dropped);
    }
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
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  lent_ -= bytes;
  const uint64_t room = most_ > 0 ? std::min(peak_, most_) : peak_;
  if (closed_ || lent_ + bytes > room) return;
  // Blocks of sizes that nobody wants any more would be kept for ever, and this one be made again
  // and again.
  keep(room - lent_ - bytes, &dropped);
  kept_ += bytes;
  block->given = ++gifts_;
  idle_.emplace(bytes, std::move(block));
}

void Blocks::trim(size_t most) {
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  keep(most, &dropped);
  peak_ = lent_ + kept_;
}

void Blocks::limit(uint64_t most) {
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  most_ = most;
  if (most > 0) keep(most - std::min(most, lent_), &dropped);
}

void Blocks::close() {
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  keep(0, &dropped);
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
