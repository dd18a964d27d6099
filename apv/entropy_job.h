// Entropy decoding of a whole frame of APV as a job for a device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "apv/frame.h"
#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

struct ApvEntropyJob {
  const ApvFrame* frame = nullptr;
  // In pinned memory: `block_bytes()` of the engine for the frame, which it fills and sends, and an
  // ApvChainError for each component of each tile. Both belong to the job until it is done.
  uint8_t* block = nullptr;
  uint32_t* results = nullptr;
  // Device memory for frame->coef_count() coefficients, all of which are written. Aligned to 16
  // bytes.
  int16_t* coefs = nullptr;
  int in_flight = 1;  // about how many such jobs the device has at a time
};

struct ApvEntropyOps {
  const char* name;
  size_t (*block_bytes)(const ApvFrame& frame);
  // Jobs on several queues overlap: a chain is a thread, so that few frames leave a device idle.
  Status (*make_queue)(Device& device, std::unique_ptr<Queue>* queue);
  // Returns at once. `done` is done when coefficients and results are complete.
  Status (*submit)(Device& device, Queue& queue, const ApvEntropyJob& job, FencePtr* done);
};

// How many results a frame has.
inline size_t apv_chain_count(const ApvFrame& frame) {
  return frame.tiles().size() * static_cast<size_t>(frame.info().components());
}

}  // namespace cudatransform
