// The CPU engine's motion compensation: stripes of all components over oneTBB, block by block, rows
// in vectors.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/obmc/obmc.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "transform/obmc/rows.h"
#include "transform/obmc/vectors.h"

namespace cudatransform {

namespace {

// Rows of a stripe: few enough that its sums stay in a core's cache.
constexpr int32_t kMaxRows = 32, kMinRows = 4;
constexpr int32_t kMaxSums = 1 << 16;

int32_t stripe_rows(int32_t width) { return std::clamp(kMaxSums / width, kMinRows, kMaxRows); }

constexpr int32_t padded(int32_t count) {
  constexpr auto kLanes = static_cast<int32_t>(kObmcLanes);
  return (count + kLanes - 1) / kLanes * kLanes;
}

// Memory that the calling thread keeps until it ends: a stripe needs as much as the one before.
std::byte* stripe_memory(size_t bytes) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local size_t size = 0;
  if (bytes > size) {
    size = 0;
    memory.reset();
    memory.reset(new std::byte[bytes]);
    size = bytes;
  }
  return memory.get();
}

template <typename Sample, typename Number>
class Stripe {
 public:
  using Kernels = ObmcKernels<Sample, Number>;

  Stripe(const ObmcJob& job, int component, const Kernels& kernels, int32_t first, int32_t last)
      : job_(job),
        kernels_(kernels),
        component_(component),
        first_(first),
        last_(last),
        width_(job.samples[component].width),
        half_(1 << (job.depth[component] - 1)),
        shift_x_(component == 0 ? 0 : job.chroma_shift_x),
        shift_y_(component == 0 ? 0 : job.chroma_shift_y),
        across_{job.blocks_across, job.length_x >> shift_x_, job.separation_x >> shift_x_},
        down_{job.blocks_down, job.length_y >> shift_y_, job.separation_y >> shift_y_} {
    take_memory();
    if (job.blocks != nullptr) make_windows();
  }

  void compensate() {
    std::fill_n(sums_, static_cast<size_t>(last_ - first_) * sums_stride_, Number{0});
    if (job_.blocks != nullptr) {
      for (int32_t j = down_.first_over(first_); j <= down_.last_over(last_ - 1); ++j)
        add_blocks(j);
    }
    store();
  }

 private:
  // Part of a block: rows and columns of the picture.
  struct Part {
    int32_t x, y, columns, rows;
    ObmcArea area;
    const Number* window;  // of its columns
  };

  void take_memory() {
    const auto rows = static_cast<size_t>(last_ - first_);
    // Blocks may end, and begin, up to a vector after the last column.
    sums_stride_ = static_cast<size_t>(padded(width_)) + kObmcLanes;
    const size_t numbers = rows * sums_stride_ + 2 * rows * kWindow + 5 * kWindow;
    const size_t samples = 4 * kMaxObmcReferences * rows * kWindow;
    std::byte* at = stripe_memory(numbers * sizeof(Number) + samples * sizeof(Sample));
    sums_ = reinterpret_cast<Number*>(at);
    values_ = sums_ + rows * sums_stride_;
    others_ = values_ + rows * kWindow;
    windows_ = others_ + rows * kWindow;
    window_y_ = windows_ + 4 * kWindow;
    copies_ = reinterpret_cast<Sample*>(window_y_ + kWindow);
  }

  // Windows differ in the first and in the last block alone. After them there are zeros.
  Number* window_of(int32_t i) {
    const int kind = (i == 0) + 2 * (i == across_.blocks - 1);
    return windows_ + kind * kWindow;
  }
  void make_windows() {
    for (const int32_t i : {across_.blocks / 2, across_.blocks - 1, 0}) {
      Number* window = window_of(i);
      std::fill_n(window, kWindow, Number{0});
      for (int32_t t = 0; t < across_.length; ++t)
        window[t] = static_cast<Number>(obmc_window(across_, i, t));
    }
  }

  void add_blocks(int32_t j) {
    Part part;
    part.y = std::max(down_.begin(j), first_);
    part.rows = std::min(down_.begin(j) + down_.length, last_) - part.y;
    if (part.rows <= 0) return;
    for (int32_t y = 0; y < part.rows; ++y) {
      window_y_[y] = static_cast<Number>(obmc_window(down_, j, part.y + y - down_.begin(j)));
    }
    Number* const sums = sums_ + static_cast<size_t>(part.y - first_) * sums_stride_;
    const ObmcBlock* block = job_.blocks + ptrdiff_t{j} * across_.blocks;
    for (int32_t i = 0; i < across_.blocks; ++i, ++block) {
      const int32_t begin = across_.begin(i);
      part.x = std::max(begin, 0);
      part.columns = std::min(begin + across_.length, width_) - part.x;
      if (part.columns <= 0) break;
      const auto columns = static_cast<size_t>(padded(part.columns));
      part.area = {static_cast<size_t>(part.rows), columns, columns};
      part.window = window_of(i) + (part.x - begin);
      add_block(*block, part, sums + part.x);
    }
  }

