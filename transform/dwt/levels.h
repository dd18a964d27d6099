// The levels of a component's transform, in groups of rows.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "transform/dwt/sliding_rows.h"

namespace cudatransform {

struct StripeSums {
  uint64_t sse = 0;
  uint64_t zeros = 0;
};

// One component of a job. Levels are numbered by fineness, 0 the finest. Each is done in stripes,
// independent of each other, once the level before it is complete.
template <typename T>
class ComponentLevels {
 public:
  ComponentLevels(const DwtJob& job, int component, const RowKernels<T>& kernels);

  // How many values the low bands between levels take, and their places.
  size_t low_values() const;
  void set_low(T* memory);

  int count() const { return job_.levels.both + job_.levels.horizontal; }
  // The unit of stripes: pairs of rows, or rows where there are no vertical steps.
  int32_t units(int fineness) const { return height(fineness) / (is_both(fineness) ? 2 : 1); }
  int32_t width(int fineness) const { return width_ >> fineness; }

  StripeSums analyze(int fineness, int32_t first, int32_t end) const;
  // `compares`: with the source of a forward job, instead of writing samples.
  StripeSums synthesize(int fineness, int32_t first, int32_t end, bool compares) const;

 private:
  struct Work;  // a stripe's memory

  bool is_both(int fineness) const { return fineness < job_.levels.both; }
  int32_t height(int fineness) const { return height_ >> std::min(fineness, job_.levels.both); }
  RowFilter<T> filter(Wavelet wavelet, Direction direction) const {
    return {&kernels_, &lifting(wavelet), direction, job_.type == DwtCoefType::kS16};
  }
  // Row y of a level's low band: forward the next level's input, inverse its result.
  T* low_row(int fineness, int32_t y) const {
    return low_[fineness] + static_cast<ptrdiff_t>(y) * low_pitch(fineness);
  }
  size_t low_size(int fineness) const {
    return static_cast<size_t>(low_pitch(fineness)) * static_cast<size_t>(height(fineness)) +
           2 * kRowSlack;
  }
  ptrdiff_t low_pitch(int fineness) const { return width(fineness) + kRowSlack; }
  uint8_t* coefs(const DwtBand& band, int32_t y) const;
  // The band whose kind is 0 (HL or H), 1 (LH), 2 (HH) of a level.
  int band_index(int fineness, int kind) const;

  void read_band(int index, int32_t y, T* to, StripeSums* sums) const;
  void write_band(int index, int32_t y, const T* from, StripeSums* sums) const;
  void read_low(int fineness, int32_t y, T* to, StripeSums* sums) const;
  void write_low(int fineness, int32_t y, const T* from, StripeSums* sums) const;

  void load_row(int fineness, int32_t y, SplitRow<T> row, const Work& work) const;
  void store_row(int fineness, int32_t y, SplitRow<T> row, bool compares, const Work& work,
                 StripeSums* sums) const;
  void load_samples(int32_t y, SplitRow<T> row, const Work& work) const;
  void store_samples(int32_t y, SplitRow<T> row, bool compares, const Work& work,
                     StripeSums* sums) const;

  const DwtJob& job_;
  const SamplePlane& samples_;
  const DwtPlane& plane_;
  const uint8_t* quant_index_;
  const SamplePlane& reference_;
  const RowKernels<T>& kernels_;
  int32_t width_, height_;  // padded
  int shift_;
  T* low_[kMaxDwtLevels + kMaxDwtLevelsHo] = {};  // from fineness 1
};

}  // namespace cudatransform
