// The pixels of a thread: where they are, and words of planes and pixels in memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A thread whose pixels are all inside and in aligned words (kWhole) has no code for edges: with it
// a compiler keeps loads apart that could be in flight together.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/common/ptx.cuh"
#include "cuda/rgb/params.h"

namespace cudatransform::cuda {

inline constexpr int kRgbGroups = kRgbColumns / 4;  // of four columns: a word of samples

// Numbers of even columns, and of odd ones, of each group: a word has those of two columns.
struct RgbLanes {
  uint32_t of[kRgbGroups][2];
};

// The first column and row of a thread.
struct RgbPlace {
  int32_t x, y;
};

// Warps of a CTA are stacked vertically, where they share rows of chroma in the L1 cache. False:
// the thread has no pixels.
template <int kRows>
__device__ __forceinline__ bool place_of_thread(const RgbParams& params, RgbPlace* place) {
  const uint32_t tile = divide(blockIdx.x, params.by_across);
  const uint32_t column =
      (blockIdx.x - tile * params.across) * kRgbLanesAcross + threadIdx.x % kRgbLanesAcross;
  const uint32_t row = tile * (kRgbThreads / kRgbLanesAcross) + threadIdx.x / kRgbLanesAcross;
  *place = {static_cast<int32_t>(column) * kRgbColumns, static_cast<int32_t>(row) * kRows};
  return place->x < params.columns && place->y < params.rows;
}

template <int kRows>
__device__ __forceinline__ bool is_whole(const RgbParams& params, const RgbPlace& place) {
  return place.x + kRgbColumns <= params.whole_width && place.y + kRows <= params.whole_height;
}

// A fast kernel: calls `pixels` with the thread's place and, as a constant, whether it is whole.
template <int kRows, bool kHasEdges, typename Pixels>
__device__ __forceinline__ void run_thread(const RgbParams& params, const Pixels& pixels) {
  RgbPlace place;
  const bool is_there = place_of_thread<kRows>(params, &place);
  wait_for_predecessor();
  let_successor_launch();
  if (!is_there) return;
  if (!kHasEdges || is_whole<kRows>(params, place))
    pixels(place, std::true_type());
  else
    pixels(place, std::false_type());
}

__device__ __forceinline__ const uint8_t* row_of(const RgbPlaneParams& plane, int32_t y) {
  return plane.data + y * plane.pitch;
}

// ---- Words ----

__device__ __forceinline__ uint32_t permuted(uint32_t low, uint32_t high, uint32_t bytes) {
  return __byte_perm(low, high, bytes);
}
// Upper halves of two words.
__device__ __forceinline__ uint32_t upper_halves(uint32_t low, uint32_t high) {
  return permuted(low, high, 0x7632);
}

// As many words at a time as their number allows.
template <int kWords>
__device__ __forceinline__ void load_words(const uint8_t* from, uint32_t (&words)[kWords]) {
  if constexpr (kWords % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kWords; i += 4) {
      const uint4 four = __ldg(reinterpret_cast<const uint4*>(from) + i / 4);
      words[i] = four.x;
      words[i + 1] = four.y;
      words[i + 2] = four.z;
      words[i + 3] = four.w;
    }
  } else if constexpr (kWords % 2 == 0) {
#pragma unroll
    for (int i = 0; i < kWords; i += 2) {
      const uint2 two = __ldg(reinterpret_cast<const uint2*>(from) + i / 2);
      words[i] = two.x;
      words[i + 1] = two.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = __ldg(reinterpret_cast<const uint32_t*>(from) + i);
  }
}
template <int kWords>
__device__ __forceinline__ void store_words(uint8_t* to, const uint32_t (&words)[kWords]) {
  if constexpr (kWords % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kWords; i += 4)
      reinterpret_cast<uint4*>(to)[i / 4] =
          make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]);
  } else if constexpr (kWords % 2 == 0) {
#pragma unroll
    for (int i = 0; i < kWords; i += 2)
      reinterpret_cast<uint2*>(to)[i / 2] = make_uint2(words[i], words[i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < kWords; ++i) reinterpret_cast<uint32_t*>(to)[i] = words[i];
  }
}

__device__ __forceinline__ int misalignment(const uint8_t* address) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(address) & 3);
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

