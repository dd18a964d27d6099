// Memory that a device writes files to, pushed downstream without a copy.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/file_memory.h"

#include <algorithm>
#include <utility>

namespace cudatransform {

size_t room_for(size_t bytes) {
  constexpr size_t kMinRoom = 4096;
  size_t step = kMinRoom;
  while (step * 16 < bytes) step *= 2;
  return (bytes / step + 2) * step;
}

Status FileMemory::take(Engine& engine, gsize bytes, std::unique_ptr<Memory>* memory) {
  std::unique_ptr<Memory> outgrown;  // freed without the lock: it may be slow
  {
    const std::lock_guard lock(mutex_);
    const auto fits = [&](const auto& one) { return one->size() >= bytes; };
    const auto found = std::find_if(idle_.begin(), idle_.end(), fits);
    const auto chosen = found != idle_.end() || idle_.empty() ? found : idle_.begin();
    if (chosen != idle_.end()) {
      outgrown = std::move(*chosen);
      idle_.erase(chosen);
      idle_bytes_ -= outgrown->size();
    }
    if (outgrown && outgrown->size() >= bytes) {
      *memory = std::move(outgrown);
      return {};
    }
  }
  outgrown.reset();
  return engine.allocate_for_copies(bytes, memory);
}

void FileMemory::give(std::unique_ptr<Memory> memory) {
  const std::lock_guard lock(mutex_);
  const bool kept =
      memory && !closed_ && idle_.size() < kMaxIdle && idle_bytes_ + memory->size() <= kMaxBytes;
  if (!kept) return;
  idle_bytes_ += memory->size();
  idle_.push_back(std::move(memory));
}

GstBuffer* FileMemory::wrap(std::unique_ptr<Memory>* memory, gsize offset, gsize size) {
  {
    const std::lock_guard lock(mutex_);
    if (lent_ >= kMaxLent || lent_bytes_ + (*memory)->size() > kMaxBytes) return nullptr;
    ++lent_;
    lent_bytes_ += (*memory)->size();
  }
  auto* const lent = new Lent{shared_from_this(), std::move(*memory)};
  return gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), lent->memory->data(),
                                     lent->memory->size(), offset, size, lent, [](gpointer data) {
                                       const std::unique_ptr<Lent> back(static_cast<Lent*>(data));
                                       back->owner->come_back(std::move(back->memory));
                                     });
}

void FileMemory::come_back(std::unique_ptr<Memory> memory) {
  {
    const std::lock_guard lock(mutex_);
    --lent_;
    lent_bytes_ -= memory->size();
  }
  give(std::move(memory));
}

void FileMemory::close() {
  std::vector<std::unique_ptr<Memory>> gone;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  gone.swap(idle_);
  idle_bytes_ = 0;
}

}  // namespace cudatransform
