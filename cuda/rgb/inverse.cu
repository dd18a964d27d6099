// Planes to RGB, eight columns of one row of chroma a thread.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Planes that the inverse DCT has just written are in the L2 cache. Triangle filters work on two
// lanes of 16 bits in a word, and are scaled so that the result is a lane's upper byte: 16 * 16
// times a sample fits. In 4:2:0 a thread reads the three rows of chroma around its two rows, and
// the samples next to its own by bytes. A dot product of two bytes multiplies chroma by a factor of
// more than 16 bits, or both chroma for green; its upper half is what the color adds to luma. Lanes
// clamp the sum.
#include <algorithm>

#include "cuda/common/batch.h"
#include "cuda/rgb/kernels.h"
#include "cuda/rgb/place.cuh"

namespace cudatransform::cuda {
namespace {

// Samples of chroma from a row, or sums of two rows, in lanes: those of a thread's columns, and
// the ones before and after them.
template <int X>
struct Chroma {
  static constexpr int kLanes = kRgbColumns / X / 2;
  uint32_t lanes[kLanes];
  uint32_t edges;
};

// Columns 0 and 1, 2 and 3 of a group of chroma where a sample has two columns of the picture:
// filters work on neighbors. Else columns 0 and 2, 1 and 3.
template <int X>
inline constexpr uint32_t kLowLanes = X == 2 ? 0x4140 : 0x4240;
template <int X>
inline constexpr uint32_t kHighLanes = X == 2 ? 0x4342 : 0x4341;

template <int X, bool kWhole>
__device__ __forceinline__ Chroma<X> load_chroma(const RgbPlaneParams& plane, int32_t x,
                                                 int32_t y) {
  constexpr int kWords = kRgbGroups / X;
  const uint8_t* row = row_of(plane, min(max(y, 0), plane.height - 1));
  const int32_t first = x / X;
  uint32_t words[kWords];
  load<kWhole>(row, first, plane.width, words);
  Chroma<X> chroma;
  chroma.edges = 0;
  if constexpr (X == 2) {
    const uint32_t before = __ldg(row + max(first - 1, 0));
    const uint32_t behind = __ldg(row + min(first + 4 * kWords, plane.width - 1));
    chroma.edges = before | behind << 16;
  }
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    chroma.lanes[2 * i] = permuted(words[i], 0, kLowLanes<X>);
    chroma.lanes[2 * i + 1] = permuted(words[i], 0, kHighLanes<X>);
  }
  return chroma;
}

// `Scale` times three quarters of the near row and one of the other.
template <uint32_t kScale, int X>
__device__ __forceinline__ Chroma<X> sums_of_rows(const Chroma<X>& near, const Chroma<X>& other) {
  Chroma<X> sums;
#pragma unroll
  for (int i = 0; i < Chroma<X>::kLanes; ++i)
    sums.lanes[i] = 3 * kScale * near.lanes[i] + kScale * other.lanes[i];
  sums.edges = 3 * kScale * near.edges + kScale * other.edges;
  return sums;
}
template <uint32_t kScale, int X>
__device__ __forceinline__ Chroma<X> scaled(const Chroma<X>& from) {
  Chroma<X> all;
#pragma unroll
  for (int i = 0; i < Chroma<X>::kLanes; ++i) all.lanes[i] = kScale * from.lanes[i];
  all.edges = kScale * from.edges;
  return all;
}

// Both positions of each sample. `left`, `right`: what rounds them.
__device__ __forceinline__ RgbLanes blend_columns(const Chroma<2>& from, uint32_t left,
                                                  uint32_t right) {
  RgbLanes all;
#pragma unroll
  for (int i = 0; i < kRgbGroups; ++i) {
    const uint32_t near = from.lanes[i];
    const uint32_t before =
        i == 0 ? permuted(from.edges, near, 0x5410) : permuted(from.lanes[i - 1], near, 0x5432);
    const uint32_t behind = i + 1 == kRgbGroups ? permuted(near, from.edges, 0x7632)
                                                : permuted(near, from.lanes[i + 1], 0x5432);
    const uint32_t both = 3 * near + left;
    all.of[i][0] = both + before;
    all.of[i][1] = both + behind + (right - left);
  }
  return all;
}

// Chroma of all columns in upper bytes of lanes. `parity`: of the row.
template <int X, int Y>
__device__ __forceinline__ RgbLanes upsample(const RgbParams& params, const Chroma<X>& near,
                                             const Chroma<X>& other, int parity) {
  if constexpr (X == 2) {
    if (params.blends) {
      if constexpr (Y == 1)
        return blend_columns(scaled<64>(near), in_halves(64), in_halves(2 * 64));
      else
        return blend_columns(sums_of_rows<16>(near, other), in_halves(8 * 16), in_halves(7 * 16));
    }
  }
  RgbLanes all;
#pragma unroll
  for (int i = 0; i < kRgbGroups; ++i) {
#pragma unroll
    for (int k = 0; k < 2; ++k) all.of[i][k] = near.lanes[X == 2 ? i : 2 * i + k] << 8;
  }
  if constexpr (X == 1 && Y == 2) {
    if (params.blends) {
      const Chroma<X> sums = sums_of_rows<64>(near, other);
#pragma unroll
      for (int i = 0; i < 2 * kRgbGroups; ++i)
        all.of[i / 2][i % 2] = sums.lanes[i] + in_halves(64 * (1 + parity));
    }
  }
  return all;
}

// What a color adds to luma in two columns, from bytes of chroma.
__device__ __forceinline__ uint32_t two_products(RgbPair factors, uint32_t bytes, uint32_t sum) {
  return upper_halves(dot2_u16_u8<false>(factors, bytes, sum),
                      dot2_u16_u8<true>(factors, bytes, sum));
}

__device__ __forceinline__ uint32_t add_and_clamp(uint32_t luma, uint32_t more) {
  return __viaddmin_s16x2_relu(luma, more, in_halves(255));
}

template <RgbColor kColor>
__device__ __forceinline__ void convert(const RgbParams& params, const uint32_t (&luma)[kRgbGroups],
                                        const RgbLanes& first, const RgbLanes& third,
                                        RgbColors& colors) {
  const RgbInverseWeights& by = params.inverse;
#pragma unroll
  for (int i = 0; i < kRgbGroups; ++i) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const uint32_t green = permuted(luma[i], 0, k == 0 ? 0x4240 : 0x4341);
      if constexpr (kColor == RgbColor::kGray) {
        for (auto& color : colors) color.of[i][k] = green;
      } else {
        const uint32_t a = first.of[i][k], c = third.of[i][k];
        if constexpr (kColor == RgbColor::kRgb) {
          colors[0].of[i][k] = a >> 8;
          colors[1].of[i][k] = green;
          colors[2].of[i][k] = c >> 8;
        } else {
          colors[0].of[i][k] =
              add_and_clamp(green, two_products(by.first, permuted(a, a, 0x3311), by.first_sum));
          colors[1].of[i][k] =
              add_and_clamp(green, two_products(by.green, ~permuted(a, c, 0x7351), by.green_sum));
          colors[2].of[i][k] =
              add_and_clamp(green, two_products(by.third, permuted(c, c, 0x3311), by.third_sum));
        }
      }
    }
  }
}

