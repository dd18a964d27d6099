// Rows of one level, each split into its halves, and vertical lifting on a window of them that
// slides down.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "transform/dwt/rows.h"

namespace cudatransform {

// Memory aligned to a cache line. It begins as zeros: whole vectors read lanes after the end of a
// row. Their values do not matter, but tools that detect uninitialized memory cannot know that.
template <typename T>
class RowMemory {
 public:
  explicit RowMemory(size_t count)
      : memory_(new std::byte[count * sizeof(T) + kAlignment]()),
        data_(reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory_.get()) + kAlignment - 1) &
                                   ~(kAlignment - 1))) {}
  T* data() const { return data_; }

 private:
  static constexpr uintptr_t kAlignment = 64;
  std::unique_ptr<std::byte[]> memory_;
  T* data_;
};

// A row of low and high values. Each half has room around it for the steps, which read beyond its
// ends, and for whole vectors, which write there.
template <typename T>
struct SplitRow {
  T* low;
  T* high;
};

struct RowSize {
  static constexpr size_t kMargin = 32;
  size_t pairs;   // values in a half
  size_t filled;  // with the rest of whole vectors

  explicit RowSize(int32_t width)
      : pairs(static_cast<size_t>(width) / 2), filled((pairs + kRowSlack - 1) & ~(kRowSlack - 1)) {}
  size_t from_low_to_high() const { return filled + kMargin; }
  size_t span() const { return from_low_to_high() + filled; }  // both halves
  size_t total() const { return span() + 2 * kMargin; }
  template <typename T>
  SplitRow<T> row(T* memory) const {
    return {memory + kMargin, memory + kMargin + from_low_to_high()};
  }
};

// One direction's filter as it is applied to rows of T.
template <typename T>
struct RowFilter {
  const RowKernels<T>* kernels;
  const Lifting* lifting;
  Direction direction;
  bool is_short;  // kS16

  int count() const { return lifting->count; }
  // In the order in which the direction makes them.
  const LiftingStep& step(int k) const {
    return lifting->steps[direction == Direction::kForward ? count() - 1 - k : k];
  }
  void apply(int k, T* target, const T* const* sources, size_t values) const {
    const bool subtract = step(k).subtract != (direction == Direction::kForward);
    const StepRange range = !is_short               ? StepRange::kWhole
                            : lifting->wraps_at_end ? StepRange::kShort
                                                    : StepRange::kWrapped;
    kernels->step(step(k), subtract, range, target, sources, values);
  }
  // After the last step.
  void finish(T* values, size_t count) const {
    if (is_short && lifting->wraps_at_end) kernels->wrap(values, count);
  }
};

// All horizontal steps on one row.
template <typename T>
void lift_row(const RowFilter<T>& filter, const RowSize& size, SplitRow<T> row) {
  constexpr size_t kReach = 4;
  for (int k = 0; k < filter.count(); ++k) {
    const LiftingStep& step = filter.step(k);
    T* target = step.updates_odd ? row.high : row.low;
    T* source = step.updates_odd ? row.low : row.high;
    std::fill_n(source - kReach, kReach, source[0]);
    std::fill_n(source + size.pairs, kReach, source[size.pairs - 1]);
    const T* sources[8];
    for (int i = 0; i < step.count; ++i) sources[i] = source + step.first + i;
    filter.apply(k, target, sources, size.pairs);
  }
  filter.finish(row.low, size.span());
}

// Makes the vertical steps of rows first_pair to end_pair of a level, and of as many around them as
// these need. A step runs on a row as soon as the step before has left its sources, so that rows
// are touched while they are in the cache.
template <typename T>
class VerticalWindow {
 public:
  VerticalWindow(const RowFilter<T>& filter, const RowSize& size, int32_t pairs)
      : filter_(filter),
        size_(size),
        pairs_(pairs),
        slots_(slots_of(*filter.lifting)),
        memory_(2 * static_cast<size_t>(slots_) * size.total()) {}

  // Calls load(pair, even, odd) for each pair of rows in order and emit(pair, even, odd) for each
  // from `first` to `end`; emit may change the rows.
  template <typename Load, typename Emit>
  void run(int32_t first, int32_t end, Load load, Emit emit) {
    const int last = filter_.count() - 1;
    done_[last] = first;
    for (int k = last - 1; k >= 0; --k) {
      done_[k] = std::max(0, std::min(first, done_[k + 1] + filter_.step(k + 1).first));
    }
    loaded_ = std::max(0, done_[0] + std::min(0, filter_.step(0).first));
    for (int32_t n = first; n < end; ++n) {
      // Nothing reads row n after this.
      advance(last, n + 1 - std::min(0, filter_.step(last).first), load);
      for (const bool odd : {false, true}) filter_.finish(row(n, odd).low, size_.span());
      emit(n, row(n, false), row(n, true));
    }
  }

 private:
  // More than there are rows between the one that is loaded and the oldest that is read.
  static int32_t slots_of(const Lifting& lifting) {
    int rows = 4;
    for (int k = 0; k < lifting.count; ++k) rows += lifting.steps[k].count;
    return static_cast<int32_t>(std::bit_ceil(static_cast<unsigned>(rows)));
  }

  SplitRow<T> row(int32_t pair, bool odd) const {
    const auto slot = static_cast<size_t>(2 * (pair & (slots_ - 1)) + odd);
    return size_.row(memory_.data() + slot * size_.total());
  }

  // Makes step k on all rows before `end`.
  template <typename Load>
  void advance(int k, int32_t end, Load& load) {
    end = std::min(end, pairs_);
    while (done_[k] < end) {
      const int32_t at = done_[k];
      const LiftingStep& step = filter_.step(k);
      int32_t needed = at + std::max(0, step.first + step.count - 1) + 1;
      if (k > 0) {
        // Rows that the step before still has to read must not change either.
        needed = std::max(needed, at - filter_.step(k - 1).first + 1);
        advance(k - 1, needed, load);
      } else {
        for (; loaded_ < std::min(needed, pairs_); ++loaded_) {
          load(loaded_, row(loaded_, false), row(loaded_, true));
        }
      }
      const T* sources[8];
      for (int i = 0; i < step.count; ++i) {
        const int32_t from = std::clamp(at + step.first + i, 0, pairs_ - 1);
        sources[i] = row(from, !step.updates_odd).low;
      }
      filter_.apply(k, row(at, step.updates_odd).low, sources, size_.span());
      ++done_[k];
    }
  }

  const RowFilter<T>& filter_;
  const RowSize size_;
  const int32_t pairs_, slots_;
  RowMemory<T> memory_;
  int32_t done_[4] = {};
  int32_t loaded_ = 0;
};

}  // namespace cudatransform