// To any address: as words where words of memory begin, the rest in bytes.
template <int kWords>
__device__ __forceinline__ void store_anywhere(uint8_t* to, const uint32_t (&words)[kWords]) {
  const int behind = misalignment(to), before = (4 - behind) % 4;  // bytes outside whole words
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

// `kWords` words to `to`, or as many bytes of them as there are.
template <bool kWhole, int kWords>
__device__ __forceinline__ void store(uint8_t* to, const uint32_t (&words)[kWords], int32_t bytes) {
  if constexpr (kWhole) {
    store_words(to, words);
  } else if (bytes >= 4 * kWords) {
    store_anywhere(to, words);
  } else {
#pragma unroll
    for (int i = 0; i < 4 * kWords; ++i) {
      if (i < bytes) to[i] = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
    }
  }
}

// Samples from column `x` on; the last one where there are none.
template <bool kWhole, int kWords>
__device__ __forceinline__ void load(const uint8_t* row, int32_t x, int32_t width,
                                     uint32_t (&words)[kWords]) {
  if constexpr (kWhole) {
    load_words(row + x, words);
  } else {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      words[i] = 0;
      for (int k = 3; k >= 0; --k)
        words[i] = words[i] << 8 | __ldg(row + min(x + 4 * i + k, width - 1));
    }
  }
}

// ---- Pixels ----

// Colors are in bytes 0 and 2 of lanes; the others may be anything.
using RgbColors = RgbLanes[3];

// The pixels of four columns, consecutively.
__device__ __forceinline__ void triples(const uint32_t (&first)[2], const uint32_t (&green)[2],
                                        const uint32_t (&third)[2], uint32_t* words) {
  const uint32_t even = permuted(first[0], green[0], 0x6240);  // of the first color, green, ...
  const uint32_t third_first = permuted(third[0], first[1], 0x6240);
  const uint32_t odd = permuted(green[1], third[1], 0x6240);
  words[0] = permuted(even, third_first, 0x5410);
  words[1] = permuted(odd, even, 0x7610);
  words[2] = permuted(third_first, odd, 0x7632);
}

// `kXFirst`: the byte that is no color is the first of four.
template <bool kXFirst>
__device__ __forceinline__ void quadruples(const uint32_t (&first)[2], const uint32_t (&green)[2],
                                           const uint32_t (&third)[2], uint32_t* words) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const uint32_t low =
        kXFirst ? permuted(first[k], ~0u, 0x2404) : permuted(first[k], green[k], 0x6240);
    const uint32_t high =
        kXFirst ? permuted(green[k], third[k], 0x6240) : permuted(third[k], ~0u, 0x4240);
    words[k] = permuted(low, high, 0x5410);
    words[2 + k] = permuted(low, high, 0x7632);
  }
}

template <bool kWhole, RgbPlaces kPlaces>
__device__ __forceinline__ void store_packed(const RgbParams& params, const RgbColors& colors,
                                             int32_t x, int32_t y) {
  constexpr int kPixelBytes = kPlaces == RgbPlaces::kTriples ? 3 : 4;
  uint32_t words[kRgbGroups * kPixelBytes];
#pragma unroll
  for (int i = 0; i < kRgbGroups; ++i) {
    uint32_t* to = words + i * kPixelBytes;
    if constexpr (kPixelBytes == 3)
      triples(colors[0].of[i], colors[1].of[i], colors[2].of[i], to);
    else
      quadruples<kPlaces == RgbPlaces::kXFirst>(colors[0].of[i], colors[1].of[i], colors[2].of[i],
                                                to);
  }
  store<kWhole>(params.rgb[0] + y * params.pitch[0] + int64_t{x} * kPixelBytes, words,
                (params.width - x) * kPixelBytes);
}

template <bool kWhole>
__device__ __forceinline__ void store_planar(const RgbParams& params, const RgbColors& colors,
                                             int32_t x, int32_t y) {
#pragma unroll
  for (int p = 0; p < 3; ++p) {
    uint32_t words[kRgbGroups];
#pragma unroll
    for (int i = 0; i < kRgbGroups; ++i)
      words[i] = permuted(colors[p].of[i][0], colors[p].of[i][1], 0x6240);
    store<kWhole>(params.rgb[p] + y * params.pitch[p] + x, words, params.width - x);
  }
}

