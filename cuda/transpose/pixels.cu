// Rotated and mirrored pixels: a tile of the output a CTA, whose part of the input goes through
// shared memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rows are read and written in aligned words, wherever they begin: threads next to each other have
// words next to each other. In between, a thread puts the four bytes of a word together. Rows of
// shared memory have an odd number of words, so that those of a column are in different banks.
#include "cuda/common/ptx.cuh"
#include "cuda/transpose/kernels.h"

namespace cudatransform::cuda {
namespace {

constexpr int32_t kWord = 4;

__device__ __forceinline__ int32_t misalignment(const void* at) {
  return static_cast<int32_t>(reinterpret_cast<uintptr_t>(at) % kWord);
}

// An aligned word of a row, from `at` on; bytes that the row does not have are 0.
__device__ __forceinline__ uint32_t load_aligned(const uint8_t* row, int32_t row_bytes,
                                                 int32_t at) {
  if (at >= 0 && at + kWord <= row_bytes) return __ldg(reinterpret_cast<const uint32_t*>(row + at));
  uint32_t word = 0;
  for (int32_t i = 0; i < kWord; ++i)
    if (at + i >= 0 && at + i < row_bytes) word |= uint32_t{row[at + i]} << (8 * i);
  return word;
}

__device__ __forceinline__ uint32_t load_word(const uint8_t* row, int32_t row_bytes, int32_t at) {
  const int32_t behind = misalignment(row + at);
  const uint32_t word = load_aligned(row, row_bytes, at - behind);
  if (behind == 0) return word;
  return __funnelshift_r(word, load_aligned(row, row_bytes, at - behind + kWord),
                         static_cast<uint32_t>(8 * behind));
}

__device__ __forceinline__ void store_word(uint8_t* row, int32_t row_bytes, int32_t at,
                                           uint32_t word) {
  if (at >= 0 && at + kWord <= row_bytes) {
    *reinterpret_cast<uint32_t*>(row + at) = word;
    return;
  }
  for (int32_t i = 0; i < kWord; ++i)
    if (at + i >= 0 && at + i < row_bytes) row[at + i] = static_cast<uint8_t>(word >> (8 * i));
}

template <int32_t kChannels>
__device__ __forceinline__ void transpose(const TransposeView& view) {
  constexpr int32_t kWords = kTransposeTile * kChannels / kWord, kPitch = kWords + 1;
  static_assert(kPitch % 2 == 1);
  __shared__ uint32_t tile[kTransposeTile * kPitch];

  const auto down = static_cast<int32_t>(divide(blockIdx.x, view.by_across));
  const auto across = static_cast<int32_t>(blockIdx.x) - down * static_cast<int32_t>(view.across);
  const int32_t left = across * kTransposeTile, top = down * kTransposeTile;
  const int32_t width = min(kTransposeTile, view.width - left);
  const int32_t height = min(kTransposeTile, view.height - top);
  // The tile's part of the input.
  const bool transposes = view.by.transposes;
  const int32_t u = view.by.mirrors_x ? view.width - left - width : left;
  const int32_t v = view.by.mirrors_y ? view.height - top - height : top;
  const int32_t first = (transposes ? v : u) * kChannels, rows = transposes ? width : height;
  const int32_t row_bytes = (transposes ? view.height : view.width) * kChannels;
  const uint8_t* const from = view.from + (transposes ? u : v) * view.from_pitch;
  wait_for_predecessor();
  let_successor_launch();
  for (auto i = static_cast<int32_t>(threadIdx.x); i < rows * kWords; i += kTransposeThreads) {
    const int32_t row = i / kWords, word = i - row * kWords;
    tile[row * kPitch + word] =
        load_word(from + row * view.from_pitch, row_bytes, first + word * kWord);
  }
  __syncthreads();

  // The bytes of the tile from a pixel of the output to its right neighbor, and to the one below.
  int32_t right = transposes ? kPitch * kWord : kChannels;
  int32_t below = transposes ? kChannels : kPitch * kWord;
  const auto* pixels = reinterpret_cast<const uint8_t*>(tile);
  if (view.by.mirrors_x) {
    pixels += (width - 1) * right;
    right = -right;
  }
  if (view.by.mirrors_y) {
    pixels += (height - 1) * below;
    below = -below;
  }
  const int32_t last = width * kChannels - 1;
  uint8_t* const to = view.to + top * view.to_pitch + left * kChannels;
  // A row that is not aligned has a part of another word.
  for (auto i = static_cast<int32_t>(threadIdx.x); i < height * kPitch; i += kTransposeThreads) {
    const int32_t row = i / kPitch;
    uint8_t* const out = to + row * view.to_pitch;
    const int32_t begin = (i - row * kPitch) * kWord - misalignment(out);
    uint32_t word = 0;
#pragma unroll
    for (int32_t b = 0; b < kWord; ++b) {
      const auto at = static_cast<uint32_t>(min(max(begin + b, 0), last));
      const auto column = static_cast<int32_t>(at / kChannels);
      const auto channel = static_cast<int32_t>(at % kChannels);
      word |= uint32_t{pixels[row * below + column * right + channel]} << (8 * b);
    }
    store_word(out, last + 1, begin, word);
  }
}

}  // namespace

#define CT_DEFINE(name, channels)                                 \
  extern "C" __global__ void __launch_bounds__(kTransposeThreads) \
      name(const __grid_constant__ TransposeParams params) {      \
    const TransposeView& view = params.pictures[blockIdx.y];      \
    if (blockIdx.x < view.ctas) transpose<channels>(view);        \
  }
CT_TRANSPOSE_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
