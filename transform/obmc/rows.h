// Shared by the CPU engine's variants of motion compensation: rows of references, filters, tasks.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "transform/device/host_threads.h"
#include "transform/obmc/arithmetic.h"
#include "transform/obmc/obmc.h"
#include "transform/samples.h"

namespace cudatransform {

template <typename Sample>
Sample* row_of(const SamplePlane& plane, int32_t y) {
  return reinterpret_cast<Sample*>(sample_address(plane, 0, y));
}

// at(-3) to at(4): the samples around the position, in order.
template <typename Sample, typename At>
Sample half_sample(const At& at, int32_t peak) {
  int32_t sum = kObmcFilterRounding;
  for (int k = 0; k < 4; ++k) sum += kObmcFilterTaps[k] * (at(-k) + at(k + 1));
  return static_cast<Sample>(std::clamp(sum >> kObmcFilterShift, 0, peak));
}

// Columns from `first` to `last`, some of which have no neighbors.
template <typename Sample>
void half_columns_at_edges(const Sample* from, Sample* __restrict to, int32_t first, int32_t last,
                           int32_t width, int32_t peak) {
  for (int32_t x = first; x < last; ++x) {
    to[x] = half_sample<Sample>(
        [&](int k) { return int32_t{from[std::clamp(x + k, 0, width - 1)]}; }, peak);
  }
}

// The row at half position `row` (in half rows), at whole or half columns. Positions outside of the
// half-sample grid are clamped to it, so that left of it there is the first whole sample.
template <typename Sample>
struct ReferenceRow {
  const Sample* whole;
  const Sample* chosen;
  int32_t width;

  ReferenceRow(const SamplePlane* planes, int32_t row, bool half_column) {
    width = planes[0].width;
    row = std::clamp(row, 0, 2 * planes[0].height - 2);
    const int parity = 2 * (row & 1);
    whole = row_of<Sample>(planes[parity], row >> 1);
    chosen = half_column ? row_of<Sample>(planes[parity + 1], row >> 1) : whole;
  }
  int32_t at(int32_t x) const { return x < 0 ? whole[0] : chosen[std::min(x, width - 1)]; }
};

// The target of a block's vector: a position of the half-sample grid, and the remainder in parts of
// half a sample, of which there are `one`.
struct ObmcPosition {
  int32_t column, row;  // in half samples, from the sample that is predicted
  int rest_x, rest_y;
  int one;

  ObmcPosition(const int32_t* vector, int precision) {
    const int bits = precision > 0 ? precision - 1 : 0;
    one = 1 << bits;
    column = precision > 0 ? vector[0] >> bits : 2 * vector[0];
    row = precision > 0 ? vector[1] >> bits : 2 * vector[1];
    rest_x = precision > 0 ? vector[0] & (one - 1) : 0;
    rest_y = precision > 0 ? vector[1] & (one - 1) : 0;
  }
  // The weight of the neighbor `dx` to the right and `dy` below; they sum to one * one.
  int weight(int dx, int dy) const {
    return (dx != 0 ? rest_x : one - rest_x) * (dy != 0 ? rest_y : one - rest_y);
  }
};

// Whether 16 bits hold everything: samples of a byte in sixteenths are below 2^12; a prediction is
// at most 511 where the weights and the values of blocks without a reference are so small; and
// windows add up to 64.
inline bool obmc_fits_short(const ObmcJob& job, int component) {
  constexpr int32_t kHalf = 128, kMax = 511;
  if (job.depth[component] > 8 || job.samples[component].type != SampleType::kU8) return false;
  const int32_t weights = std::abs(job.weights[0]) + std::abs(job.weights[1]);
  if (weights > kHalf || (weights * kHalf >> job.weight_bits) > kMax) return false;
  const ptrdiff_t count = ptrdiff_t{job.blocks_across} * job.blocks_down;
  return job.blocks == nullptr ||
         std::all_of(job.blocks, job.blocks + count, [&](const ObmcBlock& block) {
           return block.references != 0 || std::abs(int32_t{block.dc[component]}) <= kMax;
         });
}

// Calls work(component, first row, last row) for all rows of all components, on all threads, for
// `rows` of them at a time.
template <typename Work>
Status for_obmc_rows(Device& device, Queue& queue, int components, const SamplePlane* planes,
                     int32_t rows, FencePtr* fence, const Work& work) {
  int32_t begin[kMaxComponents + 1] = {};
  for (int c = 0; c < components; ++c)
    begin[c + 1] = begin[c] + (planes[c].height + rows - 1) / rows;
  const auto run_task = [&](int32_t task) {
    int c = 0;
    while (task >= begin[c + 1]) ++c;
    const int32_t first = (task - begin[c]) * rows;
    work(c, first, std::min(first + rows, planes[c].height));
  };
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for motion compensation",
                                 [&](HostThreads& threads) -> Status {
                                   threads.for_each(begin[components], run_task);
                                   return {};
                                 }));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace cudatransform
