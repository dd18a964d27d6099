// The lanes of a CUDA device: each processes one chunk of pictures at a time, concurrently.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/threads.h"
#include "transform/device/device.h"
#include "transform/device/memory_budget.h"

namespace cudatransform::core {

// A queue of the device, with memory reused from chunk to chunk.
struct Lane {
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Memory> pinned;
  std::unique_ptr<Memory> qcoefs, planes, files;  // of the device
  bool is_alone = false;  // when it was taken, all others of its Lanes were idle
};

// Makes `*memory` at least as large, for chunks that differ by little.
inline Status make_room(Device& device, MemoryKind kind, size_t bytes,
                        std::unique_ptr<Memory>* memory) {
  return grow_memory(device, kind, bytes, memory, bytes + bytes / 8);
}

// Pictures whose launches are shared, and how they are done on a lane.
class Chunk {
 public:
  virtual ~Chunk() = default;
  virtual size_t count() const = 0;
  // Takes memory. One of the engine's threads.
  virtual Status place(Lane& lane) = 0;
  // Prepares picture `i` for submit(), concurrently with others. Does not throw.
  virtual void pack(Lane& lane, size_t i) = 0;
  // Enqueues all work.
  virtual Status submit(Lane& lane) = 0;
  // The work is over: takes the results, or fails all pictures if `status` is an error. Does not
  // throw.
  virtual void settle(Lane& lane, const Status& status) = 0;
  // The lane has been released: the last call before the chunk is destroyed.
  virtual void end() = 0;
};

// Used by all decoders and encoders of an engine.
class Lanes {
 public:
  static Status make(Device& device, Threads& threads, std::unique_ptr<Lanes>* made);
  ~Lanes();  // nothing is under way

  // Does the chunk when a lane is idle, after the chunks that wait already. Returns immediately.
  void add(std::unique_ptr<Chunk> chunk);
  // Frees the larger part of the memory of idle lanes.
  void trim();
  // Does it in the calling thread, for results that somebody waits for.
  void run(Chunk& chunk);

 private:
  struct Running {
    std::unique_ptr<Chunk> chunk;
    std::unique_ptr<Lane> lane;
    FencePtr done;
    Status status;
  };
  explicit Lanes(Threads& threads) : threads_(threads) {}
  void start_waiting();
  void start(Running* running);
  void submit(Running* running);
  void give(std::unique_ptr<Lane> lane);
  void collect();

  Threads& threads_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_, idle_wake_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::deque<std::unique_ptr<Chunk>> waiting_;
  std::deque<std::unique_ptr<Running>> submitted_;
  size_t callers_ = 0;  // that wait for a lane in run()
  bool ends_ = false;
  std::thread collector_;
};

}  // namespace cudatransform::core
