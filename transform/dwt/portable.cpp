// Every wavelet job in plain C++: one component at a time, each lifting step over the whole plane.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A plane is kept in pyramid arrangement throughout. There the even rows of a level are its upper
// half and the odd ones its lower half, columns likewise, so that a step adds rows (or runs of a
// row) to others, and only between levels are values interleaved.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "transform/dwt/dwt.h"
#include "transform/dwt/lifting.h"
#include "transform/dwt/run.h"
#include "transform/dwt/values.h"

namespace cudatransform {

namespace {

// Modulo 2^16 or 2^32.
template <typename Coef>
Coef wrapped(uint64_t value) {
  return static_cast<Coef>(value);
}
template <typename Coef>
uint64_t extended(Coef value) {
  return static_cast<uint64_t>(int64_t{value});
}

template <typename Coef>
struct Plane {
  int32_t width, height;  // padded
  std::vector<Coef> values;

  Plane(int32_t w, int32_t h)
      : width(w), height(h), values(static_cast<size_t>(w) * static_cast<size_t>(h)) {}
  Coef* row(int32_t y) { return values.data() + ptrdiff_t{y} * width; }
};

// The values of a line, its even ones first. Steps may leave more than coefficients hold.
struct Line {
  std::vector<int32_t> values;
  int32_t half;  // how many are even, and how many odd

