// From decoded pictures to samples on a device: dequantizer, wavelet, motion compensation,
// references.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "dirac/jobs.h"
#include "dirac/order.h"
#include "dirac/picture.h"
#include "transform/device/device.h"
#include "transform/device/status.h"
#include "transform/dwt/dwt.h"
#include "transform/obmc/obmc.h"
#include "transform/picture.h"

namespace cudatransform {

// A component's samples side by side, rows aligned; without data.
SamplePlane describe_dirac_plane(const DiracSequence& sequence, int component, SampleType type);
// The sample type of a component of a rendered picture.
SampleType dirac_sample_type(const DiracSequence& sequence, int component);
inline size_t bytes_of_plane(const SamplePlane& plane) {
  return static_cast<size_t>(plane.pitch) * static_cast<size_t>(plane.height);
}
// The bytes of a picture's samples.
size_t bytes_of_dirac_picture(const DiracSequence& sequence);
// The bytes of a frame that is written, all of whose samples are as wide as the widest.
size_t bytes_of_dirac_frame(const DiracSequence& sequence);

// Whether there is a transform.
bool has_dirac_levels(const DiracPicture& picture);
// Whether its inverse may write the picture's samples itself.
bool writes_dirac_samples(const DiracPicture& picture);

// The places of a picture's coefficients and residual in the scratch memory; `is_final`: the
// residual is the samples, which are elsewhere.
struct DiracResidualPlaces {
  ptrdiff_t pyramid_pitch[kMaxComponents], residual_pitch[kMaxComponents];
  size_t pyramid[kMaxComponents], residual[kMaxComponents];
  size_t pyramid_bytes = 0, bytes = 0;
};

DiracResidualPlaces dirac_residual_places(const DiracPicture& picture, size_t coef_bytes,
                                          bool is_final);

// One renderer for all engines: on the host every call has done its work when it returns, on a CUDA
// device it has enqueued it.

// The samples of a picture in the device's memory: 8 bits each where the component has at most 8,
// else 16, in the lower bits. Its half-sample positions are there, and have memory, when a picture
// has requested them.
struct DiracRendered {
  std::shared_ptr<const DiracSequence> sequence;
  uint32_t number = 0;
  bool is_damaged = false;  // itself, or a picture that it was predicted from
  SamplePlane samples[kMaxComponents];
  ObmcReference reference;
  bool is_upsampled = false;
  std::unique_ptr<Memory> memory, half_memory;
  FencePtr ready;  // null: it is
  // A reader with a separate queue adds a fence, after which the memory is used again.
  FencePtr read;
};
using DiracRenderedPtr = std::shared_ptr<DiracRendered>;

// The times of the stages of rendering on the device, in nanoseconds.
struct DiracRenderTimes {
  uint64_t wavelet = 0;   // dequantizing and the inverse transform
  uint64_t upsample = 0;  // half-sample positions of references
  uint64_t motion = 0;    // prediction from blocks, the sum with the residual, clipping
};

// The part of a picture's work that is done before it is rendered. It is freed before the renderer
// is.
class DiracAhead {
 public:
  explicit DiracAhead(BudgetedPool& pool) : pool_(pool) {}
  ~DiracAhead() {
    if (blocks_.memory != nullptr) pool_.give(std::move(blocks_));
  }
  DiracAhead(const DiracAhead&) = delete;
  DiracAhead& operator=(const DiracAhead&) = delete;

 private:
  friend class DiracRenderer;
  BudgetedPool& pool_;
  std::unique_ptr<DiracPrepared> qcoefs_;
  BudgetedPool::Block blocks_;  // where the device reads them from
  ObmcInspection inspection_;
};

// The rendering operations of one engine.
struct DiracRenderOps {
  const DiracDequantizeOps* dequantize;
  const DwtOps* dwt;
  const ObmcOps* obmc;
};

// The maximum memory that rendering a picture takes, without its own.
struct DiracRenderNeed {
  uint64_t own = 0;     // stays with it, or with the frame that is shown
  uint64_t shared = 0;  // serves the next picture, too
  // Of the samples of this picture and those before it, what the renderer keeps memory for.
  uint64_t kept = 0;
};

// Takes pictures in the order in which they are coded. One thread at a time.
class DiracRenderer {
 public:
  // `budget` limits its memory; null: there is no limit.
  DiracRenderer(Device& device, const DiracRenderOps& ops, MemoryBudgetPtr budget = nullptr)
      : device_(device), ops_(ops), budget_(some_budget(std::move(budget))) {}

