// Motion compensation in plain C++: rows in parallel, written so that compilers make vectors of
// them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdint>
#include <vector>

#include "transform/obmc/obmc.h"
#include "transform/obmc/rows.h"

namespace cudatransform {

namespace {

template <typename Sample>
void half_columns(const Sample* from, Sample* __restrict to, int32_t width, int32_t peak) {
  constexpr int32_t kBefore = 3, kBehind = 4;  // neighbors
  const int32_t left = std::min(kBefore, width - 1);
  const int32_t right = std::max(left, width - kBehind);
  half_columns_at_edges(from, to, 0, left, width, peak);
  for (int32_t x = left; x < right; ++x)
    to[x] = half_sample<Sample>([&](int k) { return int32_t{from[x + k]}; }, peak);
  half_columns_at_edges(from, to, right, width - 1, width, peak);
  to[width - 1] = from[width - 1];
}

template <typename Sample>
void half_row(const Sample* const* rows, Sample* __restrict to, int32_t width, int32_t peak) {
  const Sample *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const Sample *e = rows[4], *f = rows[5], *g = rows[6], *h = rows[7];
  for (int32_t x = 0; x < width; ++x) {
    const int32_t around[8] = {a[x], b[x], c[x], d[x], e[x], f[x], g[x], h[x]};
    to[x] = half_sample<Sample>([&](int k) { return around[k + 3]; }, peak);
  }
}

template <typename Sample>
void upsample_rows(const SamplePlane* planes, int depth, int32_t first, int32_t last) {
  const int32_t width = planes[0].width, height = planes[0].height;
  const int32_t peak = (1 << depth) - 1;
  for (int32_t y = first; y < last; ++y) {
    const Sample* rows[8];
    for (int k = 0; k < 8; ++k) {
      rows[k] = row_of<Sample>(planes[0], std::clamp(y + k - 3, 0, height - 1));
    }
    Sample* below = row_of<Sample>(planes[2], y);
    if (y + 1 == height)
      std::copy_n(rows[3], width, below);
    else
      half_row(rows, below, width, peak);
    half_columns(rows[3], row_of<Sample>(planes[1], y), width, peak);
    half_columns(below, row_of<Sample>(planes[3], y), width, peak);
  }
}

// A run of a row at one whole or half position: the samples from column `first` on.
struct Run {
  int32_t count;
  int32_t first;
};

// Adds `weight` times each sample of `run`.
template <typename Sample, typename Number>
void add_run(const ReferenceRow<Sample>& row, Run run, Number weight, Number* __restrict sums) {
  const bool inside = run.first >= 0 && run.first + run.count <= row.width;
  if (inside) {
    const Sample* from = row.chosen + run.first;
    for (int32_t i = 0; i < run.count; ++i)
      sums[i] = static_cast<Number>(sums[i] + weight * static_cast<Number>(from[i]));
  } else {
    for (int32_t i = 0; i < run.count; ++i)
      sums[i] = static_cast<Number>(sums[i] + weight * row.at(run.first + i));
  }
}

// The samples that a block's vector points at, from row `y` and columns `x` on, around zero.
template <typename Sample, typename Number>
void fetch(const SamplePlane* planes, int precision, const int32_t* vector, int32_t x, int32_t y,
           int32_t count, int32_t half, Number* __restrict values) {
  std::fill_n(values, count, Number{0});
  const ObmcPosition at(vector, precision);
  const int shift = precision > 1 ? 2 * (precision - 1) : 0;
  for (int dy = 0; dy < (at.rest_y != 0 ? 2 : 1); ++dy) {
    for (int dx = 0; dx < (at.rest_x != 0 ? 2 : 1); ++dx) {
      const int32_t column = at.column + dx;
      const ReferenceRow<Sample> row(planes, 2 * y + at.row + dy, (column & 1) != 0);
      add_run(row, {count, x + (column >> 1)}, static_cast<Number>(at.weight(dx, dy)), values);
    }
  }
  const auto rounding = static_cast<Number>((1 << shift) >> 1);
  for (int32_t i = 0; i < count; ++i) {
    const auto sum = static_cast<Number>(values[i] + rounding);
    values[i] = static_cast<Number>((sum >> shift) - half);
  }
}

// `Number`: the type of sums.
template <typename Sample, typename Number>
class Component {
 public:
  Component(const ObmcJob& job, int component)
      : job_(job),
        component_(component),
        half_(1 << (job.depth[component] - 1)),
        shift_x_(component == 0 ? 0 : job.chroma_shift_x),
        shift_y_(component == 0 ? 0 : job.chroma_shift_y),
        across_{job.blocks_across, job.length_x >> shift_x_, job.separation_x >> shift_x_},
        down_{job.blocks_down, job.length_y >> shift_y_, job.separation_y >> shift_y_},
        sums_(static_cast<size_t>(job.samples[component].width)),
        values_(static_cast<size_t>(kMaxObmcBlock)),
        second_(static_cast<size_t>(kMaxObmcBlock)) {
    if (job.blocks != nullptr) make_windows();
  }

  // Rows from `first` to `last`.
  void compensate(int32_t first, int32_t last) {
    for (int32_t y = first; y < last; ++y) {
      std::fill(sums_.begin(), sums_.end(), Number{0});
      if (job_.blocks != nullptr) {
        for (int32_t j = down_.first_over(y); j <= down_.last_over(y); ++j) add_blocks(j, y);
      }
      store(y);
    }
  }