  void add_block(const ObmcBlock& block, const Part& part, Number* sums) {
    const ObmcArea area = {part.area.rows, part.area.columns, sums_stride_};
    if (block.references == 0) {
      std::fill_n(values_, part.area.rows * part.area.stride,
                  static_cast<Number>(block.dc[component_]));
    } else {
      const bool both = block.references == 3;
      const ObmcTaps<Sample> taps = aim_block(block, block.references == 2 ? 1 : 0, part);
      const ObmcTaps<Sample> others = both ? aim_block(block, 1, part) : ObmcTaps<Sample>{};
      if (taps.count == 1 && others.count <= 1 && has_plain_weights(both)) {
        kernels_.add_samples(taps, both ? &others : nullptr, half_, part.window, window_y_, sums,
                             area);
        return;
      }
      kernels_.fetch(taps, half_, values_, part.area);
      if (both) kernels_.fetch(others, half_, others_, part.area);
      weigh(both, part.area);
    }
    kernels_.add(values_, part.area.stride, part.window, window_y_, sums, area);
  }

  // Whether a prediction is a sample of the reference, or the mean of two.
  bool has_plain_weights(bool both) const {
    if (!both) return job_.weights[0] + job_.weights[1] == 1 << job_.weight_bits;
    return job_.weights[0] == 1 && job_.weights[1] == 1 && job_.weight_bits == 1;
  }

  void weigh(bool both, const ObmcArea& area) {
    const int32_t first = job_.weights[0], second = job_.weights[1];
    if (both)
      kernels_.weigh(values_, others_, {first, second, job_.weight_bits}, area);
    else if (!has_plain_weights(false))
      kernels_.weigh(values_, nullptr, {first + second, 0, job_.weight_bits}, area);
  }

  ObmcTaps<Sample> aim_block(const ObmcBlock& block, int reference, const Part& part) {
    const int32_t vector[2] = {block.vector[reference][0] >> shift_x_,
                               block.vector[reference][1] >> shift_y_};
    const SamplePlane* planes = job_.references[reference].planes[component_];
    const ObmcPosition at(vector, job_.precision);
    ObmcTaps<Sample> taps;
    taps.shift = job_.precision > 1 ? 2 * (job_.precision - 1) : 0;
    const int32_t row = 2 * part.y + at.row;
    Sample* copies =
        copies_ + 4 * static_cast<size_t>(reference) * part.area.rows * part.area.stride;
    for (int dy = 0; dy < (at.rest_y != 0 ? 2 : 1); ++dy) {
      for (int dx = 0; dx < (at.rest_x != 0 ? 2 : 1); ++dx) {
        taps.weights[taps.count] = at.weight(dx, dy);
        aim(planes, {part.x + ((at.column + dx) >> 1), row + dy, ((at.column + dx) & 1) != 0}, part,
            copies, &taps);
      }
    }
    // A neighbor alone has all the weight.
    if (taps.count == 1) taps.shift = 0;
    return taps;
  }

  struct Corner {
    int32_t x, row;
    bool half_column;
  };
  // Has the next tap begin at `corner`. Samples outside of the reference come from a padded copy.
  void aim(const SamplePlane* planes, const Corner& corner, const Part& part, Sample* copies,
           ObmcTaps<Sample>* taps) {
    const int t = taps->count++;
    const auto columns = static_cast<int32_t>(part.area.columns);
    const int32_t last_row = corner.row + 2 * (part.rows - 1);
    if (corner.x >= 0 && corner.x <= width_ - columns && corner.row >= 0 &&
        last_row <= 2 * planes[0].height - 2) {
      const SamplePlane& plane = planes[2 * (corner.row & 1) + (corner.half_column ? 1 : 0)];
      taps->from[t] = row_of<Sample>(plane, corner.row >> 1) + corner.x;
      taps->pitch[t] = plane.pitch / static_cast<ptrdiff_t>(sizeof(Sample));
      return;
    }
    const size_t stride = part.area.stride;
    Sample* const copy = copies + static_cast<size_t>(t) * part.area.rows * stride;
    for (int32_t y = 0; y < part.rows; ++y)
      copy_row(ReferenceRow<Sample>(planes, corner.row + 2 * y, corner.half_column), corner.x,
               columns, copy + static_cast<size_t>(y) * stride);
    taps->from[t] = copy;
    taps->pitch[t] = static_cast<ptrdiff_t>(stride);
  }
  void copy_row(const ReferenceRow<Sample>& row, int32_t x, int32_t columns, Sample* to) {
    const int32_t left = std::clamp(-x, 0, columns);
    const int32_t right = std::clamp(width_ - x, left, columns);
    std::fill_n(to, left, row.whole[0]);
    if (right > left)
      std::memcpy(to + left, row.chosen + (x + left),
                  static_cast<size_t>(right - left) * sizeof(Sample));
    std::fill_n(to + right, columns - right, row.chosen[width_ - 1]);
  }

