// The eight columns of two rows of a thread: words of planes and pixels in memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/ptx.cuh"
#include "cuda/rgb/params.h"

namespace cudatransform::cuda {

inline constexpr uint32_t kRgbLanes = 0x00ff00ffu;  // bytes in two lanes of 16 bits

struct RgbPlace {
  int32_t x;     // of the first column
  int32_t pair;  // of rows
};

// False: the thread has no pixels.
__device__ __forceinline__ bool place_of_thread(const RgbParams& params, RgbPlace* place) {
  const uint32_t number = blockIdx.x * kRgbThreads + threadIdx.x;
  const uint32_t pair = divide(number, params.by_across);
  *place = {static_cast<int32_t>(number - pair * params.across) * kRgbColumns,
            static_cast<int32_t>(pair)};
  return number < params.count;
}

__device__ __forceinline__ const uint8_t* row_of(const RgbPlaneParams& plane, int32_t y) {
  return plane.data + y * plane.pitch;
}

// Four samples from column `x` on; the last one where there are none.
__device__ __forceinline__ uint32_t load_four(const RgbPlaneParams& plane, const uint8_t* row,
                                              int32_t x, bool aligned) {
  if (aligned && x + 4 <= plane.width) return __ldg(reinterpret_cast<const uint32_t*>(row + x));
  uint32_t word = 0;
#pragma unroll
  for (int32_t k = 3; k >= 0; --k) word = word << 8 | __ldg(row + min(x + k, plane.width - 1));
  return word;
}
__device__ __forceinline__ uint2 load_eight(const RgbPlaneParams& plane, const uint8_t* row,
                                            int32_t x, bool aligned) {
  if (aligned && x + 8 <= plane.width) return __ldg(reinterpret_cast<const uint2*>(row + x));
  return make_uint2(load_four(plane, row, x, false), load_four(plane, row, x + 4, false));
}

__device__ __forceinline__ int misalignment(const uint8_t* address) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(address) & 3);
}

// Whole words to any address: as words where words of memory begin, the rest in bytes.
template <int kWords>
__device__ __forceinline__ void store_anywhere(uint8_t* to, const uint32_t (&words)[kWords]) {
  const int behind = misalignment(to), before = (4 - behind) % 4;  // bytes beside whole words
  auto* whole = reinterpret_cast<uint32_t*>(to + before);
#pragma unroll
  for (int i = 0; i + 1 < kWords; ++i)
    whole[i] = __funnelshift_r(words[i], words[i + 1], 8 * before);
  if (behind == 0) {
    whole[kWords - 1] = words[kWords - 1];
    return;
  }
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    if (i < before) to[i] = static_cast<uint8_t>(words[0] >> (8 * i));
    if (i < behind)
      to[4 * kWords - 1 - i] = static_cast<uint8_t>(words[kWords - 1] >> (24 - 8 * i));
  }
}

// `kWords` words to `to`, or as many bytes of them as there are. `aligned`: to eight bytes.
template <int kWords>
__device__ __forceinline__ void store_words(uint8_t* to, const uint32_t (&words)[kWords],
                                            int32_t bytes, bool aligned) {
  if (bytes < 4 * kWords) {
#pragma unroll
    for (int i = 0; i < 4 * kWords; ++i) {
      if (i < bytes) to[i] = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
    }
  } else if (!aligned) {
    store_anywhere(to, words);
  } else if constexpr (kWords == 1) {
    *reinterpret_cast<uint32_t*>(to) = words[0];
  } else {
#pragma unroll
    for (int i = 0; i < kWords; i += 2)
      reinterpret_cast<uint2*>(to)[i / 2] = make_uint2(words[i], words[i + 1]);
  }
}

// Values of eight pixels, which may be out of range.
using EightColours = int[3][kRgbColumns];

