// Stores of pixels by the kernels of resampling.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/resize/params.h"
#include "transform/resize/plan.h"

namespace cudatransform::cuda {

// Byte j of to[i] is byte i of from[j].
__device__ __forceinline__ void transpose_bytes(const uint32_t (&from)[4], uint32_t (&to)[4]) {
  const uint32_t a = bytes_of(from[0], from[1], 0x5140), b = bytes_of(from[2], from[3], 0x5140);
  const uint32_t c = bytes_of(from[0], from[1], 0x7362), d = bytes_of(from[2], from[3], 0x7362);
  to[0] = bytes_of(a, b, 0x5410);
  to[1] = bytes_of(a, b, 0x7632);
  to[2] = bytes_of(c, d, 0x5410);
  to[3] = bytes_of(c, d, 0x7632);
}

struct ResizePixel {
  int32_t of[kMaxResizeChannels];
};

// Sums in which the rounding is included.
__device__ __forceinline__ int32_t byte_of_sum(int32_t sum) { return min(max(sum >> 22, 0), 255); }

__device__ __forceinline__ int32_t alpha_of(const ResizePixel& pixel, int32_t channels) {
  return channels == 2 ? pixel.of[1] : channels == 3 ? pixel.of[2] : pixel.of[3];
}

template <typename Params>
__device__ __forceinline__ void put_sample(const Params& params, uint8_t* const* planes, int c,
                                           int32_t x, int32_t y, int32_t sample) {
  uint8_t* to = planes[c] + y * params.to.pitch[c] + int64_t{x} * params.to.step;
  const int32_t entry = 256 * c + sample;
  if (params.type == ResizeType::kU8)
    *to = static_cast<uint8_t>(sample);
  else if (params.type == ResizeType::kF32)
    *reinterpret_cast<float*>(to) = __ldg(static_cast<const float*>(params.table) + entry);
  else
    *reinterpret_cast<uint16_t*>(to) = __ldg(static_cast<const uint16_t*>(params.table) + entry);
}

// To `planes`, which are like those of params.to.
template <typename Params>
__device__ __forceinline__ void put_pixel(const Params& params, uint8_t* const* planes, int32_t x,
                                          int32_t y, const ResizePixel& pixel) {
  const int32_t alpha = alpha_of(pixel, params.channels);
#pragma unroll
  for (int c = 0; c < kMaxResizeChannels; ++c) {
    if (c >= params.channels) continue;
    const bool divides = params.divides && c + 1 < params.channels;
    put_sample(params, planes, c, x, y,
               divides ? static_cast<int32_t>(divided_by_alpha(static_cast<uint32_t>(pixel.of[c]),
                                                               static_cast<uint32_t>(alpha)))
                       : pixel.of[c]);
  }
}

}  // namespace cudatransform::cuda