 private:
  // Windows differ in the first and in the last block alone.
  const Number* window_of(int32_t i) { return windows_[(i == 0) + 2 * (i == across_.blocks - 1)]; }
  void make_windows() {
    for (const int32_t i : {across_.blocks / 2, across_.blocks - 1, 0}) {
      Number* window = windows_[(i == 0) + 2 * (i == across_.blocks - 1)];
      for (int32_t t = 0; t < across_.length; ++t)
        window[t] = static_cast<Number>(obmc_window(across_, i, t));
    }
  }

  void add_blocks(int32_t j, int32_t y) {
    const auto weight = static_cast<Number>(obmc_window(down_, j, y - down_.begin(j)));
    const int32_t width = job_.samples[component_].width;
    for (int32_t i = 0; i < across_.blocks; ++i) {
      const int32_t begin = std::max(across_.begin(i), 0);
      const int32_t end = std::min(across_.begin(i) + across_.length, width);
      if (begin >= end) break;
      predict(job_.blocks[ptrdiff_t{j} * across_.blocks + i], begin, y, end - begin);
      const Number* window = window_of(i) + (begin - across_.begin(i));
      const Number* values = values_.data();
      Number* __restrict sums = sums_.data() + begin;
      for (int32_t k = 0; k < end - begin; ++k) {
        const auto factor = static_cast<Number>(weight * window[k]);
        sums[k] = static_cast<Number>(sums[k] + factor * values[k]);
      }
    }
  }

  void fetch_from(int reference, const ObmcBlock& block, int32_t x, int32_t y, int32_t count,
                  Number* values) {
    const int32_t vector[2] = {block.vector[reference][0] >> shift_x_,
                               block.vector[reference][1] >> shift_y_};
    fetch<Sample>(job_.references[reference].planes[component_], job_.precision, vector, x, y,
                  count, half_, values);
  }

  void predict(const ObmcBlock& block, int32_t x, int32_t y, int32_t count) {
    if (block.references == 0) {
      std::fill_n(values_.begin(), count, static_cast<Number>(block.dc[component_]));
      return;
    }
    const bool both = block.references == 3;
    fetch_from(block.references == 2 ? 1 : 0, block, x, y, count, values_.data());
    if (!both) return weigh(count, job_.weights[0] + job_.weights[1]);
    fetch_from(1, block, x, y, count, second_.data());
    weigh_both(count);
  }

  void weigh(int32_t count, int32_t weight) {
    if (weight == 1 << job_.weight_bits) return;
    const auto factor = static_cast<Number>(weight);
    const auto rounding = static_cast<Number>((1 << job_.weight_bits) >> 1);
    Number* values = values_.data();
    for (int32_t i = 0; i < count; ++i) {
      const auto sum = static_cast<Number>(factor * values[i] + rounding);
      values[i] = static_cast<Number>(sum >> job_.weight_bits);
    }
  }

  void weigh_both(int32_t count) {
    const auto first = static_cast<Number>(job_.weights[0]);
    const auto second = static_cast<Number>(job_.weights[1]);
    const auto rounding = static_cast<Number>((1 << job_.weight_bits) >> 1);
    Number* __restrict values = values_.data();
    const Number* others = second_.data();
    for (int32_t i = 0; i < count; ++i) {
      const auto sum = static_cast<Number>(first * values[i] + second * others[i] + rounding);
      values[i] = static_cast<Number>(sum >> job_.weight_bits);
    }
  }

  void store(int32_t y) {
    const SamplePlane& residual = job_.residual[component_];
    const int16_t* add = residual.data != nullptr ? row_of<int16_t>(residual, y) : nullptr;
    Sample* to = row_of<Sample>(job_.samples[component_], y);
    constexpr int32_t kRounding = 1 << (kObmcWindowShift - 1);
    for (size_t x = 0; x < sums_.size(); ++x) {
      const int32_t predicted = (sums_[x] + kRounding) >> kObmcWindowShift;
      const int32_t value = predicted + (add != nullptr ? add[x] : 0);
      to[x] = static_cast<Sample>(std::clamp(value, -half_, half_ - 1) + half_);
    }
  }

  const ObmcJob& job_;
  int component_;
  int32_t half_;
  int shift_x_, shift_y_;
  ObmcAxis across_, down_;
  std::vector<Number> sums_, values_, second_;
  Number windows_[4][kMaxObmcBlock] = {};
};

constexpr int32_t kRows = 32;  // of a task

Status upsample(Device& device, Queue& queue, const UpsampleJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  SamplePlane whole[kMaxComponents];
  for (int c = 0; c < job.components; ++c) whole[c] = job.reference.planes[c][0];
  return for_obmc_rows(device, queue, job.components, whole, kRows, fence,
                       [&](int c, int32_t first, int32_t last) {
                         const SamplePlane* planes = job.reference.planes[c];
                         if (planes[0].type == SampleType::kU8)
                           upsample_rows<uint8_t>(planes, job.depth[c], first, last);
                         else
                           upsample_rows<uint16_t>(planes, job.depth[c], first, last);
                       });
}

Status compensate(Device& device, Queue& queue, const ObmcJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  bool is_short[kMaxComponents] = {};
  for (int c = 0; c < job.components; ++c) is_short[c] = obmc_fits_short(job, c);
  return for_obmc_rows(device, queue, job.components, job.samples, kRows, fence,
                       [&](int c, int32_t first, int32_t last) {
                         if (is_short[c])
                           Component<uint8_t, int16_t>(job, c).compensate(first, last);
                         else if (job.samples[c].type == SampleType::kU8)
                           Component<uint8_t, int32_t>(job, c).compensate(first, last);
                         else
                           Component<uint16_t, int32_t>(job, c).compensate(first, last);
                       });
}

}  // namespace

const ObmcOps& portable_obmc_ops() {
  static constexpr ObmcOps kOps = {"portable", upsample, compensate};
  return kOps;
}

}  // namespace cudatransform
