// APV's inverse transform: a thread a block, all components of a frame in a launch.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Both passes are sums of pairs of 16-bit numbers by 8-bit ones, an instruction each: the clip to
// 16 bits between them packs the pairs of the second one. A block is eight loads of 16 bytes, and
// eight stores: the threads of a warp have blocks side by side.
#include "cuda/apv/kernels.h"
#include "cuda/common/ptx.cuh"
#include "transform/apv/arithmetic.h"

namespace cudatransform::cuda {
namespace {

// Two factors in the lowest bytes.
constexpr uint32_t factors(int first, int second) {
  return (static_cast<uint32_t>(first) & 255) | (static_cast<uint32_t>(second) & 255) << 8;
}

// The eight results of four pairs of frequencies: 0 and 4, 2 and 6, 1 and 3, 5 and 7.
__device__ __forceinline__ void invert_pairs(uint32_t p04, uint32_t p26, uint32_t p13, uint32_t p57,
                                             int round, int (&to)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const auto t = [i](int j) { return apv_basis(j, i); };
    const int even = dot2_s16_s8<false>(p26, factors(t(2), t(6)),
                                        dot2_s16_s8<false>(p04, factors(t(0), t(4)), round));
    const int odd = dot2_s16_s8<false>(p57, factors(t(5), t(7)),
                                       dot2_s16_s8<false>(p13, factors(t(1), t(3)), 0));
    to[i] = even + odd;
    to[7 - i] = even - odd;
  }
}

// Products of up to 31 bits where the largest factor allows that; else of 64, which is rare.
template <bool kIsWide>
struct Dequantizer {
  const uint8_t* weights;
  int32_t scale, shift, round;

  __device__ __forceinline__ int operator()(int coef, int i) const {
    const int32_t factor = weights[i] * scale;
    if constexpr (!kIsWide) return (coef * factor + round) >> shift;
    const int64_t value = (int64_t{coef} * factor + round) >> shift;
    return static_cast<int>(max(int64_t{-32768}, min(int64_t{32767}, value)));
  }
};

// The columns of rows `a` and `b`, as pairs, from two words of 16 bits each.
template <typename Dequantize>
__device__ __forceinline__ uint32_t dequantized_pair(const Dequantize& dequantize, uint32_t a,
                                                     uint32_t b, bool high, int row_a, int row_b,
                                                     int column) {
  const auto half = [high](uint32_t word) {
    return high ? static_cast<int32_t>(word) >> 16 : static_cast<int16_t>(word & 0xffff);
  };
  return pack_clamped_s16(dequantize(half(b), 8 * row_b + column),
                          dequantize(half(a), 8 * row_a + column));
}

__device__ __forceinline__ uint32_t word_of(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

// rows[i]: the words of row i after both passes, as `store` gets them.
template <typename Dequantize, typename Store>
__device__ __forceinline__ void invert(const uint4 (&rows)[8], const Dequantize& dequantize,
                                       int depth, const Store& store) {
  // Column x of the intermediate result, rows packed in pairs of columns: 0 and 4, 2 and 6, 1 and
  // 3, 5 and 7.
  uint32_t packed[4][8];
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    constexpr int kFirst[4] = {0, 2, 1, 5}, kSecond[4] = {4, 6, 3, 7};
    int columns[2][8];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int x = i == 0 ? kFirst[pair] : kSecond[pair];
      const auto two = [&](int a, int b) {
        return dequantized_pair(dequantize, word_of(rows[a], x / 2), word_of(rows[b], x / 2),
                                x % 2 != 0, a, b, x);
      };
      invert_pairs(two(0, 4), two(2, 6), two(1, 3), two(5, 7), 1 << (kApvColumnShift - 1),
                   columns[i]);
    }
#pragma unroll
    for (int y = 0; y < 8; ++y)
      packed[pair][y] =
          pack_clamped_s16(columns[1][y] >> kApvColumnShift, columns[0][y] >> kApvColumnShift);
  }
  const int shift = apv_row_shift(depth), middle = 1 << (depth - 1), peak = (1 << depth) - 1;
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    int row[8];
    invert_pairs(packed[0][y], packed[1][y], packed[2][y], packed[3][y],
                 (1 << (shift - 1)) + (middle << shift), row);
#pragma unroll
    for (int x = 0; x < 8; ++x) row[x] = max(0, min(peak, row[x] >> shift));
    store(y, row);
  }
}

__device__ __forceinline__ uint32_t both(int low, int high, int shift) {
  return (static_cast<uint32_t>(low) | static_cast<uint32_t>(high) << 16) << shift;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kApvInverseThreads)
    apv_inverse(const __grid_constant__ ApvInverseParams params) {
  const uint32_t block = blockIdx.x * kApvInverseThreads + threadIdx.x;
  if (block >= params.blocks) return;
  int component = 0;
#pragma unroll
  for (int c = 1; c < kMaxApvComponents; ++c) component += block >= params.planes[c].first_block;
  // Blocks of a warp may be in two components: read as global memory, through the L1 cache.
  const ApvPlaneParams& plane = as_memory(params.planes)[component];
  const uint32_t index = block - plane.first_block;
  const uint32_t y = divide(index, plane.by_across), x = index - y * plane.blocks_across;
  const uint32_t tile = divide(y, plane.by_tile_down) * static_cast<uint32_t>(params.tile_columns) +
                        divide(x, plane.by_tile_across);
  const int32_t scale = apv_scale(plane.qp[tile]);
  const auto* const from = reinterpret_cast<const uint4*>(plane.coefs) +
                           (uint64_t{y} * plane.coef_blocks_across + x) * 8;
  uint4 rows[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) rows[i] = from[i];

  uint8_t* const to = plane.samples + int64_t{8} * y * plane.pitch + 16 * x;
  const int32_t width = min(8, plane.width - static_cast<int32_t>(8 * x));
  const int32_t height = min(8, plane.height - static_cast<int32_t>(8 * y));
  const bool is_whole = width == 8 && plane.is_aligned;
  const int64_t pitch = plane.pitch;
  const int shift = params.shift;
  const auto store = [&](int i, const int(&row)[8]) {
    if (i >= height) return;
    uint8_t* const at = to + i * pitch;
    if (is_whole) {
      *reinterpret_cast<uint4*>(at) =
          make_uint4(both(row[0], row[1], shift), both(row[2], row[3], shift),
                     both(row[4], row[5], shift), both(row[6], row[7], shift));
      return;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (k < width) reinterpret_cast<uint16_t*>(at)[k] = static_cast<uint16_t>(row[k] << shift);
  };
  const int dequantizer = apv_dequantizer_shift(params.depth), round = 1 << (dequantizer - 1);
  // |-32768 factor| + round < 2^31.
  if (plane.max_weight * scale < 65536 - 1)
    invert(rows, Dequantizer<false>{plane.weights, scale, dequantizer, round}, params.depth, store);
  else
    invert(rows, Dequantizer<true>{plane.weights, scale, dequantizer, round}, params.depth, store);
}

}  // namespace cudatransform::cuda
