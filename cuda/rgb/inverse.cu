// Planes to RGB, eight columns of two rows a thread.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Planes that the inverse DCT has just written are in the L2 cache. Triangle filters work on two
// lanes of 16 bits in a word: sums of two rows have 10 bits, and four times that 12. Every thread
// reads the three rows of chroma around its two rows, and the samples beside its four by bytes.
// Colour takes 32 bits. Values are clamped as they are packed, in the order in which they are
// stored: words of eight bytes, which the L2 cache merges.
#include "cuda/rgb/kernels.h"
#include "cuda/rgb/place.cuh"

namespace cudatransform::cuda {
namespace {

// Chroma under eight columns: four samples and the ones beside them, or eight.
template <int X>
struct Chroma {
  static constexpr int kWords = X == 2 ? 2 : 4;
  uint32_t lanes[kWords];  // of even and of odd samples of a word, of the next word
  uint32_t before, behind;
};

template <int X>
__device__ __forceinline__ Chroma<X> load_chroma(const RgbParams& params,
                                                 const RgbPlaneParams& plane, int32_t x,
                                                 int32_t y) {
  const uint8_t* row = row_of(plane, min(max(y, 0), plane.height - 1));
  Chroma<X> chroma = {};
  if constexpr (X == 2) {
    const int32_t first = x / 2;
    const uint32_t word = load_four(plane, row, first, params.aligned_planes);
    chroma.lanes[0] = word & kRgbLanes;
    chroma.lanes[1] = word >> 8 & kRgbLanes;
    chroma.before = __ldg(row + max(first - 1, 0));
    chroma.behind = __ldg(row + min(first + 4, plane.width - 1));
  } else {
    const uint2 words = load_eight(plane, row, x, params.aligned_planes);
    chroma.lanes[0] = words.x & kRgbLanes;
    chroma.lanes[1] = words.x >> 8 & kRgbLanes;
    chroma.lanes[2] = words.y & kRgbLanes;
    chroma.lanes[3] = words.y >> 8 & kRgbLanes;
  }
  return chroma;
}

template <int X>
__device__ __forceinline__ Chroma<X> sums_of_rows(const Chroma<X>& near, const Chroma<X>& other) {
  Chroma<X> sums;
#pragma unroll
  for (int i = 0; i < Chroma<X>::kWords; ++i) sums.lanes[i] = 3 * near.lanes[i] + other.lanes[i];
  sums.before = 3 * near.before + other.before;
  sums.behind = 3 * near.behind + other.behind;
  return sums;
}

// Eight columns of chroma, in lanes: column() knows which.
struct Upsampled {
  uint32_t lanes[4];
};
template <int X>
__device__ __forceinline__ int column(const Upsampled& chroma, int k) {
  const int word = X == 2 ? k % 4 : k / 4 * 2 + k % 2;
  const int half = X == 2 ? k / 4 : k % 4 / 2;
  const uint32_t lanes = chroma.lanes[word];
  return static_cast<int>(half == 0 ? lanes & 0xffff : lanes >> 16);
}

// Both positions of four samples, or of their sums: even lanes are columns 0, 1 and 4, 5.
template <int kBits>
__device__ __forceinline__ Upsampled blend_columns(const Chroma<2>& from, int32_t even_rounding,
                                                   int32_t odd_rounding) {
  const uint32_t even = from.lanes[0], odd = from.lanes[1];
  const uint32_t left = in_halves(even_rounding), right = in_halves(odd_rounding);
  const uint32_t before = odd << 16 | from.before, behind = even >> 16 | from.behind << 16;
  return {{(3 * even + before + left) >> kBits & kRgbLanes,
           (3 * even + odd + right) >> kBits & kRgbLanes,
           (3 * odd + even + left) >> kBits & kRgbLanes,
           (3 * odd + behind + right) >> kBits & kRgbLanes}};
}

// `parity`: of the row.
template <int X, int Y>
__device__ __forceinline__ Upsampled upsample(const Chroma<X>& near, const Chroma<X>& other,
                                              RgbFilter filter, int parity) {
  if constexpr (X == 2) {
    if (filter == RgbFilter::kNearest)
      return {{near.lanes[0], near.lanes[0], near.lanes[1], near.lanes[1]}};
    if constexpr (Y == 1) return blend_columns<2>(near, 1, 2);
    return blend_columns<4>(sums_of_rows(near, other), 8, 7);
  } else {
    Upsampled all = {{near.lanes[0], near.lanes[1], near.lanes[2], near.lanes[3]}};
    if (Y == 1 || filter == RgbFilter::kNearest) return all;
    const Chroma<X> sums = sums_of_rows(near, other);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      all.lanes[i] = (sums.lanes[i] + in_halves(1 + parity)) >> 2 & kRgbLanes;
    return all;
  }
}

template <int X, RgbColor kColor>
__device__ __forceinline__ void convert(const RgbParams& params, uint2 luma, const Upsampled& first,
                                        const Upsampled& third, int32_t x, int32_t y) {
  const uint32_t words[2] = {luma.x, luma.y};
  const int32_t first_bias = kRgbHalf - kRgbMiddle * params.first;
  const int32_t third_bias = kRgbHalf - kRgbMiddle * params.third;
  const int32_t green_bias = kRgbHalf + kRgbMiddle * (params.green_first + params.green_third);
  EightColours colours;
#pragma unroll
  for (int k = 0; k < kRgbColumns; ++k) {
    const int value = byte_of(words, k);
    if constexpr (kColor == RgbColor::kGrey) {
      colours[0][k] = colours[1][k] = colours[2][k] = value;
    } else {
      const int32_t a = column<X>(first, k), c = column<X>(third, k);
      if constexpr (kColor == RgbColor::kRgb) {
        colours[0][k] = a;
        colours[1][k] = value;
        colours[2][k] = c;
      } else {
        const int32_t at = value << kRgbFraction;
        colours[0][k] = (at + params.first * a + first_bias) >> kRgbFraction;
        colours[1][k] =
            (at - params.green_first * a - params.green_third * c + green_bias) >> kRgbFraction;
        colours[2][k] = (at + params.third * c + third_bias) >> kRgbFraction;
      }
    }
  }
  store_pixels(params, colours, x, y);
}

template <int X, int Y, RgbColor kColor>
__device__ __forceinline__ void inverse_thread(const RgbParams& params) {
  constexpr bool kHasChroma = kColor != RgbColor::kGrey;
  constexpr int kRows = Y == 2 ? 3 : 2;
  RgbPlace place;
  const bool is_there = place_of_thread(params, &place);
  wait_for_predecessor();
  let_successor_launch();
  if (!is_there) return;
  const int32_t y = place.pair * kRgbThreadRows;
  const RgbPlaneParams& plane = params.planes[0];
  uint2 luma[kRgbThreadRows];
#pragma unroll
  for (int r = 0; r < kRgbThreadRows; ++r) {
    luma[r] = load_eight(plane, row_of(plane, min(y + r, plane.height - 1)), place.x,
                         params.aligned_planes);
  }
  Chroma<X> chroma[2][kRows] = {};
#pragma unroll
  for (int c = 0; c < (kHasChroma ? 2 : 0); ++c) {
    for (int r = 0; r < kRows; ++r) {
      chroma[c][r] = load_chroma<X>(params, params.planes[1 + c], place.x,
                                    Y == 2 ? place.pair + r - 1 : y + r);
    }
  }
#pragma unroll
  for (int r = 0; r < kRgbThreadRows; ++r) {
    if (y + r >= params.height) return;
    Upsampled full[2] = {};
#pragma unroll
    for (int c = 0; c < (kHasChroma ? 2 : 0); ++c) {
      full[c] = upsample<X, Y>(chroma[c][Y == 2 ? 1 : r], chroma[c][Y == 2 ? 2 * r : r],
                               params.planes[1 + c].filter, r);
    }
    convert<X, kColor>(params, luma[r], full[0], full[1], place.x, y + r);
  }
}

}  // namespace

#define CT_DEFINE(name, x, y, color)                        \
  extern "C" __global__ void __launch_bounds__(kRgbThreads) \
      name(const __grid_constant__ RgbParams params) {      \
    inverse_thread<x, y, RgbColor::color>(params);          \
  }
CT_RGB_INVERSE_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