  // Any thread, before the first task. `waiting`: pictures that are rendered before it.
  DiracRenderNeed need(const DiracPicture& picture, size_t waiting) const;
  // Frees memory that is kept for later pictures. False: there is none.
  bool trim();
  // Frees the half-sample positions of references, which the next picture that needs them computes
  // again. False: there are none.
  bool forget_half_positions() { return forget_half_positions(nullptr); }

  bool reads_slices() const { return ops_.dequantize->takes_slices; }
  // Any thread, before the first task: passes to the engine the slices that it can decode.
  void take_slices(DiracPicture& picture) const {
    if (ops_.dequantize->takes_slices) picture.defer_slices();
  }
  // Any thread, also while others are rendered: does work ahead for a picture whose tasks
  // have ended.
  Status prepare(const DiracPicture& picture, std::unique_ptr<DiracAhead>* ahead);
  // `picture`: all its tasks have ended; not used after the call. `ahead`: by prepare(); null:
  // none. A reference that is missing is mid-gray.
  Status render(const DiracPicture& picture, std::unique_ptr<DiracAhead> ahead,
                DiracRenderedPtr* rendered);
  // The times of pictures whose work has ended, in their order. False: all have been reported.
  bool next_times(DiracRenderTimes* times);
  // Forgets the references: a stream was left or another one begins.
  void reset() { references_.clear(); }

 private:
  // The stages of a picture in flight. A picture may have both references upsampled.
  struct Stages {
    std::unique_ptr<Timer> wavelet, upsample[kMaxObmcReferences], motion;
    bool has_wavelet = false, has_upsample[kMaxObmcReferences] = {}, has_motion = false;
  };
  Queue& queue() { return device_.queue(QueueKind::kCompute); }
  std::unique_ptr<Stages> begin_stages();
  template <typename Work>
  Status timed(std::unique_ptr<Timer>& timer, const Work& work);

  Status make_picture(const std::shared_ptr<const DiracSequence>& sequence,
                      DiracRenderedPtr* rendered);
  Status make_gray(const std::shared_ptr<const DiracSequence>& sequence,
                   DiracRenderedPtr* rendered);
  Status make_residual(const DiracPicture& picture, DiracPrepared* prepared, bool is_final,
                       SamplePlane* residual);
  Status invert(const DiracPicture& picture, const DwtPlane* pyramids, SamplePlane* residual);
  Status take_blocks(const DiracPicture& picture, DiracAhead* ahead);
  Status predict(const DiracPicture& picture, const DiracRenderedPtr* found, Stages& stages,
                 DiracAhead* ahead, ObmcJob* job);
  // `kept`: the references of the requesting picture, whose half-sample positions stay.
  Status upsample(DiracRendered* rendered, const DiracRenderedPtr* kept);
  bool forget_half_positions(const DiracRenderedPtr* kept);
  Status take_memory(BudgetedPool& pool, size_t bytes, const DiracRenderedPtr* kept,
                     BudgetedPool::Block* block);
  Status find_references(const DiracPicture& picture, DiracRenderedPtr* found, bool* is_damaged);

  Device& device_;
  const DiracRenderOps ops_;
  const MemoryBudgetPtr budget_;
  std::shared_ptr<const DiracSequence> sequence_;
  static constexpr size_t kMaxPictures = 8, kMaxPrepared = 64;
  const std::shared_ptr<BudgetedPool> pictures_ =
      std::make_shared<BudgetedPool>(MemoryKind::kDevice, kMaxPictures, budget_);
  const std::shared_ptr<BudgetedPool> halves_ =
      std::make_shared<BudgetedPool>(MemoryKind::kDevice, kMaxPictures, budget_);
  BudgetedPool pinned_{MemoryKind::kPinned, kMaxPrepared, budget_};
  BudgetedPool pinned_blocks_{MemoryKind::kPinned, kMaxPrepared, budget_};
  DiracReferences<DiracRenderedPtr> references_;
  std::unique_ptr<Memory> scratch_;          // pyramids and residual
  std::atomic<uint64_t> scratch_bytes_ = 0;  // of which
  static constexpr size_t kMaxReported = 64;
  std::deque<std::unique_ptr<Stages>> under_way_;
  std::vector<std::unique_ptr<Stages>> free_stages_;
};

}  // namespace cudatransform