  explicit Line(int32_t size) : values(static_cast<size_t>(size)), half(size / 2) {}
  int32_t& even(int32_t n) { return values[static_cast<size_t>(n)]; }
  int32_t& odd(int32_t n) { return values[static_cast<size_t>(half) + static_cast<size_t>(n)]; }
};

// The term that a step adds to or subtracts from the value at `n`. `wide`: its sum is exact in 64
// bits, otherwise in 32 or modulo 2^32.
uint64_t step_term(const LiftingStep& step, Line& line, int32_t n, bool wide) {
  uint64_t sum = static_cast<uint64_t>(step.rounding);
  for (int k = 0; k < step.count; ++k) {
    const int32_t at = std::clamp(n + step.first + k, 0, line.half - 1);
    const int32_t tapped = step.updates_odd ? line.even(at) : line.odd(at);
    sum += static_cast<uint64_t>(int64_t{step.taps[k]}) * extended(tapped);
  }
  const int64_t exact = wide ? static_cast<int64_t>(sum) : static_cast<int32_t>(sum);
  return static_cast<uint64_t>(exact >> step.shift);
}

template <typename Coef>
void lift(const Lifting& filter, Line& line, Direction direction) {
  const bool forward = direction == Direction::kForward;
  for (int i = 0; i < filter.count; ++i) {
    const LiftingStep& step = filter.steps[forward ? filter.count - 1 - i : i];
    const bool subtract = step.subtract != forward;
    for (int32_t n = 0; n < line.half; ++n) {
      int32_t& value = step.updates_odd ? line.odd(n) : line.even(n);
      const uint64_t term = step_term(step, line, n, filter.has_wide_products);
      const uint64_t sum = subtract ? extended(value) - term : extended(value) + term;
      value = filter.wraps_at_end ? wrapped<int32_t>(sum) : wrapped<Coef>(sum);
    }
  }
}

// Lifts the values at first[0], first[stride] ...
template <typename Coef>
void lift_in_place(const Lifting& filter, Line& line, Coef* first, ptrdiff_t stride,
                   Direction direction) {
  const auto size = static_cast<ptrdiff_t>(line.values.size());
  for (ptrdiff_t i = 0; i < size; ++i) line.values[static_cast<size_t>(i)] = first[i * stride];
  lift<Coef>(filter, line, direction);
  for (ptrdiff_t i = 0; i < size; ++i) {
    first[i * stride] = wrapped<Coef>(extended(line.values[static_cast<size_t>(i)]));
  }
}

// One level, at the upper left of a plane.
struct LevelSize {
  int32_t width, height;
  bool both;  // rows and columns
};

LevelSize level_size(const DwtJob& job, int32_t width, int32_t height, int finest_first) {
  const bool both = finest_first < job.levels.both;
  return {width >> finest_first, height >> std::min(finest_first, job.levels.both), both};
}

template <typename Coef>
void lift_rows(const DwtJob& job, Plane<Coef>& plane, LevelSize level) {
  Line line(level.width);
  for (int32_t y = 0; y < level.height; ++y) {
    lift_in_place(lifting(job.wavelet_ho), line, plane.row(y), 1, job.direction);
  }
}

template <typename Coef>
void lift_columns(const DwtJob& job, Plane<Coef>& plane, LevelSize level) {
  if (!level.both) return;
  Line line(level.height);
  for (int32_t x = 0; x < level.width; ++x) {
    lift_in_place(lifting(job.wavelet), line, plane.row(0) + x, plane.width, job.direction);
  }
}

// The place of value `i` of a line of `size`, in its natural order, when the even ones come first.
int32_t split_place(int32_t i, int32_t size) { return i / 2 + (i % 2) * (size / 2); }

// Copies a level from `from` to `to`; `join`: from halves to the natural order, or back.
template <typename Coef>
void reorder(Plane<Coef>& from, Plane<Coef>& to, LevelSize level, bool join) {
  for (int32_t y = 0; y < level.height; ++y) {
    const int32_t split_y = level.both ? split_place(y, level.height) : y;
    const Coef* source = from.row(join ? split_y : y);
    Coef* target = to.row(join ? y : split_y);
    for (int32_t x = 0; x < level.width; ++x) {
      const int32_t split_x = split_place(x, level.width);
      target[join ? x : split_x] = source[join ? split_x : x];
    }
  }
}

template <typename Coef>
void copy_level(Plane<Coef>& from, Plane<Coef>& to, LevelSize level) {
  for (int32_t y = 0; y < level.height; ++y) std::copy_n(from.row(y), level.width, to.row(y));
}

template <typename Coef>
void analyze(const DwtJob& job, Plane<Coef>& plane, Plane<Coef>& scratch) {
  const int shift = lifting(job.wavelet_ho).shift_between_levels;
  const bool rows_last = lifting(job.wavelet_ho).rows_first;
  for (int i = 0; i < job.levels.both + job.levels.horizontal; ++i) {
    const LevelSize level = level_size(job, plane.width, plane.height, i);
    reorder(plane, scratch, level, false);
    for (int32_t y = 0; y < level.height; ++y) {
      Coef* row = scratch.row(y);
      for (int32_t x = 0; x < level.width; ++x) row[x] = wrapped<Coef>(extended(row[x]) << shift);
    }
    if (!rows_last) lift_rows(job, scratch, level);
    lift_columns(job, scratch, level);
    if (rows_last) lift_rows(job, scratch, level);
    copy_level(scratch, plane, level);
  }
}

template <typename Coef>
void synthesize(const DwtJob& job, Plane<Coef>& plane, Plane<Coef>& scratch) {
  const int shift = lifting(job.wavelet_ho).shift_between_levels;
  const bool rows_first = lifting(job.wavelet_ho).rows_first;
  for (int i = job.levels.both + job.levels.horizontal - 1; i >= 0; --i) {
    const LevelSize level = level_size(job, plane.width, plane.height, i);
    if (rows_first) lift_rows(job, plane, level);
    lift_columns(job, plane, level);
    if (!rows_first) lift_rows(job, plane, level);
    reorder(plane, scratch, level, true);
    for (int32_t y = 0; y < level.height; ++y) {
      Coef* row = scratch.row(y);
      for (int32_t x = 0; x < level.width && shift != 0; ++x) {
        // The sum does not wrap at 16 bits, but does at 32.
        row[x] = wrapped<Coef>(
            static_cast<uint64_t>(int64_t{static_cast<int32_t>(extended(row[x]) + 1)} >> shift));
      }
    }
    copy_level(scratch, plane, level);
  }
}

template <typename Coef, typename Function>
void for_each_coef(const DwtJob& job, int component, Plane<Coef>& plane, Function&& function) {
  for (int b = 0; b < dwt_band_count(job.levels); ++b) {
    const DwtBand band = dwt_band(job.levels, plane.width, plane.height, b);
    const DwtQuantizer quantizer(job.quant_index[component][b]);
    for (int32_t y = 0; y < band.height; ++y) {
      auto* stored = reinterpret_cast<Coef*>(static_cast<uint8_t*>(job.coefs[component].data) +
                                             (band.y + y) * job.coefs[component].pitch);
      Coef* value = plane.row(band.y + y) + band.x;
      for (int32_t x = 0; x < band.width; ++x) {
        function(stored[band.x + x], value[x], quantizer);
      }
    }
  }
}

template <typename Coef>
void load(const DwtJob& job, const SamplePlane& samples, Plane<Coef>& plane) {
  const int32_t peak = (1 << job.depth) - 1, level_shift = 1 << (job.depth - 1);
  for (int32_t y = 0; y < plane.height; ++y) {
    for (int32_t x = 0; x < plane.width; ++x) {
      const uint8_t* from =
          sample_address(samples, std::min(x, samples.width - 1), std::min(y, samples.rows() - 1));
      plane.row(y)[x] = static_cast<Coef>(load_sample(from, samples, peak) - level_shift);
    }
  }
}

template <typename Coef>
void store(const DwtJob& job, const SamplePlane& samples, Plane<Coef>& plane) {
  for (int32_t row = 0; row < samples.height; ++row) {
    for (int32_t x = 0; x < samples.width; ++x) {
      store_sample(
          sample_address(samples, x, row), samples,
          dwt_sample(plane.row(row / samples.row_repeat)[x], samples.type, 1 << (job.depth - 1)));
    }
  }
}

template <typename Coef>
uint64_t squared_error(const DwtJob& job, const SamplePlane& reference, Plane<Coef>& plane) {
  const int32_t peak = (1 << job.depth) - 1;
  uint64_t sum = 0;
  for (int32_t y = 0; y < reference.rows(); ++y) {
    for (int32_t x = 0; x < reference.width; ++x) {
      const int64_t difference =
          int64_t{dwt_sample(plane.row(y)[x], reference.type, 1 << (job.depth - 1))} -
          load_sample(sample_address(reference, x, y), reference, peak);
      sum += static_cast<uint64_t>(difference * difference);
    }
  }
  return sum;
}

template <typename Coef>
void work_on_component(const DwtJob& job, int c, PictureSums* sums) {
  const SamplePlane& samples = job.samples[c];
  Plane<Coef> plane(dwt_padded_width(samples.width, job.levels),
                    dwt_padded_height(samples.rows(), job.levels));
  Plane<Coef> scratch(plane.width, plane.height);
  const bool forward = job.direction == Direction::kForward;
  const bool measures_error = (job.measure & kMeasureSse) != 0;
  if (forward) {
    load(job, samples, plane);
    analyze(job, plane, scratch);
    for_each_coef(job, c, plane, [](Coef& stored, Coef& value, DwtQuantizer quantizer) {
      stored = static_cast<Coef>(dwt_quantize(value, quantizer));
    });
  }
  if ((job.measure & kMeasureZeros) != 0) {
    for_each_coef(job, c, plane,
                  [&](Coef& stored, Coef&, DwtQuantizer) { sums->zeros[c] += stored == 0; });
  }
  if (forward && !measures_error) return;
  for_each_coef(job, c, plane, [](Coef& stored, Coef& value, DwtQuantizer quantizer) {
    value = static_cast<Coef>(dwt_dequantize(stored, quantizer));
  });
  DwtJob back = job;
  back.direction = Direction::kInverse;
  synthesize(back, plane, scratch);
  if (!forward) store(job, samples, plane);
  if (measures_error) {
    sums->sse[c] = squared_error(job, forward ? samples : job.reference[c], plane);
  }
}

}  // namespace

void work_portably(const DwtJob& job, HostThreads&, PictureSums* sums) {
  for (int c = 0; c < job.components; ++c) {
    if (job.type == DwtCoefType::kS16) {
      work_on_component<int16_t>(job, c, sums);
    } else {
      work_on_component<int32_t>(job, c, sums);
    }
  }
}

namespace {

Status submit_portable(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return run_dwt(device, queue, job, work_portably, fence);
}

}  // namespace

const DwtOps& portable_dwt_ops() {
  static constexpr DwtOps kOps = {"portable", submit_portable};
  return kOps;
}

}  // namespace cudatransform
