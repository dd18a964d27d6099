// Entropy decoding of APV: the chain of one component's blocks in one tile on the CPU, and a whole
// frame as a job for a device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "apv/codes.h"
#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// The blocks of a component in a tile, macroblock by macroblock.
struct ApvChainPlaces {
  int16_t* first = nullptr;  // the 64 coefficients of the first block
  ptrdiff_t row_pitch = 0;   // coefficients from a block to the one below it
  uint32_t mbs_across = 0, mbs_down = 0;
  uint32_t mb_blocks_across = 0;  // 1 or 2; down there are always 2

  uint64_t blocks() const { return uint64_t{mbs_across} * mbs_down * mb_blocks_across * 2; }
};

// Writes all coefficients of all blocks, row by row. From the block on in which an error is found
// they are zero, which is mid-gray; all earlier ones stay. Reads no byte outside of `data`.
ApvChainError decode_apv_chain(std::span<const uint8_t> data, const ApvChainPlaces& places);

// ---- On a device ----

class ApvFrame;

struct ApvEntropyJob {
  const ApvFrame* frame = nullptr;
  // The device decodes the chains of up to as many bytes.
  uint32_t max_bytes = UINT32_MAX;
  // In pinned memory: `block_bytes()` of the engine for the frame, which it fills and sends, and
  // frame->chain_count() ApvChainErrors. Both belong to the job until it is done.
  uint8_t* block = nullptr;
  uint32_t* results = nullptr;
  // Device memory for frame->coef_count() coefficients, of which those of these chains are all
  // written. Aligned to 16 bytes.
  int16_t* coefs = nullptr;
};
inline constexpr size_t kMaxApvEntropyJobs = 24;  // of a submission

struct ApvEntropyOps {
  const char* name;
  size_t (*block_bytes)(const ApvFrame& frame);
  // Jobs on several queues overlap: a chain is a thread, so that few frames leave a device idle.
  Status (*make_queue)(Device& device, std::unique_ptr<Queue>* queue);
  // Fills a part of a job's block: one of `parts`, of about the same size. Any thread.
  Status (*stage)(const ApvEntropyJob& job, int part, int parts);
  // Of staged jobs, up to kMaxApvEntropyJobs, which share a launch. Returns at once. `done` is done
  // when coefficients and results are complete. `in_flight`: about how many jobs the device has at
  // a time, these included.
  Status (*submit)(Device& device, Queue& queue, std::span<const ApvEntropyJob> jobs, int in_flight,
                   FencePtr* done);
};

}  // namespace cudatransform