template <bool kWhole, RgbPlaces kPlaces>
__device__ __forceinline__ void store_pixels(const RgbParams& params, const RgbColors& colors,
                                             int32_t x, int32_t y) {
  switch (kPlaces == RgbPlaces::kAny ? params.places : kPlaces) {
    case RgbPlaces::kTriples:
      return store_packed<kWhole, RgbPlaces::kTriples>(params, colors, x, y);
    case RgbPlaces::kXLast:
      return store_packed<kWhole, RgbPlaces::kXLast>(params, colors, x, y);
    case RgbPlaces::kXFirst:
      return store_packed<kWhole, RgbPlaces::kXFirst>(params, colors, x, y);
    default:
      return store_planar<kWhole>(params, colors, x, y);
  }
}

// A pixel a word, the first color in byte 0; byte 3 may be anything.
using RgbPixels = uint32_t[kRgbColumns];

// Rows of pixels, all of which are loaded before any is unpacked.
template <bool kWhole, RgbPlaces kPlaces, int kRows>
__device__ __forceinline__ void load_packed(const RgbParams& params, int32_t x,
                                            const int32_t (&y)[kRows], RgbPixels (&pixels)[kRows]) {
  constexpr int kPixelBytes = kPlaces == RgbPlaces::kTriples ? 3 : 4;
  if (!kWhole && (x == 0 || x + kRgbColumns + 2 > params.width)) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const uint8_t* row = params.rgb[0] + y[r] * params.pitch[0] + params.place[0];
#pragma unroll
      for (int k = 0; k < kRgbColumns; ++k) {
        const uint8_t* pixel = row + int64_t{min(x + k, params.width - 1)} * kPixelBytes;
        pixels[r][k] = __ldg(pixel) | __ldg(pixel + 1) << 8 | __ldg(pixel + 2) << 16;
      }
    }
    return;
  }
  uint32_t words[kRows][kRgbGroups * kPixelBytes];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const uint8_t* from = params.rgb[0] + y[r] * params.pitch[0] + int64_t{x} * kPixelBytes;
    if constexpr (kWhole)
      load_words(from, words[r]);
    else
      load_anywhere(from, words[r]);
  }
#pragma unroll
  for (int i = 0; i < kRows * kRgbGroups; ++i) {
    const uint32_t* from = words[i / kRgbGroups] + i % kRgbGroups * kPixelBytes;
    uint32_t* to = pixels[i / kRgbGroups] + i % kRgbGroups * 4;
    if constexpr (kPixelBytes == 3) {
      to[0] = from[0];
      to[1] = permuted(from[0], from[1], 0x0543);
      to[2] = permuted(from[1], from[2], 0x0432);
      to[3] = from[2] >> 8;
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) to[k] = kPlaces == RgbPlaces::kXFirst ? from[k] >> 8 : from[k];
    }
  }
}

template <bool kWhole, int kRows>
__device__ __forceinline__ void load_planar(const RgbParams& params, int32_t x,
                                            const int32_t (&y)[kRows], RgbPixels (&pixels)[kRows]) {
  uint32_t colors[kRows][3][kRgbGroups];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int p = 0; p < 3; ++p)
      load<kWhole>(params.rgb[p] + y[r] * params.pitch[p], x, params.width, colors[r][p]);
  }
#pragma unroll
  for (int i = 0; i < kRows * kRgbGroups; ++i) {
    const auto& of = colors[i / kRgbGroups];
    const int group = i % kRgbGroups;
    uint32_t* to = pixels[i / kRgbGroups] + 4 * group;
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
      const uint32_t two = permuted(of[0][group], of[1][group], k == 0 ? 0x5140 : 0x7362);
      to[k] = permuted(two, of[2][group], k == 0 ? 0x0410 : 0x0610);
      to[k + 1] = permuted(two, of[2][group], k == 0 ? 0x0532 : 0x0732);
    }
  }
}

// The last pixel where there are none.
template <bool kWhole, int kRows>
__device__ __forceinline__ void load_pixels(const RgbParams& params, int32_t x,
                                            const int32_t (&y)[kRows], RgbPixels (&pixels)[kRows]) {
  switch (params.places) {
    case RgbPlaces::kTriples:
      return load_packed<kWhole, RgbPlaces::kTriples>(params, x, y, pixels);
    case RgbPlaces::kXLast:
      return load_packed<kWhole, RgbPlaces::kXLast>(params, x, y, pixels);
    case RgbPlaces::kXFirst:
      return load_packed<kWhole, RgbPlaces::kXFirst>(params, x, y, pixels);
    default:
      return load_planar<kWhole>(params, x, y, pixels);
  }
}

}  // namespace cudatransform::cuda
