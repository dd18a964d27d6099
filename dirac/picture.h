// A picture of Dirac or VC-2 as a plain job: headers, quantized coefficients, blocks, and the tasks
// that decode them.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decoding needs no other picture. It is cut into tasks, most of which are independent: bands whose
// contexts depend on each other are one task, every stream of motion data is one, every few rows of
// slices. A caller runs them in order, or on threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "dirac/codes.h"
#include "dirac/motion.h"
#include "dirac/picture_header.h"
#include "dirac/qcoefs.h"
#include "dirac/sequence.h"
#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// Deviations of a stream's encoder from the specification.
struct DiracQuirks {
  // schroedinger before 1.0.8: a band that is one codeblock has no quantizer delta.
  bool no_delta_of_single_codeblocks = false;
};

class DiracPicture {
 public:
  explicit DiracPicture(MemoryBudgetPtr budget = nullptr)
      : budget_(some_budget(std::move(budget))), qcoefs_(budget_) {}
  DiracPicture(const DiracPicture&) = delete;
  DiracPicture& operator=(const DiracPicture&) = delete;

  // Reads the headers of a picture unit, whose bytes after the parse info are copied, or stay as
  // they are while `owner` is held. Fails if the picture cannot be decoded; otherwise damage() may
  // already report missing data, other than slices.
  Status begin(std::shared_ptr<const DiracSequence> sequence, const DiracParseInfo& info,
               std::span<const uint8_t> data, const DiracLimits& limits, DiracQuirks quirks,
               std::shared_ptr<const void> owner = nullptr);
  // The picture is not used any more, except for its memory.
  void forget();

  // The same of a picture in fragments: the first unit, then those with slices. A fragment that
  // does not belong to the picture is refused. end_fragments() comes before the first task.
  Status begin_fragments(std::shared_ptr<const DiracSequence> sequence, const DiracParseInfo& info,
                         std::span<const uint8_t> data, const DiracLimits& limits);
  Status add_fragment(std::span<const uint8_t> data, const DiracLimits& limits);
  bool has_all_slices() const { return slices_found_ == slice_count(); }
  void end_fragments();

  int task_count() const { return task_count_; }
  // The task that must have ended before `task` begins; -1: none. It has a lower number.
  int task_after(int task) const { return tasks_[task].after; }
  // Whether the task decodes block data; otherwise it decodes the residual.
  bool is_motion_task(int task) const { return tasks_[task].kind <= TaskKind::kDc; }
  // Different tasks may run at the same time.
  void run_task(int task);

  // Before the first task: passes slices to the renderer, if they are sound as far as can be seen
  // without decoding them. Their tasks do nothing then.
  bool defer_slices();
  // Without data where they have not been deferred.
  DiracSlices deferred_slices() const;

  // Valid from begin() on.
  const DiracSequence& sequence() const { return *sequence_; }
  const std::shared_ptr<const DiracSequence>& shared_sequence() const { return sequence_; }
  const DiracPictureHeader& header() const { return header_; }
  const DiracTransform& transform() const { return transform_; }
  const DiracPrediction& prediction() const { return prediction_; }
  // False: the residual of an inter picture is zero, and there is no transform.
  bool has_residual() const { return has_residual_; }
  // Valid when all tasks have ended; where slices have been deferred, the layout alone is. No
  // blocks: an intra picture.
  const DiracQcoefs& qcoefs() const { return qcoefs_; }
  const ObmcBlock* blocks() const { return grid_.blocks; }
  // The first damage, as text; null: none. Parts that could not be decoded are zero.
  const char* damage() const { return damage_.load(std::memory_order_relaxed); }
  // Whether tasks have found no memory. It cannot be rendered then.
  bool lacks_memory() const { return lacks_memory_.load(std::memory_order_relaxed); }
  // Bytes of the units that it came from, without parse infos.
  size_t coded_bytes() const { return used_; }

 private:
  // Those of block data come first.
  enum class TaskKind { kModes, kVectors, kDc, kBands, kSliceRows };
  struct Task {
    TaskKind kind;
    int first, second;  // which; see run_task()
    int after;
  };
  // Motion streams, every band, or groups of slice rows.
  static constexpr int kMaxSliceTasks = 64;
  static constexpr int kMaxTasks =
      kDiracMotionStreams + kMaxComponents * kMaxDwtBands + kMaxSliceTasks;

  void reset(std::shared_ptr<const DiracSequence> sequence);
  Status check_size(size_t size, uint64_t max_bytes) const;
  Status append(std::span<const uint8_t> data, uint64_t max_bytes);
  Status read_inter(DiracBits& bits);
  Status read_motion(DiracBits& bits);
  Status read_core_bands(DiracBits& bits, DiracQuirks quirks);
  Status begin_slices(uint64_t max_coefs);
  void find_slices(const DiracSliceRun& run);
  void find_slices_once();
  void add_task(TaskKind kind, int first, int second, int after);
  void add_band_tasks();
  void add_slice_tasks();
  void note_damage(const char* what);
  void decode_bands(int component, int first);
  bool decode_slice_rows(int32_t first, int32_t end);
  // `*memory` with at least this many bytes.
  Status provide(uint64_t bytes, std::unique_ptr<Memory>* memory);
  bool lay_out_wide();
  void widen_if_needed();
  int64_t slice_count() const { return int64_t{transform_.columns[0]} * transform_.rows[0]; }
  const uint8_t* data() const {
    if (owner_ != nullptr) return owned_;
    return bytes_ != nullptr ? static_cast<const uint8_t*>(bytes_->data()) : nullptr;
  }

  std::shared_ptr<const DiracSequence> sequence_;
  DiracPictureHeader header_;
  DiracPrediction prediction_;
  DiracTransform transform_;
  bool has_residual_ = true;
  bool defers_slices_ = false;

  const MemoryBudgetPtr budget_;
  std::unique_ptr<Memory> bytes_;
  std::shared_ptr<const void> owner_;
  const uint8_t* owned_ = nullptr;  // where the caller has the bytes
  size_t used_ = 0;
  DiracQcoefs qcoefs_;
  DiracBandCode bands_[kMaxComponents][kMaxDwtBands];
  std::unique_ptr<Memory> motion_memory_;
  DiracMotionGrid grid_;
  DiracMotionCode motion_[kDiracMotionStreams];
  std::unique_ptr<Memory> places_memory_;
  DiracSlicePlace* places_ = nullptr;
  int64_t slices_found_ = 0;
  // Each slice contains the position of the next one. Finding them takes as long as all else in
  // begin(), so the first task that needs them does it.
  std::mutex finding_;  // guards not_found_
  DiracSliceRun not_found_;

  Task tasks_[kMaxTasks];
  int task_count_ = 0;
  std::atomic<int> qcoef_tasks_left_{0};
  std::atomic<const char*> damage_{nullptr};
  std::atomic<bool> lacks_memory_{false};
};

}  // namespace cudatransform
