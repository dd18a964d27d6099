// Passes of resampling over any picture, a pixel of the output a thread.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Products and sums of 32 bits, in which no sum of a filter leaves them (transform/resize/axis.h).
#include "cuda/common/batch.h"
#include "cuda/common/ptx.cuh"
#include "cuda/resize/kernels.h"
#include "cuda/resize/pixels.cuh"

namespace cudatransform::cuda {
namespace {

constexpr int32_t kHalf = 1 << 21;

__device__ __forceinline__ const uint8_t* at(const ResizeView& view, int c, int32_t x, int32_t y) {
  return view.data[c] + y * view.pitch[c] + int64_t{x} * view.step;
}

// The sum of `count` samples, `step` bytes apart, of each channel.
__device__ __forceinline__ ResizePixel add_samples(const ResizePassParams& params, int32_t x,
                                                   int32_t y, bool along, int32_t output) {
  const int32_t count = __ldg(params.axis.count + output);
  const int32_t* weights = params.axis.weights + int64_t{output} * params.axis.taps;
  const uint8_t* from[kMaxResizeChannels];
  int64_t step[kMaxResizeChannels];
  ResizePixel pixel;
#pragma unroll
  for (int c = 0; c < kMaxResizeChannels; ++c) {
    pixel.of[c] = kHalf;
    from[c] = at(params.from, c, x, y);
    step[c] = along ? params.from.step : params.from.pitch[c];
  }
  for (int32_t i = 0; i < count; ++i) {
    const int32_t weight = __ldg(weights + i);
#pragma unroll
    for (int c = 0; c < kMaxResizeChannels; ++c) {
      if (c >= params.channels) continue;
      pixel.of[c] += weight * __ldg(from[c]);
      from[c] += step[c];
    }
  }
#pragma unroll
  for (int c = 0; c < kMaxResizeChannels; ++c) pixel.of[c] = byte_of_sum(pixel.of[c]);
  return pixel;
}

__device__ __forceinline__ void add_along_row(const ResizePassParams& params, int32_t x,
                                              int32_t y) {
  const int32_t first = __ldg(params.axis.first + x);
  put_pixel(params, params.to.data, x, y, add_samples(params, first, params.top + y, true, x));
}

__device__ __forceinline__ void add_down_column(const ResizePassParams& params, int32_t x,
                                                int32_t y) {
  const int32_t first = __ldg(params.axis.first + y) - params.top;
  put_pixel(params, params.to.data, x, y, add_samples(params, x, first, false, y));
}

__device__ __forceinline__ void pick_pixel(const ResizePassParams& params, int32_t x, int32_t y) {
  const int32_t column = params.columns != nullptr ? __ldg(params.columns + x) : params.left + x;
  const int32_t row = params.rows != nullptr ? __ldg(params.rows + y) : params.top + y;
  const bool exists = column >= 0 && row >= 0;
  ResizePixel pixel = {};
#pragma unroll
  for (int c = 0; c < kMaxResizeChannels; ++c)
    if (c < params.channels && exists) pixel.of[c] = *at(params.from, c, column, row);
  put_pixel(params, params.to.data, x, y, pixel);
}

// The mean of a rectangle, of colors by alpha where `premultiplies`.
__device__ __forceinline__ void reduce_pixel(const ResizePassParams& params, int32_t x, int32_t y) {
  const int32_t left = params.left + x * params.reduce_x, top = params.top + y * params.reduce_y;
  const int32_t right = min(left + params.reduce_x, params.right);
  const int32_t bottom = min(top + params.reduce_y, params.bottom);
  const auto count = static_cast<uint32_t>((right - left) * (bottom - top));
  const uint32_t multiplier = reduction_multiplier(count);
  ResizePixel pixel = {};
  for (int32_t v = top; v < bottom; ++v) {
    for (int32_t u = left; u < right; ++u) {
      ResizePixel sample = {};
#pragma unroll
      for (int c = 0; c < kMaxResizeChannels; ++c)
        if (c < params.channels) sample.of[c] = *at(params.from, c, u, v);
      const auto alpha = static_cast<uint32_t>(alpha_of(sample, params.channels));
#pragma unroll
      for (int c = 0; c < kMaxResizeChannels; ++c) {
        const auto value = static_cast<uint32_t>(sample.of[c]);
        pixel.of[c] += static_cast<int32_t>(
            params.premultiplies && c + 1 < params.channels ? premultiplied(value, alpha) : value);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < kMaxResizeChannels; ++c)
    pixel.of[c] =
        static_cast<int32_t>(reduced_mean(static_cast<uint32_t>(pixel.of[c]), count, multiplier));
  put_pixel(params, params.to.data, x, y, pixel);
}

template <typename Work>
__device__ __forceinline__ void for_pixel(const ResizePassParams& params, const Work& work) {
  const uint32_t down = divide(blockIdx.x, params.by_across);
  const uint32_t across = blockIdx.x - down * params.across;
  const auto x = static_cast<int32_t>(across * kResizeAcross + threadIdx.x % kResizeAcross);
  const auto y = static_cast<int32_t>(down * kResizeRows + threadIdx.x / kResizeAcross);
  if (x < params.to.width && y < params.to.height) work(x, y);
}

}  // namespace

#define CT_DEFINE(name, function)                                             \
  extern "C" __global__ void __launch_bounds__(kResizeThreads)                \
      name(const __grid_constant__ ResizePassParams params) {                 \
    for_pixel(params, [&](int32_t x, int32_t y) { function(params, x, y); }); \
  }
CT_RESIZE_PASS_KERNELS(CT_DEFINE)
#undef CT_DEFINE

#define CT_DEFINE(name, function)                                               \
  extern "C" __global__ void __launch_bounds__(kResizeThreads)                  \
      name(const __grid_constant__ BatchParams<ResizePassParams> batch) {       \
    run_job(batch, [](const ResizePassParams& params) {                         \
      for_pixel(params, [&](int32_t x, int32_t y) { function(params, x, y); }); \
    });                                                                         \
  }
CT_RESIZE_PASS_BATCH_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
