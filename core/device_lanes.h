// Chunks of JPEG pictures on a CUDA device: each lane decodes one chunk at a time, beside others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/jpeg_batches.h"
#include "jpeg/parallel_decode.h"
#include "transform/device/device.h"

namespace cudatransform::core {

// Neighbors of a batch whose launches are shared.
struct Chunk;
// A queue of the device, with memory that serves one chunk after the other.
struct Lane;

class DeviceLanes {
 public:
  // kNotFound: this build has no code for the device.
  static Status make(JpegBatches& batches, std::unique_ptr<DeviceLanes>* made);
  ~DeviceLanes();  // nothing is under way

  // Takes a batch whose items have been prepared. Called by one of the engine's threads.
  void add(JpegBatch& batch);

 private:
  explicit DeviceLanes(JpegBatches& batches);
  void start_waiting();
  void start(Chunk& chunk);
  Status place(Chunk& chunk);
  void pack(Chunk& chunk, size_t i);
  Status submit(Chunk& chunk);
  void collect();
  void settle(Chunk& chunk);
  void decode_again(Chunk& chunk, size_t i);
  void give_up(Chunk& chunk, const Status& why);

  JpegBatches& batches_;
  CtEngine& engine_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::deque<std::unique_ptr<Chunk>> waiting_, submitted_;
  bool ends_ = false;
  std::thread collector_;
};

}  // namespace cudatransform::core