template <int kPixelBytes, int kFirst>
__device__ __forceinline__ void store_packed(const RgbParams& params, const EightColours& colours,
                                             int32_t x, int32_t y) {
  constexpr int kWords = kRgbColumns * kPixelBytes / 4;
  const auto byte = [&](int n) {
    const int colour = n % kPixelBytes - kFirst;
    return colour < 0 || colour > 2 ? 255 : colours[colour][n / kPixelBytes];
  };
  uint32_t words[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    words[i] = pack_four_clamped(byte(4 * i), byte(4 * i + 1), byte(4 * i + 2), byte(4 * i + 3));
  store_words(params.rgb[0] + y * params.pitch[0] + int64_t{x} * kPixelBytes, words,
              (params.width - x) * kPixelBytes, params.aligned_rgb);
}

__device__ __forceinline__ void store_pixels(const RgbParams& params, const EightColours& colours,
                                             int32_t x, int32_t y) {
  switch (params.places) {
    case RgbPlaces::kTriples:
      return store_packed<3, 0>(params, colours, x, y);
    case RgbPlaces::kXLast:
      return store_packed<4, 0>(params, colours, x, y);
    case RgbPlaces::kXFirst:
      return store_packed<4, 1>(params, colours, x, y);
    case RgbPlaces::kPlanes:
#pragma unroll
      for (int p = 0; p < 3; ++p) {
        const int(&c)[kRgbColumns] = colours[p];
        const uint32_t words[2] = {pack_four_clamped(c[0], c[1], c[2], c[3]),
                                   pack_four_clamped(c[4], c[5], c[6], c[7])};
        store_words(params.rgb[p] + y * params.pitch[p] + x, words, params.width - x,
                    params.aligned_rgb);
      }
  }
}

__device__ __forceinline__ int byte_of(const uint32_t* words, int n) {
  return static_cast<int>(words[n / 4] >> (8 * (n % 4)) & 255);
}

// From any address: the words of memory around are there, too.
template <int kWords>
__device__ __forceinline__ void load_anywhere(const uint8_t* from, uint32_t (&words)[kWords]) {
  const int behind = misalignment(from);
  const auto* whole = reinterpret_cast<const uint32_t*>(from - behind);
  uint32_t word = __ldg(whole);
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const uint32_t next = __ldg(whole + i + 1);
    words[i] = __funnelshift_r(word, next, 8 * behind);
    word = next;
  }
}

template <int kWords>
__device__ __forceinline__ void load_words(const uint8_t* from, uint32_t (&words)[kWords]) {
#pragma unroll
  for (int i = 0; i < kWords; i += 2) {
    const uint2 two = __ldg(reinterpret_cast<const uint2*>(from) + i / 2);
    words[i] = two.x;
    words[i + 1] = two.y;
  }
}

template <int kPixelBytes, int kFirst>
__device__ __forceinline__ void load_packed(const RgbParams& params, int32_t x, int32_t y,
                                            EightColours& colours) {
  const uint8_t* row = params.rgb[0] + y * params.pitch[0];
  const bool whole = params.aligned_rgb && x + kRgbColumns <= params.width;
  const bool inside = x > 0 && x + kRgbColumns + 2 <= params.width;
  if (whole || inside) {
    uint32_t words[kRgbColumns * kPixelBytes / 4];
    const uint8_t* from = row + int64_t{x} * kPixelBytes;
    if (params.aligned_rgb)
      load_words(from, words);
    else
      load_anywhere(from, words);
#pragma unroll
    for (int k = 0; k < kRgbColumns; ++k)
      for (int c = 0; c < 3; ++c) colours[c][k] = byte_of(words, k * kPixelBytes + kFirst + c);
    return;
  }
#pragma unroll
  for (int k = 0; k < kRgbColumns; ++k) {
    const uint8_t* pixel = row + int64_t{min(x + k, params.width - 1)} * kPixelBytes + kFirst;
    for (int c = 0; c < 3; ++c) colours[c][k] = __ldg(pixel + c);
  }
}

// Eight pixels; the last one where there are none.
__device__ __forceinline__ void load_pixels(const RgbParams& params, int32_t x, int32_t y,
                                            EightColours& colours) {
  switch (params.places) {
    case RgbPlaces::kTriples:
      return load_packed<3, 0>(params, x, y, colours);
    case RgbPlaces::kXLast:
      return load_packed<4, 0>(params, x, y, colours);
    case RgbPlaces::kXFirst:
      return load_packed<4, 1>(params, x, y, colours);
    case RgbPlaces::kPlanes:
#pragma unroll
      for (int p = 0; p < 3; ++p) {
        const RgbPlaneParams plane = {params.rgb[p], params.pitch[p], params.width, params.height};
        const uint2 two = load_eight(plane, row_of(plane, y), x, params.aligned_rgb);
        const uint32_t words[2] = {two.x, two.y};
        for (int k = 0; k < kRgbColumns; ++k) colours[p][k] = byte_of(words, k);
      }
  }
}

}  // namespace cudatransform::cuda
