// From frames of APV to samples on a device, by jobs for any engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "apv/frame.h"
#include "dirac/memory.h"
#include "transform/apv/apv.h"
#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// Where the samples of a frame go, in the device's memory.
struct ApvSamples {
  void* data[kMaxApvComponents] = {};
  ptrdiff_t pitch[kMaxApvComponents] = {};  // bytes
  int shift = 0;                            // of a sample in its 16 bits
};

// A frame and its coefficients between entropy decoding and rendering. Its memory returns to the
// renderer, which outlives it.
class ApvPicture {
 public:
  ApvPicture() = default;
  ~ApvPicture() { release(); }
  ApvPicture(const ApvPicture&) = delete;
  ApvPicture& operator=(const ApvPicture&) = delete;

  ApvFrame frame;

  // Between prepare() and render(), any thread; different tiles at the same time.
  int tile_count() const { return static_cast<int>(frame.tiles().size()); }
  void decode_tile(int tile) {
    frame.decode_tile(tile, static_cast<int16_t*>(coefs_.memory->data()));
  }

 private:
  friend class ApvRenderer;
  void release();

  DiracMemoryPool* pool_ = nullptr;
  DiracMemoryPool::Block coefs_;  // in host memory
};

// One thread at a time, except where a comment says otherwise.
class ApvRenderer {
 public:
  // `budget` limits its memory; null: there is no limit.
  ApvRenderer(Device& device, const ApvInverseOps& inverse, MemoryBudgetPtr budget = nullptr)
      : device_(device), inverse_(inverse), budget_(some_budget(std::move(budget))) {}

  // The most memory that a frame takes until it is rendered.
  uint64_t need(const ApvFrame& frame) const;
  // Frees memory that is kept for later frames. False: there is none.
  bool trim();

  // Takes memory for the coefficients of picture->frame, which begin() has accepted. Any thread.
  Status prepare(ApvPicture* picture);
  // All tiles have been decoded. The samples are complete behind the compute queue's work.
  Status render(ApvPicture* picture, const ApvSamples& to);

 private:
  static constexpr size_t kMaxPictures = 64;
  Queue& queue() { return device_.queue(QueueKind::kCompute); }
  Status upload(ApvPicture* picture, const int16_t** coefs);

  Device& device_;
  const ApvInverseOps& inverse_;
  const MemoryBudgetPtr budget_;
  DiracMemoryPool pictures_{MemoryKind::kPinned, kMaxPictures, budget_};
  std::unique_ptr<Memory> uploaded_;
};

}  // namespace cudatransform
