// RGB and planes in any sampling, a pixel or a sample a thread.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/ptx.cuh"
#include "cuda/rgb/kernels.h"
#include "cuda/rgb/params.h"

namespace cudatransform::cuda {
namespace {

struct Position {
  int32_t x, y;
};
__device__ __forceinline__ Position position_of_thread(const RgbParams& params) {
  const uint32_t y = divide(blockIdx.x, params.by_across);
  return {static_cast<int32_t>((blockIdx.x - y * params.across) * kRgbThreads + threadIdx.x),
          static_cast<int32_t>(y)};
}

__device__ int32_t sample_at(const RgbPlaneParams& plane, int32_t x, int32_t y) {
  return plane
      .data[min(max(y, 0), plane.height - 1) * plane.pitch + min(max(x, 0), plane.width - 1)];
}

// The next sample from that of a position, on its side.
__device__ __forceinline__ int32_t beside(int32_t sample, int32_t position) {
  return sample + ((position & 1) != 0 ? 1 : -1);
}

__device__ int32_t upsampled(const RgbPlaneParams& plane, Position at) {
  const int32_t x = at.x / plane.x, y = at.y / plane.y;
  const int32_t near = sample_at(plane, x, y);
  if (plane.filter == RgbFilter::kNearest) return near;
  const int32_t next_x = beside(x, at.x), next_y = beside(y, at.y);
  if (plane.filter == RgbFilter::kColumns)
    return blend_two(near, sample_at(plane, next_x, y), at.x);
  const int32_t below = sample_at(plane, x, next_y);
  if (plane.filter == RgbFilter::kRows) return blend_two(near, below, at.y);
  const int32_t other = blend_rows(sample_at(plane, next_x, y), sample_at(plane, next_x, next_y));
  return blend_sums(blend_rows(near, below), other, at.x);
}

__device__ uint8_t* address_of(const RgbParams& params, int color, int32_t x, int32_t y) {
  return params.rgb[color] + y * params.pitch[color] + int64_t{x} * params.pixel_bytes +
         params.place[color];
}

__device__ int32_t converted(const RgbParams& params, int component, int32_t x, int32_t y) {
  const auto color = [&](int c) -> int32_t { return *address_of(params, c, x, y); };
  const int32_t first = color(0), green = color(1), third = color(2);
  if (params.color == RgbColor::kRgb)
    return component == 0 ? green : component == 1 ? first : third;
  // Planes 1 and 2 belong to the first and the third color in memory.
  const bool red_first = params.red_first;
  const YccPixel ycc =
      ycc_of(red_first ? RgbPixel{first, green, third} : RgbPixel{third, green, first});
  return component == 0 ? ycc.y : (component == 1) == red_first ? ycc.cr : ycc.cb;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kRgbThreads)
    rgb_inverse_general(const __grid_constant__ RgbParams params) {
  wait_for_predecessor();
  let_successor_launch();
  const Position at = position_of_thread(params);
  if (at.x >= params.width) return;
  int32_t values[3];
  for (int c = 0; c < 3; ++c)
    values[c] = upsampled(params.planes[params.color == RgbColor::kGray ? 0 : c], at);
  int32_t colors[3] = {values[1], values[0], values[2]};
  if (params.color == RgbColor::kYcbcr) {
    const bool red_first = params.red_first;
    const RgbPixel rgb = rgb_of(red_first ? YccPixel{values[0], values[2], values[1]}
                                          : YccPixel{values[0], values[1], values[2]});
    colors[0] = red_first ? rgb.r : rgb.b;
    colors[1] = rgb.g;
    colors[2] = red_first ? rgb.b : rgb.r;
  }
  for (int c = 0; c < 3; ++c) *address_of(params, c, at.x, at.y) = static_cast<uint8_t>(colors[c]);
  if (params.x_place >= 0)
    params.rgb[0][at.y * params.pitch[0] + int64_t{at.x} * params.pixel_bytes + params.x_place] =
        255;
}

extern "C" __global__ void __launch_bounds__(kRgbThreads)
    rgb_forward_general(const __grid_constant__ RgbParams params) {
  wait_for_predecessor();
  let_successor_launch();
  const auto component = static_cast<int>(params.component);
  const RgbPlaneParams& plane = params.planes[component];
  const Position at = position_of_thread(params);
  if (at.x >= plane.width) return;
  const int32_t row = min(at.y, (params.height - 1) / plane.y);
  int32_t sum = 0;
  for (int32_t y = row * plane.y; y < (row + 1) * plane.y; ++y) {
    for (int32_t x = at.x * plane.x; x < (at.x + 1) * plane.x; ++x)
      sum += converted(params, component, min(x, params.width - 1), min(y, params.height - 1));
  }
  plane.data[at.y * plane.pitch + at.x] =
      static_cast<uint8_t>(rgb_mean(sum, plane.x, plane.y, at.x));
}

}  // namespace cudatransform::cuda