  void store() {
    const SamplePlane& residual = job_.residual[component_];
    for (int32_t y = first_; y < last_; ++y) {
      kernels_.store(sums_ + static_cast<size_t>(y - first_) * sums_stride_,
                     residual.data != nullptr ? row_of<int16_t>(residual, y) : nullptr, half_,
                     row_of<Sample>(job_.samples[component_], y), static_cast<size_t>(width_));
    }
  }

  // The size of a window or of a row of a block, with room for whole vectors after it.
  static constexpr size_t kWindow = kMaxObmcBlock + kObmcLanes;

  const ObmcJob& job_;
  const Kernels& kernels_;
  int component_;
  int32_t first_, last_, width_, half_;
  int shift_x_, shift_y_;
  ObmcAxis across_, down_;
  size_t sums_stride_ = 0;
  Number *sums_ = nullptr, *values_ = nullptr, *others_ = nullptr;
  Number *windows_ = nullptr, *window_y_ = nullptr;
  Sample* copies_ = nullptr;
};

// The half positions of a row: from the samples around each.
template <typename Sample, typename Kernels>
void halve_columns(const Kernels& kernels, const Sample* from, Sample* to, int32_t width,
                   int32_t peak) {
  constexpr int32_t kBefore = 3, kBehind = 4;  // neighbors
  const int32_t left = std::min(kBefore, width - 1);
  const int32_t right = std::max(left, width - kBehind);
  half_columns_at_edges(from, to, 0, left, width, peak);
  if (right > left) {
    const Sample* around[8];
    for (int k = 0; k < 8; ++k) around[k] = from + (left + k - kBefore);
    kernels.halve(around, to + left, static_cast<size_t>(right - left), peak);
  }
  half_columns_at_edges(from, to, right, width - 1, width, peak);
  to[width - 1] = from[width - 1];
}

template <typename Sample, typename Kernels>
void upsample_rows(const Kernels& kernels, const SamplePlane* planes, int depth, int32_t first,
                   int32_t last) {
  const int32_t width = planes[0].width, height = planes[0].height;
  const int32_t peak = (1 << depth) - 1;
  for (int32_t y = first; y < last; ++y) {
    const Sample* rows[8];
    for (int k = 0; k < 8; ++k)
      rows[k] = row_of<Sample>(planes[0], std::clamp(y + k - 3, 0, height - 1));
    Sample* below = row_of<Sample>(planes[2], y);
    if (y + 1 == height)
      std::copy_n(rows[3], width, below);
    else
      kernels.halve(rows, below, static_cast<size_t>(width), peak);
    halve_columns(kernels, rows[3], row_of<Sample>(planes[1], y), width, peak);
    halve_columns<Sample>(kernels, below, row_of<Sample>(planes[3], y), width, peak);
  }
}

Status upsample(Device& device, Queue& queue, const UpsampleJob& job, FencePtr* fence) {
  const ObmcByteKernels* bytes = obmc_byte_kernels();
  const ObmcWordKernels* words = obmc_word_kernels();
  if (bytes == nullptr || words == nullptr)
    return portable_obmc_ops().upsample(device, queue, job, fence);
  CT_RETURN_IF_ERROR(validate(job));
  SamplePlane whole[kMaxComponents];
  for (int c = 0; c < job.components; ++c) whole[c] = job.reference.planes[c][0];
  return for_obmc_rows(device, queue, job.components, whole, kMaxRows, fence,
                       [&](int c, int32_t first, int32_t last) {
                         const SamplePlane* planes = job.reference.planes[c];
                         if (planes[0].type == SampleType::kU8)
                           upsample_rows<uint8_t>(*bytes, planes, job.depth[c], first, last);
                         else
                           upsample_rows<uint16_t>(*words, planes, job.depth[c], first, last);
                       });
}

// Whether there is vector code for all components.
bool has_vectors(const ObmcJob& job) {
  if (obmc_byte_kernels() == nullptr || obmc_word_kernels() == nullptr) return false;
  for (int c = 0; c < job.components; ++c) {
    if (job.samples[c].type == SampleType::kU8 && !obmc_fits_short(job, c)) return false;
  }
  return true;
}

Status compensate(Device& device, Queue& queue, const ObmcJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  if (!has_vectors(job)) return portable_obmc_ops().compensate(device, queue, job, fence);
  return for_obmc_rows(
      device, queue, job.components, job.samples, stripe_rows(job.samples[0].width), fence,
      [&](int c, int32_t first, int32_t last) {
        if (job.samples[c].type == SampleType::kU8)
          Stripe<uint8_t, int16_t>(job, c, *obmc_byte_kernels(), first, last).compensate();
        else
          Stripe<uint16_t, int32_t>(job, c, *obmc_word_kernels(), first, last).compensate();
      });
}

}  // namespace

const ObmcOps& host_obmc_ops() {
  static constexpr ObmcOps kOps = {"cpu", upsample, compensate};
  return kOps;
}

}  // namespace cudatransform
