// The shared memory of the kernels that decode JPEG scans: its layout, and how it is filled.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/jpeg/decode_params.h"

namespace cudatransform::cuda {

inline constexpr uint32_t kWarp = 32;
inline constexpr uint32_t kWordsInSubsequence = kSubsequenceBits / 32, kWordsInRow = kRowBits / 32;

// A thread's words begin one further from bank to bank than the thread's before.
template <uint32_t kStride>
struct SharedWords {
  const uint32_t* words;
  __device__ __forceinline__ uint32_t operator[](uint32_t i) const {
    return words[i + i / kStride];
  }
};
template <uint32_t kStride>
constexpr uint32_t padded(uint32_t words) {
  return words + words / kStride + 1;
}

// Brings `count` words from word `first` on, which may be before the first and after the last.
template <uint32_t kStride>
__device__ __forceinline__ void fetch_words(const JpegDecodeParams& params, int64_t first,
                                            uint32_t count, uint32_t* to) {
  const auto* words = reinterpret_cast<const uint32_t*>(params.block + params.words_at);
  const int64_t all = static_cast<int64_t>(params.subsequences) * kWordsInSubsequence;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const int64_t at = first + i;
    const uint32_t word = at >= 0 && at < all ? words[at] : 0;
    to[i + i / kStride] = __byte_perm(word, 0, 0x0123);
  }
}

__device__ __forceinline__ void fetch(const uint8_t* from, void* to, uint32_t bytes) {
  for (uint32_t i = threadIdx.x; i < bytes / sizeof(uint4); i += blockDim.x)
    static_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
}

__device__ __forceinline__ const uint32_t* infos_of(const JpegDecodeParams& params,
                                                    const JpegScanPlan& scan) {
  return reinterpret_cast<const uint32_t*>(params.block + params.infos_at) + scan.first_subsequence;
}

__device__ __forceinline__ uint32_t scan_of_tile(const JpegDecodeParams& params, uint32_t tile) {
  uint32_t scan = 0;
  while (scan + 1 < params.scan_count && tile >= params.scans[scan + 1].first_tile) ++scan;
  return scan;
}

__device__ __forceinline__ uint32_t scan_of_part(const JpegDecodeParams& params) {
  uint32_t scan = 0;
  while (scan + 1 < params.scan_count && blockIdx.x >= params.first_part[scan + 1]) ++scan;
  return scan;
}

template <uint32_t kBits>
__device__ __forceinline__ uint32_t row_bits(uint32_t info, uint32_t row) {
  const uint32_t bits = bits_of(info), before = row * kBits;
  return bits > before ? min(bits - before, kBits) : 0;
}

}  // namespace cudatransform::cuda
