// RGB to planes, eight columns of two rows a thread.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Threads cover the planes, which may end behind the picture: they read its last column again, and
// repeat the last row of each component. Those differ where chroma's last row is the mean of two.
#include "cuda/rgb/kernels.h"
#include "cuda/rgb/place.cuh"

namespace cudatransform::cuda {
namespace {

// Components of eight pixels.
struct EightSamples {
  int luma[kRgbColumns], first[kRgbColumns], third[kRgbColumns];
};

template <RgbColor kColor>
__device__ __forceinline__ EightSamples samples_of(const RgbParams& params,
                                                   const EightColours& colours) {
  EightSamples samples = {};
#pragma unroll
  for (int k = 0; k < kRgbColumns; ++k) {
    const int32_t a = colours[0][k], g = colours[1][k], c = colours[2][k];
    if constexpr (kColor == RgbColor::kRgb) {
      samples.first[k] = a;
      samples.luma[k] = g;
      samples.third[k] = c;
    } else {
      samples.luma[k] =
          (params.luma_first * a + kLumaOfGreen * g + params.luma_third * c + kRgbHalf) >>
          kRgbFraction;
    }
    if constexpr (kColor == RgbColor::kYcbcr) {
      samples.first[k] =
          (kRgbHalf * a - params.first_of_green * g - params.first_of_third * c + kChromaBias) >>
          kRgbFraction;
      samples.third[k] =
          (kRgbHalf * c - params.third_of_green * g - params.third_of_first * a + kChromaBias) >>
          kRgbFraction;
    }
  }
  return samples;
}

__device__ __forceinline__ uint32_t packed(const int* samples) {
  return pack_four_clamped(samples[0], samples[1], samples[2], samples[3]);
}

__device__ __forceinline__ void store_eight(const RgbParams& params, const RgbPlaneParams& plane,
                                            const int (&samples)[kRgbColumns], int32_t x,
                                            int32_t y) {
  if (y >= plane.height) return;
  const uint32_t words[2] = {packed(samples), packed(samples + 4)};
  store_words(plane.data + y * plane.pitch + x, words, plane.width - x, params.aligned_planes);
}

// The means of columns of one row or two.
template <int X, int Y>
__device__ __forceinline__ void store_means(const RgbParams& params, const RgbPlaneParams& plane,
                                            const int (&above)[kRgbColumns],
                                            const int (&below)[kRgbColumns], int32_t x, int32_t y) {
  constexpr int kCount = kRgbColumns / X;
  if (y >= plane.height) return;
  int means[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    int sum = 0;
    for (int k = X * i; k < X * (i + 1); ++k) sum += above[k] + (Y == 2 ? below[k] : 0);
    means[i] = X * Y == 1 ? sum : rgb_mean(sum, X, Y, i);
  }
  uint32_t words[kCount / 4];
#pragma unroll
  for (int i = 0; i < kCount / 4; ++i) words[i] = packed(means + 4 * i);
  const int32_t first = x / X;
  store_words(plane.data + y * plane.pitch + first, words, plane.width - first,
              params.aligned_planes);
}

template <int X, int Y, RgbColor kColor>
__device__ __forceinline__ void forward_thread(const RgbParams& params) {
  RgbPlace place;
  const bool is_there = place_of_thread(params, &place);
  wait_for_predecessor();
  let_successor_launch();
  if (!is_there) return;
  const int32_t y = place.pair * kRgbThreadRows, last = params.height - 1;
  // The rows of the last pair serve for chroma below it; luma there is that of the last one alone.
  const bool below = y > last;
  const int32_t from = Y == 2 ? min(y, last / 2 * 2) : min(y, last);
  EightSamples rows[kRgbThreadRows];
#pragma unroll
  for (int r = 0; r < kRgbThreadRows; ++r) {
    EightColours colours;
    load_pixels(params, place.x, min(from + r, last), colours);
    rows[r] = samples_of<kColor>(params, colours);
  }
  const RgbPlaneParams& luma = params.planes[0];
  if (below)
    store_eight(params, luma, rows[1].luma, place.x, y);
  else
    store_eight(params, luma, rows[0].luma, place.x, y);
  store_eight(params, luma, rows[1].luma, place.x, y + 1);
  if constexpr (kColor != RgbColor::kGrey) {
    const RgbPlaneParams &first = params.planes[1], &third = params.planes[2];
#pragma unroll
    for (int r = 0; r < (Y == 2 ? 1 : kRgbThreadRows); ++r) {
      const int32_t row = Y == 2 ? place.pair : y + r;
      store_means<X, Y>(params, first, rows[r].first, rows[1].first, place.x, row);
      store_means<X, Y>(params, third, rows[r].third, rows[1].third, place.x, row);
    }
  }
}

}  // namespace

#define CT_DEFINE(name, x, y, color)                        \
  extern "C" __global__ void __launch_bounds__(kRgbThreads) \
      name(const __grid_constant__ RgbParams params) {      \
    forward_thread<x, y, RgbColor::color>(params);          \
  }
CT_RGB_FORWARD_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
