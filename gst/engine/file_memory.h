// Memory that a device writes files to, pushed downstream without a copy.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <vector>

#include "gst/engine/engine.h"
#include "transform/device/device.h"

namespace cudatransform {

// More than `bytes`, in steps of an eighth, so that files that grow slowly do not allocate every
// time.
size_t room_for(size_t bytes);

// Buffers are returned by any thread, at any time: each keeps this object alive.
class FileMemory : public std::enable_shared_from_this<FileMemory> {
 public:
  // At least `bytes`, pinned if possible.
  Status take(Engine& engine, gsize bytes, std::unique_ptr<Memory>* memory);
  void give(std::unique_ptr<Memory> memory);
  // A buffer of `size` bytes from `offset` on, without a copy; the memory returns with it. Null,
  // with `*memory` in place, if buffers already hold as much as may be pinned.
  GstBuffer* wrap(std::unique_ptr<Memory>* memory, gsize offset, gsize size);
  // Stops keeping memory.
  void close();

 private:
  static constexpr size_t kMaxLent = 32, kMaxIdle = 16;
  static constexpr gsize kMaxBytes = gsize{1} << 27;  // lent, and idle
  struct Lent {
    std::shared_ptr<FileMemory> owner;
    std::unique_ptr<Memory> memory;
  };
  void come_back(std::unique_ptr<Memory> memory);

  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<Memory>> idle_;
  size_t lent_ = 0;
  gsize lent_bytes_ = 0, idle_bytes_ = 0;
  bool closed_ = false;
};

}  // namespace cudatransform
