// The CPU engine's RGB: strips of rows over oneTBB, which stay in a core's cache between chroma's
// sampling and color.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/rgb/rgb.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "transform/device/host_threads.h"
#include "transform/rgb/rows.h"
#include "transform/samples.h"

namespace cudatransform {

namespace {

// Rows of the picture that a thread takes: whole rows of components of every subsampling.
constexpr int32_t kStripRows = 24;

uint8_t* row_of(const SamplePlane& plane, int32_t y) { return sample_address(plane, 0, y); }

// Where row `y` of RGB begins, in each of its planes.
struct RgbRow {
  uint8_t* data[3];
  RgbRow(const RgbImage& rgb, int32_t y) {
    for (int p = 0; p < 3; ++p)
      data[p] = p < rgb.planes() ? static_cast<uint8_t*>(rgb.data[p]) + y * rgb.pitch[p] : nullptr;
  }
};

// Memory for rows, which the calling thread keeps until it ends.
template <typename Sample>
Sample* row_memory(size_t samples) {
  thread_local std::vector<Sample> memory;
  if (memory.size() < samples) memory.resize(samples);
  return memory.data();
}

void repeat(const uint8_t* from, uint8_t* to, int32_t count, int32_t times) {
  for (int32_t i = 0; i < count; ++i, to += times) std::fill_n(to, times, from[i]);
}

// ---- Planes to RGB ----

class InverseStrip {
 public:
  InverseStrip(const RgbJob& job, const RgbRows& rows) : job_(job), rows_(rows) {
    // A row of each component at full size, a row with a sample more on either side, and sums like
    // that.
    stride_ = static_cast<size_t>(job.rgb.width) + kMaxRgbSubsampling;
    full_ = row_memory<uint8_t>((kMaxComponents + 1) * stride_);
    edged_ = full_ + kMaxComponents * stride_ + 1;
    sums_ = row_memory<uint16_t>(stride_) + 1;
    for (int c = 0; c < job.components(); ++c)
      filters_[c] = rgb_filter(job.upsampling, job.subsampling[c], job.planes[c].width);
  }

  void convert(int32_t first, int32_t last) {
    const auto convert_row =
        rows_.to_rgb[static_cast<size_t>(job_.color)][static_cast<size_t>(job_.rgb.packing)];
    for (int32_t y = first; y < last; ++y) {
      const uint8_t* from[kMaxComponents] = {};
      for (int c = 0; c < job_.components(); ++c) from[c] = full_row(c, y);
      convert_row(from, RgbRow(job_.rgb, y).data, static_cast<size_t>(job_.rgb.width));
    }
  }

 private:
  const uint8_t* full_row(int c, int32_t y) {
    const SamplePlane& plane = job_.planes[c];
    const RgbSubsampling& by = job_.subsampling[c];
    const int32_t row = y / by.y;
    const auto count = static_cast<size_t>(plane.width);
    const uint8_t* near = row_of(plane, row);
    const uint8_t* other =
        row_of(plane, std::clamp(row + (y % 2 != 0 ? 1 : -1), 0, plane.height - 1));
    uint8_t* to = full_ + static_cast<size_t>(c) * stride_;
    switch (filters_[c]) {
      case RgbFilter::kNearest:
        if (by.x == 1) return near;
        if (repeated_[c] != row) repeat_row(near, to, plane.width, by.x);
        repeated_[c] = row;
        break;
      case RgbFilter::kRows:
        rows_.blend_two(near, other, y, to, count);
        break;
      case RgbFilter::kColumns:
        std::memcpy(edged_, near, count);
        edged_[-1] = near[0];
        edged_[count] = near[count - 1];
        rows_.blend_columns(edged_, to, count);
        break;
      case RgbFilter::kBoth:
        rows_.blend_rows(near, other, sums_, count);
        sums_[-1] = sums_[0];
        sums_[count] = sums_[count - 1];
        rows_.blend_sums(sums_, to, count);
        break;
    }
    return to;
  }

  void repeat_row(const uint8_t* from, uint8_t* to, int32_t count, int32_t times) {
    const auto samples = static_cast<size_t>(count);
    if (times == 2) return rows_.repeat_twice(from, to, samples);
    if (times != 4) return repeat(from, to, count, times);
    rows_.repeat_twice(from, edged_, samples);
    rows_.repeat_twice(edged_, to, 2 * samples);
  }

  const RgbJob& job_;
  const RgbRows& rows_;
  size_t stride_;
  uint8_t *full_, *edged_;
  uint16_t* sums_;
  RgbFilter filters_[kMaxComponents] = {};
  int32_t repeated_[kMaxComponents] = {-1, -1, -1};  // the row of which full_ has the repetition
};

// ---- RGB to planes ----

class ForwardStrip {
 public:
  ForwardStrip(const RgbJob& job, const RgbRows& rows) : job_(job), rows_(rows) {
    for (int c = 0; c < job.components(); ++c) {
      // Columns after the picture's, too.
      const auto columns = static_cast<size_t>(job.planes[c].width * job.subsampling[c].x);
      stride_ = std::max(stride_, std::max(columns, static_cast<size_t>(job.rgb.width)));
    }
    full_ = row_memory<uint8_t>(stride_ * kMaxComponents * kMaxRgbSubsampling);
  }

