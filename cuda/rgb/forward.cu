// RGB to planes, eight columns of one row of chroma a thread.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dot products of two bytes of a pixel and its third make luma, and 255 less chroma: no factor of
// that has more than 16 bits. Nothing needs clamping, and byte 2 is the result.
//
// Threads cover the planes, which may extend beyond the picture: they read its last column again,
// and repeat the last row of each component. Those differ where chroma's last row is the mean of
// two.
#include "cuda/common/batch.h"
#include "cuda/rgb/kernels.h"
#include "cuda/rgb/place.cuh"

namespace cudatransform::cuda {
namespace {

// What rounds luma; and 255 less chroma, as the complement of what rounds chroma.
inline constexpr uint32_t kLumaSum = kRgbHalf;
inline constexpr int kChromaSum = (256 << kRgbFraction) - 1 - kChromaBias;

__device__ __forceinline__ uint32_t luma_of(const RgbForwardWeights& by, uint32_t pixel) {
  return dot2_u16_u8<true>(by.third, pixel, dot2_u16_u8<false>(by.two, pixel, kLumaSum));
}
__device__ __forceinline__ uint32_t chroma_of(const RgbForwardWeights& by, uint32_t pixel) {
  return static_cast<uint32_t>(
      dot2_s16_u8<true>(by.third, pixel, dot2_s16_u8<false>(by.two, pixel, kChromaSum)));
}

// A byte of each of four numbers.
__device__ __forceinline__ uint32_t bytes_of(const uint32_t* numbers, int byte) {
  const uint32_t from = static_cast<uint32_t>(byte | (4 + byte) << 4);
  return permuted(permuted(numbers[0], numbers[1], from), permuted(numbers[2], numbers[3], from),
                  0x5410);
}

template <bool kWhole, int kWords>
__device__ __forceinline__ void store_row(const RgbPlaneParams& plane, int32_t x, int32_t y,
                                          const uint32_t (&words)[kWords]) {
  if (!kWhole && y >= plane.height) return;
  store<kWhole>(plane.data + y * plane.pitch + x, words, plane.width - x);
}

// The means of columns of one row or two, from 255 less the numbers: in a word for four of them.
template <int X, int Y>
__device__ __forceinline__ void means(const uint32_t* above, const uint32_t* below,
                                      uint32_t* words) {
  if constexpr (X == 1 && Y == 1) {
#pragma unroll
    for (int i = 0; i < kRgbGroups; ++i) words[i] = ~bytes_of(above + 4 * i, 2);
  } else {
    constexpr int kScale = X * Y == 4 ? 64 : 128;  // makes the mean a lane's upper byte
    constexpr int kPairs = kRgbColumns / X / 2;
    // The rounding: for 4:2:2 and 4:2:0 libjpeg rounds halves down and up alternately.
    constexpr uint32_t kFrom =
        in_halves(255 * X * Y + (X == 1 || Y == 2 ? 1 : 0)) + (X == 2 ? 0x10000u : 0);
    uint32_t lanes[kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      uint32_t sum = kFrom;
#pragma unroll
      for (int k = 0; k < X; ++k) {
        const int column = 2 * X * i + k;
        sum -= upper_halves(above[column], above[column + X]);
        if constexpr (Y == 2) sum -= upper_halves(below[column], below[column + X]);
      }
      lanes[i] = kScale * sum;
    }
#pragma unroll
    for (int i = 0; i < kPairs / 2; ++i)
      words[i] = permuted(lanes[2 * i], lanes[2 * i + 1], 0x7531);
  }
}

template <int X, int Y, RgbColor kColor, bool kWhole>
__device__ __forceinline__ void forward_pixels(const RgbParams& params, const RgbPlace& place) {
  const int32_t last = params.height - 1;
  // Chroma below the last pair repeats its rows; luma there repeats the last row alone.
  const bool below = !kWhole && place.y > last;
  const int32_t from = kWhole ? place.y : min(place.y, last / Y * Y);
  int32_t lines[Y];
#pragma unroll
  for (int r = 0; r < Y; ++r) lines[r] = kWhole ? from + r : min(from + r, last);
  RgbPixels pixels[Y];
  load_pixels<kWhole>(params, place.x, lines, pixels);

  uint32_t luma[Y][kRgbGroups];
#pragma unroll
  for (int r = 0; r < Y; ++r) {
    if constexpr (kColor == RgbColor::kRgb) {
#pragma unroll
      for (int i = 0; i < kRgbGroups; ++i) luma[r][i] = bytes_of(pixels[r] + 4 * i, 1);
    } else {
      uint32_t numbers[kRgbColumns];
#pragma unroll
      for (int k = 0; k < kRgbColumns; ++k) numbers[k] = luma_of(params.luma, pixels[r][k]);
#pragma unroll
      for (int i = 0; i < kRgbGroups; ++i) luma[r][i] = bytes_of(numbers + 4 * i, 2);
    }
  }
#pragma unroll
  for (int r = 0; r < Y; ++r) {
    if (below)
      store_row<kWhole>(params.planes[0], place.x, place.y + r, luma[Y - 1]);
    else
      store_row<kWhole>(params.planes[0], place.x, place.y + r, luma[r]);
  }

#pragma unroll
  for (int c = 0; c < (kColor == RgbColor::kGray ? 0 : 2); ++c) {
    uint32_t words[kRgbGroups / X];
    if constexpr (kColor == RgbColor::kRgb) {
#pragma unroll
      for (int i = 0; i < kRgbGroups; ++i) words[i] = bytes_of(pixels[0] + 4 * i, 2 * c);
    } else {
      uint32_t rows[Y][kRgbColumns];
#pragma unroll
      for (int r = 0; r < Y; ++r) {
#pragma unroll
        for (int k = 0; k < kRgbColumns; ++k)
          rows[r][k] = chroma_of(c == 0 ? params.first : params.third, pixels[r][k]);
      }
      means<X, Y>(rows[0], rows[Y - 1], words);
    }
    store_row<kWhole>(params.planes[1 + c], place.x / X, place.y / Y, words);
  }
}

template <int X, int Y, RgbColor kColor, bool kHasEdges>
__device__ __forceinline__ void forward_thread(const RgbParams& params) {
  run_thread<Y, kHasEdges>(params, [&](const RgbPlace& place, auto whole) {
    forward_pixels<X, Y, kColor, decltype(whole)::value>(params, place);
  });
}

}  // namespace

#define CT_DEFINE(name, x, y, color, has_edges)               \
  extern "C" __global__ void __launch_bounds__(kRgbThreads)   \
      name(const __grid_constant__ RgbParams params) {        \
    forward_thread<x, y, RgbColor::color, has_edges>(params); \
  }
CT_RGB_FORWARD_KERNELS(CT_DEFINE)
#undef CT_DEFINE

#define CT_DEFINE(name, x, y, color)                                                               \
  extern "C" __global__ void __launch_bounds__(kRgbThreads)                                        \
      name(const __grid_constant__ BatchParams<RgbParams> batch) {                                 \
    run_job(batch,                                                                                 \
            [](const RgbParams& params) { forward_thread<x, y, RgbColor::color, true>(params); }); \
  }
CT_RGB_FORWARD_BATCH_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
