// Spans of tiles, joined over the threads of a CTA in their order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/jpeg/encode_params.h"

namespace cudatransform::cuda {

// As sum_before_thread(), of spans of tiles.
__device__ __forceinline__ JpegSpan join_before_thread(JpegSpan span,
                                                       JpegSpan (&spans)[kEncodeWarps],
                                                       JpegSpan* all) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    JpegSpan other;
    other.open = __shfl_up_sync(kAllLanes, span.open, distance);
    other.closed = __shfl_up_sync(kAllLanes, span.closed, distance);
    other.closes = __shfl_up_sync(kAllLanes, uint32_t{span.closes}, distance) != 0;
    if (lane >= distance) span = jpeg_join(other, span);
  }
  if (lane == 31) spans[warp] = span;
  JpegSpan before;
  before.open = __shfl_up_sync(kAllLanes, span.open, 1);
  before.closed = __shfl_up_sync(kAllLanes, span.closed, 1);
  before.closes = __shfl_up_sync(kAllLanes, uint32_t{span.closes}, 1) != 0;
  if (lane == 0) before = {};
  __syncthreads();
  JpegSpan warps = {}, total = {};
#pragma unroll
  for (uint32_t i = 0; i < kEncodeWarps; ++i) {
    if (i < warp) warps = jpeg_join(warps, spans[i]);
    total = jpeg_join(total, spans[i]);
  }
  *all = total;
  return jpeg_join(warps, before);
}

}  // namespace cudatransform::cuda
