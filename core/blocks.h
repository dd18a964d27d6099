// Reference-counted blocks of memory for results, kept for later ones.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/cudatransform.h"
#include "transform/device/device.h"

namespace cudatransform::core {
class Blocks;
}

struct CtBlock {
  std::atomic<uint32_t> references{1};
  std::unique_ptr<cudatransform::Memory> memory;
  std::shared_ptr<cudatransform::core::Blocks> owner;  // null: freed with the last reference

  uint64_t given = 0;  // when it was last returned, by the owner's count

  uint8_t* data() const { return static_cast<uint8_t*>(memory->data()); }
};

namespace cudatransform::core {

// Blocks of an engine's memory of one kind. Any thread. Sizes are rounded up to an eighth of a
// power of two, so that pictures of similar sizes share blocks.
class Blocks : public std::enable_shared_from_this<Blocks> {
 public:
  // `most`: bytes lent and kept; 0: no limit.
  Blocks(std::shared_ptr<Device> device, MemoryKind kind, uint64_t most)
      : process_(getpid()), device_(std::move(device)), kind_(kind), most_(most) {}

  // False in a child of the process that has made it: the child leaves blocks as they are.
  bool is_own() const { return process_ == getpid(); }

  // kOutOfMemory where the device or `most` has no room.
  Status take(size_t bytes, CtBlock** block);
  void give(std::unique_ptr<CtBlock> block);
  // Frees kept blocks down to `most` bytes.
  void trim(size_t most);
  // `most` as of the constructor, from now on.
  void limit(uint64_t most);
  // Frees kept blocks, and keeps none from now on.
  void close();

 private:
  // Declared before a lock, so that blocks are freed without it: a device may take its time.
  using Dropped = std::vector<std::unique_ptr<CtBlock>>;

  // As many bytes are kept as blocks in use had at most at a time.
  std::unique_ptr<CtBlock> find(size_t bytes);
  // Keeps at most so many: drops the blocks that were unused for longest.
  void keep(uint64_t most, Dropped* dropped);

  const pid_t process_;
  const std::shared_ptr<Device> device_;
  const MemoryKind kind_;
  std::mutex mutex_;  // guards the members below
  uint64_t most_;
  std::multimap<size_t, std::unique_ptr<CtBlock>> idle_;
  uint64_t lent_ = 0, kept_ = 0, peak_ = 0, gifts_ = 0;
  bool closed_ = false;
};

// Host memory that a thread keeps for one picture after another. Makes `*memory` at least as large,
// and returns its address; null: there is no memory.
uint8_t* make_host_room(size_t bytes, std::unique_ptr<Memory>* memory);
// A block of ordinary memory with a single owner.
Status make_host_block(size_t bytes, CtBlock** block);
void ref(CtBlock* block);
void unref(CtBlock* block);

}  // namespace cudatransform::core
