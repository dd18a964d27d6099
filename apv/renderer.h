// From frames of APV to samples on a device, by jobs for any engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "apv/entropy.h"
#include "apv/frame.h"
#include "apv/split.h"
#include "transform/apv/apv.h"
#include "transform/device/device.h"
#include "transform/device/memory_budget.h"
#include "transform/device/status.h"

namespace cudatransform {

// The destination of a frame's samples, in the device's memory.
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

  // Whether the device decodes chains, by ApvRenderer::decode(), and how many bytes of them.
  bool is_on_device() const { return on_device_ != kNoApvChains; }
  uint64_t bytes_on_device() const { return bytes_on_device_; }
  // The number of the others, which decode_chain() decodes, the longest first: between prepare()
  // and render(), any thread; different ones at the same time.
  size_t host_chains() const { return host_chains_.size(); }
  void decode_chain(size_t i);
  // Any thread, once decode() has returned: whether the device has the picture, which decode() may
  // keep until others join it; and whether wait() has nothing to wait for.
  bool is_begun() const { return batch_ == nullptr || batch_->is_begun; }
  bool is_decoded() const { return batch_ == nullptr || (batch_->is_begun && batch_->is_done()); }
  // Makes the device begin. A failure is wait()'s.
  void begin();
  // Waits for the device's decoding, and notes the damage.
  Status wait();

 private:
  friend class ApvRenderer;
  // Pictures that a launch decodes. The renderer's lock guards it until it has begun.
  struct Batch {
    bool is_done() const { return done == nullptr || done->done(); }

    std::vector<ApvPicture*> pictures;
    std::unique_ptr<Queue> queue;
    size_t bytes = 0;  // that are sent
    int in_flight = 1;
    std::atomic<bool> is_begun = false;
    FencePtr done;  // null: nothing is in flight
    Status status;
  };
  void release();

  ApvRenderer* renderer_ = nullptr;
  uint32_t on_device_ = kNoApvChains;
  uint64_t bytes_on_device_ = 0;
  std::vector<uint32_t> host_chains_;
  BudgetedPool::Block coefs_;         // in host memory, of the chains that are decoded there
  BudgetedPool::Block device_coefs_;  // in the device's memory, if it decodes
  BudgetedPool::Block staged_;        // in pinned memory: results, and the block that is sent
  std::shared_ptr<Batch> batch_;      // null: the CPU decodes
  bool is_noted_ = false;             // the damage
  // Of a picture that both decode, guarded by the renderer's upload_mutex_ until all chains have
  // been decoded: how many are being uploaded, and the end of that.
  size_t uploading_ = 0;
  FencePtr uploaded_;
  Status upload_status_;
};

// One thread at a time, except where a comment says otherwise.
class ApvRenderer {
 public:
  // `budget` limits its memory; null: there is no limit.
  ApvRenderer(Device& device, const ApvRenderOps& ops, MemoryBudgetPtr budget = nullptr)
      : device_(device), ops_(ops), budget_(some_budget(std::move(budget))) {}

  bool can_decode_on_device() const { return ops_.entropy != nullptr; }
  // The most memory that a frame takes until it is rendered, without what is kept. `on_device`: the
  // chains that the device decodes.
  uint64_t need(const ApvFrame& frame, uint32_t on_device) const;
  // Frees memory that is kept for later frames. False: there is none.
  bool trim();
  // The same of memory that does not serve this frame.
  bool trim_others(const ApvFrame& frame, uint32_t on_device);

  // Takes memory for the coefficients of picture->frame, which begin() has accepted. Any thread.
  Status prepare(ApvPicture* picture, uint32_t on_device = kNoApvChains);
  // For a picture of which the device decodes chains: copies a part of what that is sent. Any
  // thread, and one for each part at the same time.
  Status stage(const ApvPicture& picture, int part = 0, int parts = 1) const;
  // Any thread: the device decodes the picture, all parts of which are staged, as soon as there are
  // enough for a launch. `in_flight`: about how many it decodes at a time.
  Status decode(ApvPicture* picture, int in_flight);
  // All chains have been decoded. The samples are complete after the compute queue's work.
  Status render(ApvPicture* picture, const ApvSamples& to);

 private:
  friend class ApvPicture;
  static constexpr size_t kMaxPictures = 256, kMaxQueues = 16;
  Queue& queue() { return device_.queue(QueueKind::kCompute); }
  Status list_host_chains(ApvPicture* picture);
  Status upload(ApvPicture* picture, const int16_t** coefs);
  // Of a picture whose other chains the device decodes.
  void upload_chain(ApvPicture& picture, size_t chain);
  size_t staged_bytes(const ApvFrame& frame) const;
  ApvEntropyJob entropy_job(const ApvPicture& picture) const;
  // With mutex_.
  Status open_batch();
  void begin_batch();
  bool trim_kept();
  Status submit(ApvPicture::Batch& batch);
  void take_back(ApvPicture& picture);

  Device& device_;
  const ApvRenderOps ops_;
  const MemoryBudgetPtr budget_;
  // The frames of a launch end together. To free what the next ones take would stop the device.
  BudgetedPool pictures_{MemoryKind::kPinned, kMaxPictures, budget_, SIZE_MAX};
  BudgetedPool on_device_{MemoryKind::kDevice, kMaxPictures, budget_, SIZE_MAX};
  BudgetedPool staged_{MemoryKind::kPinned, kMaxPictures, budget_, SIZE_MAX};
  std::unique_ptr<Memory> uploaded_;
  std::mutex upload_mutex_;
  std::unique_ptr<Queue> upload_queue_;
  std::mutex mutex_;  // guards the rest
  std::vector<std::unique_ptr<Queue>> idle_;
  std::shared_ptr<ApvPicture::Batch> batch_;  // has not begun; null: there is none
};

}  // namespace cudatransform
