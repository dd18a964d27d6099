// From a wavelet job to its launches: which kernels, in which order, with which parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device/kernel_family.h"
#include "cuda/dwt/engine.h"
#include "cuda/dwt/params.h"

namespace cudatransform::cuda {

// ---- Kernels by number ----

// The words are those of kernels.h. The fast kernels have values on both sides, or samples.
enum class KernelKind { kRows, kColumns, kFused, kFastValues, kFastSamples, kTwoLevels };

const KernelFamily& dwt_kernels();

// The number within dwt_kernels(); their count, where there is no such kernel. haar-shift has
// haar's. Passes have one pair.
uint32_t dwt_kernel_number(KernelKind kind, Wavelet wavelet, Direction direction, int coef_bytes,
                           int pairs);

bool has_two_level_kernel(Wavelet wavelet);

// ---- Launches ----

struct DwtLaunch {
  uint32_t kernel;  // of dwt_kernels()
  unsigned ctas;
  bool is_pass;       // its parameters: `pass`, or `fused`
  bool waits_itself;  // for its predecessor in the stream
  PassParams pass;
  TwoLevelParams fused;  // `coarse` for a launch of two levels alone
};

// Device memory that a job needs between its launches.
size_t dwt_scratch_bytes(const DwtJob& job);

// The launches of a job in one direction, in their order.
class DwtPlan {
 public:
  // `scratch` has dwt_scratch_bytes(). `sums` may be null, and is added to. `compares` has the
  // inverse compare with the samples of the job, without writing them.
  DwtPlan(const DwtJob& job, Direction direction, uint8_t* scratch, PictureSums* sums,
          bool compares, DwtKernelChoice choice = DwtKernelChoice::kAuto);

  // Prepares the next launch; false: there is none.
  bool next(DwtLaunch* launch);

 private:
  struct Level {
    int index;  // 0 is the coarsest
    bool both, first, last;
  };
  int level_count() const { return job_.levels.both + job_.levels.horizontal; }
  Level level(int index) const;
  bool is_fused(const Level& level) const;
  // Whether the finest level's results are stored as values: no sample is cut off or converted.
  bool writes_values(const Level& level) const;
  bool may_be_fast(const Level& level) const;
  bool may_wait_on_device(int index) const;
  int pairs_a_lane(const Level& level, bool fast) const;

  ValuesParams band(int component, int index) const;
  ValuesParams between(int component, int level) const;  // a level's result from its bands
  ValuesParams half(int component) const;                // between the passes of a level
  ValuesParams low_band(const Level& level, int component) const;
  ValuesParams high_band(const Level& level, int component, int kind) const;
  int32_t width_of(int component, int level) const;
  int32_t height_of(int component, int level) const;
  SamplesParams samples(const SamplePlane& plane, bool written) const;

  // Whether a launch makes this level and the next one, the finest.
  bool takes_two(const Level& level) const;
  void make_fused(const Level& level, DwtLaunch* launch) const;
  void make_two_levels(const Level& coarse, const Level& fine, DwtLaunch* launch) const;
  void set_bands(const Level& level, int component, TileParams* tile) const;
  void make_pass(const Level& level, bool rows, DwtLaunch* launch) const;
  void set_segments(const Level& level, bool rows, int component, PassParams* pass) const;
  void set_measuring(const Level& level, MeasureParams* measure) const;

  const DwtJob& job_;
  const Direction direction_;
  uint8_t* const scratch_;
  PictureSums* const sums_;
  const bool compares_;
  const DwtKernelChoice choice_;
  int step_ = 0;  // levels so far
  int pass_ = 0;  // of the level
};

}  // namespace cudatransform::cuda