  void convert(int32_t first, int32_t last) {
    const auto convert_row =
        rows_.from_rgb[static_cast<size_t>(job_.color)][static_cast<size_t>(job_.rgb.packing)];
    for (int32_t y = first; y < last; ++y) {
      uint8_t* to[kMaxComponents] = {};
      for (int c = 0; c < job_.components(); ++c) to[c] = full_row(c, y);
      convert_row(RgbRow(job_.rgb, y).data, to, static_cast<size_t>(job_.rgb.width));
      for (int c = 0; c < job_.components(); ++c) finish_row(c, y, to[c]);
    }
    if (last == job_.rgb.height) {
      for (int c = 0; c < job_.components(); ++c) repeat_last_row(c);
    }
  }

 private:
  bool is_whole(int c) const { return job_.subsampling[c].x * job_.subsampling[c].y == 1; }

  // Where row `y` of a component is converted to.
  uint8_t* full_row(int c, int32_t y) const {
    if (is_whole(c)) return row_of(job_.planes[c], y);
    const int row = c * kMaxRgbSubsampling + y % job_.subsampling[c].y;
    return full_ + static_cast<size_t>(row) * stride_;
  }

  void finish_row(int c, int32_t y, uint8_t* full) const {
    const SamplePlane& plane = job_.planes[c];
    const RgbSubsampling& by = job_.subsampling[c];
    const int32_t width = job_.rgb.width;
    std::fill(full + width, full + std::max(width, plane.width * by.x), full[width - 1]);
    const bool is_last = y + 1 == job_.rgb.height;
    if (is_whole(c) || ((y + 1) % by.y != 0 && !is_last)) return;
    const uint8_t* rows[kMaxRgbSubsampling];
    for (int k = 0; k < by.y; ++k) rows[k] = k <= y % by.y ? full_row(c, y - y % by.y + k) : full;
    downsample(rows, by, row_of(plane, y / by.y), plane.width);
  }

  void downsample(const uint8_t* const* rows, const RgbSubsampling& by, uint8_t* to,
                  int32_t count) const {
    if (by.x == 2 && by.y == 1) return rows_.halve_columns(rows[0], to, static_cast<size_t>(count));
    if (by.x == 2 && by.y == 2) return rows_.halve_both(rows, to, static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) {
      int32_t sum = 0;
      for (int y = 0; y < by.y; ++y)
        for (int x = 0; x < by.x; ++x) sum += rows[y][ptrdiff_t{i} * by.x + x];
      to[i] = static_cast<uint8_t>(rgb_mean(sum, by.x, by.y, i));
    }
  }

  void repeat_last_row(int c) const {
    const SamplePlane& plane = job_.planes[c];
    const int32_t rows = rgb_plane_side(job_.rgb.height, job_.subsampling[c].y);
    for (int32_t y = rows; y < plane.height; ++y)
      std::memcpy(row_of(plane, y), row_of(plane, rows - 1), static_cast<size_t>(plane.width));
  }

  const RgbJob& job_;
  const RgbRows& rows_;
  size_t stride_ = 0;
  uint8_t* full_;
};

template <typename Strip>
void convert_strips(const RgbJob& job, const RgbRows& rows, HostThreads& threads) {
  const int32_t height = job.rgb.height;
  threads.for_each((height + kStripRows - 1) / kStripRows, [&](int32_t strip) {
    const int32_t first = strip * kStripRows;
    Strip(job, rows).convert(first, std::min(first + kStripRows, height));
  });
}

Status submit(const RgbRows& rows, Device& device, Queue& queue, const RgbJob& job,
              FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  CT_RETURN_IF_ERROR(
      run_on_host(device, "no host memory for rows of RGB", [&](HostThreads& threads) -> Status {
        if (job.direction == Direction::kInverse)
          convert_strips<InverseStrip>(job, rows, threads);
        else
          convert_strips<ForwardStrip>(job, rows, threads);
        return {};
      }));
  return fence != nullptr ? queue.record(fence) : Status{};
}

Status submit_portable(Device& device, Queue& queue, const RgbJob& job, FencePtr* fence) {
  return submit(portable_rgb_rows(), device, queue, job, fence);
}

Status submit_host(Device& device, Queue& queue, const RgbJob& job, FencePtr* fence) {
  const RgbRows* rows = vector_rgb_rows();
  return submit(rows != nullptr ? *rows : portable_rgb_rows(), device, queue, job, fence);
}

}  // namespace

const RgbOps& host_rgb_ops() {
  static constexpr RgbOps kOps = {"cpu", submit_host};
  return kOps;
}

const RgbOps& portable_rgb_ops() {
  static constexpr RgbOps kOps = {"portable", submit_portable};
  return kOps;
}

}  // namespace cudatransform
