// Page-locked memory that a device writes files to and that goes downstream as it is.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <vector>

#include "gst/engine/engine.h"

namespace cudatransform {

// Buffers come back from any thread, at any time: each keeps this object alive.
class FileMemory : public std::enable_shared_from_this<FileMemory> {
 public:
  // At least `bytes`, page-locked if possible.
  Status take(Engine& engine, gsize bytes, std::unique_ptr<Memory>* memory);
  void give(std::unique_ptr<Memory> memory);
  // A buffer of `size` bytes from `offset` on, without a copy; the memory comes back with it. Null,
  // with `*memory` in place, if buffers already hold as much as may be page-locked.
  GstBuffer* wrap(std::unique_ptr<Memory>* memory, gsize offset, gsize size);
  // Stops keeping memory.
  void close();

 private:
  static constexpr size_t kMostLent = 32, kMostIdle = 16;
  static constexpr gsize kMostBytes = gsize{1} << 27;  // lent, and idle
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
