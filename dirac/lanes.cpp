// Queues beside each other for pictures that need no other.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/lanes.h"

#include <utility>

namespace cudatransform {

Status DiracLanes::take(Device& device, MakeQueue make_queue, DiracLane** lane) {
  std::unique_lock lock(mutex_);
  if (lanes_.size() < kMost) {
    auto made = std::make_unique<DiracLane>();
    CT_RETURN_IF_ERROR(make_queue(device, &made->own));
    made->queue = made->own.get();
    *lane = made.get();
    lanes_.push_back(std::move(made));
    return {};
  }
  given_.wait(lock, [this] { return !free_.empty(); });
  *lane = free_.front();
  free_.pop_front();
  return {};
}

void DiracLanes::give(DiracLane* lane) {
  {
    std::lock_guard lock(mutex_);
    free_.push_back(lane);
  }
  given_.notify_one();
}

}  // namespace cudatransform