template <int X, int Y, RgbColor kColor, RgbPlaces kPlaces, bool kWhole>
__device__ __forceinline__ void inverse_pixels(const RgbParams& params, const RgbPlace& place) {
  constexpr bool kHasChroma = kColor != RgbColor::kGray;
  constexpr int kRows = Y == 2 ? 3 : 1;
  const RgbPlaneParams& plane = params.planes[0];
  uint32_t luma[Y][kRgbGroups];
#pragma unroll
  for (int r = 0; r < Y; ++r)
    load<kWhole>(row_of(plane, kWhole ? place.y + r : min(place.y + r, plane.height - 1)), place.x,
                 plane.width, luma[r]);
  Chroma<X> chroma[2][kRows] = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 0; c < (kHasChroma ? 2 : 0); ++c)
      chroma[c][r] = load_chroma<X, kWhole>(params.planes[1 + c], place.x,
                                            Y == 2 ? place.y / 2 + r - 1 : place.y);
  }
#pragma unroll
  for (int r = 0; r < Y; ++r) {
    if (!kWhole && place.y + r >= params.height) return;
    RgbLanes full[2] = {};
#pragma unroll
    for (int c = 0; c < (kHasChroma ? 2 : 0); ++c)
      full[c] = upsample<X, Y>(params, chroma[c][Y == 2 ? 1 : r], chroma[c][Y == 2 ? 2 * r : r], r);
    RgbColors colors;
    convert<kColor>(params, luma[r], full[0], full[1], colors);
    store_pixels<kWhole, kPlaces>(params, colors, place.x, place.y + r);
  }
}

template <int X, int Y, RgbColor kColor, RgbPlaces kPlaces>
__device__ __forceinline__ void inverse_thread(const RgbParams& params) {
  run_thread<Y, kPlaces == RgbPlaces::kAny>(params, [&](const RgbPlace& place, auto whole) {
    inverse_pixels<X, Y, kColor, kPlaces, decltype(whole)::value>(params, place);
  });
}

}  // namespace

#define CT_DEFINE(name, x, y, color, places)                                  \
  extern "C" __global__ void __launch_bounds__(                               \
      kRgbThreads, rgb_inverse_ctas(RgbPlaces::places, (x) == 1 && (y) == 2)) \
      name(const __grid_constant__ RgbParams params) {                        \
    inverse_thread<x, y, RgbColor::color, RgbPlaces::places>(params);         \
  }
CT_RGB_INVERSE_KERNELS(CT_DEFINE)
#undef CT_DEFINE

#define CT_DEFINE(name, x, y, color)                                        \
  extern "C" __global__ void __launch_bounds__(                             \
      kRgbThreads, rgb_inverse_ctas(RgbPlaces::kAny, (x) == 1 && (y) == 2)) \
      name(const __grid_constant__ BatchParams<RgbParams> batch) {          \
    run_job(batch, [](const RgbParams& params) {                            \
      inverse_thread<x, y, RgbColor::color, RgbPlaces::kAny>(params);       \
    });                                                                     \
  }
CT_RGB_INVERSE_BATCH_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
