// Memory that the kernels of rate control write, besides the samples that they read.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/ratecontrol/params.h"

namespace fakecuda {

// `launch` takes the samples of a plane, and numbers by first address, bytes and whether they are
// the host's.

template <typename Launch>
void rate_transform_areas(const cudatransform::cuda::RateTransformParams& params, uint32_t ctas,
                          size_t item_bytes, Launch& launch) {
  using namespace cudatransform::cuda;
  for (const PlaneParams& plane : params.frame.planes)
    if (plane.first_cta != UINT32_MAX) launch.samples(plane.samples, false);
  const RateLists& lists = params.lists;
  const size_t blocks = size_t{ctas} * kFusedThreads, units = blocks / kUnitBlocks;
  launch.words(lists.dc, blocks * sizeof *lists.dc, false);
  launch.words(lists.before, blocks * sizeof *lists.before, false);
  launch.words(lists.sizes, units * sizeof *lists.sizes, false);
  launch.words(lists.items, units * kUnitItems * item_bytes, false);
}

template <typename Launch>
void rate_count_areas(const cudatransform::cuda::RateCountParams& params, Launch& launch) {
  const size_t bytes = params.candidates * sizeof(cudatransform::JpegSymbolCounts);
  launch.words(params.counts, bytes, false);
  launch.words(params.finished, sizeof *params.finished, false);
  launch.words(params.told, bytes, true);
}

}  // namespace fakecuda
