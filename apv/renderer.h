// From frames of APV to samples on a device, by jobs for any engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "apv/entropy.h"
#include "apv/frame.h"
#include "transform/apv/apv.h"
#include "transform/device/device.h"
#include "transform/device/memory_budget.h"
#include "transform/device/status.h"

namespace cudatransform {

// Where the samples of a frame go, in the device's memory.
struct ApvSamples {
  void* data[kMaxApvComponents] = {};
  ptrdiff_t pitch[kMaxApvComponents] = {};  // bytes
  int shift = 0;                            // of a sample in its 16 bits
};

// The operations of one engine.
struct ApvRenderOps {
  const ApvInverseOps* inverse;
  const ApvEntropyOps* entropy;  // null: the CPU's
};

class ApvRenderer;

// A frame and its coefficients between entropy decoding and rendering. Its memory returns to the
// renderer, which outlives it.
class ApvPicture {
 public:
  ApvPicture() = default;
  ~ApvPicture() { release(); }
  ApvPicture(const ApvPicture&) = delete;
  ApvPicture& operator=(const ApvPicture&) = delete;

  ApvFrame frame;

  // Whether the device decodes, by ApvRenderer::decode(); otherwise decode_tile() does.
  bool is_on_device() const { return is_on_device_; }
  // Between prepare() and render(), any thread; different tiles at the same time.
  int tile_count() const { return static_cast<int>(frame.tiles().size()); }
  void decode_tile(int tile) {
    frame.decode_tile(tile, static_cast<int16_t*>(coefs_.memory->data()));
  }
  // Whether wait() has nothing to wait for. Any thread, once decode() has returned.
  bool is_decoded() const { return decoded_ == nullptr || decoded_->done(); }
  // Waits for the device's decoding, and notes the damage.
  Status wait();

 private:
  friend class ApvRenderer;
  void release();

  ApvRenderer* renderer_ = nullptr;
  bool is_on_device_ = false;
  BudgetedPool::Block coefs_;   // in host memory or, if the device decodes, in its own
  BudgetedPool::Block staged_;  // in pinned memory: results, and the block that is sent
  std::unique_ptr<Queue> queue_;
  FencePtr decoded_;       // stays, for threads that look at it
  bool is_noted_ = false;  // the damage
};

// One thread at a time, except where a comment says otherwise.
class ApvRenderer {
 public:
  // `budget` limits its memory; null: there is no limit.
  ApvRenderer(Device& device, const ApvRenderOps& ops, MemoryBudgetPtr budget = nullptr)
      : device_(device), ops_(ops), budget_(some_budget(std::move(budget))) {}

  bool can_decode_on_device() const { return ops_.entropy != nullptr; }
  // The most memory that a frame takes until it is rendered.
  uint64_t need(const ApvFrame& frame, bool on_device) const;
  // Frees memory that is kept for later frames. False: there is none.
  bool trim();

  // Takes memory for the coefficients of picture->frame, which begin() has accepted. Any thread.
  Status prepare(ApvPicture* picture, bool on_device = false);
  // Any thread: the device begins to decode the picture, which is prepared for that.
  // `in_flight`: about how many it decodes at a time.
  Status decode(ApvPicture* picture, int in_flight);
  // All tiles have been decoded. The samples are complete behind the compute queue's work.
  Status render(ApvPicture* picture, const ApvSamples& to);

 private:
  friend class ApvPicture;
  static constexpr size_t kMaxPictures = 64, kMaxQueues = 32;
  Queue& queue() { return device_.queue(QueueKind::kCompute); }
  Status upload(ApvPicture* picture, const int16_t** coefs);
  Status take_queue(std::unique_ptr<Queue>* queue);
  void take_back(ApvPicture& picture);

  Device& device_;
  const ApvRenderOps ops_;
  const MemoryBudgetPtr budget_;
  BudgetedPool pictures_{MemoryKind::kPinned, kMaxPictures, budget_};
  BudgetedPool on_device_{MemoryKind::kDevice, kMaxPictures, budget_};
  BudgetedPool staged_{MemoryKind::kPinned, kMaxPictures, budget_};
  std::unique_ptr<Memory> uploaded_;
  std::mutex mutex_;  // guards idle_
  std::vector<std::unique_ptr<Queue>> idle_;
};

}  // namespace cudatransform
