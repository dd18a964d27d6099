// Queues beside each other for pictures that need no other.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// A queue with memory that its work uses in turn.
struct DiracLane {
  Queue* queue = nullptr;
  std::unique_ptr<Memory> scratch;  // pyramids and residual
  std::unique_ptr<Queue> own;       // null: the device's. Waits for its work before scratch goes
};

// Thread safe: each lane is one thread's from take() to give(). They take turns, so that the work
// of several is on the device at once.
class DiracLanes {
 public:
  using MakeQueue = Status (*)(Device& device, std::unique_ptr<Queue>* queue);

  // Waits while all are in use.
  Status take(Device& device, MakeQueue make_queue, DiracLane** lane);
  void give(DiracLane* lane);

 private:
  // More gain nothing: a picture is a few launches, and the device is full with three or four.
  static constexpr size_t kMost = 4;

  std::mutex mutex_;
  std::condition_variable given_;
  std::vector<std::unique_ptr<DiracLane>> lanes_;
  std::deque<DiracLane*> free_;  // the one that has been longest first
};

}  // namespace cudatransform
