// The steps of GPUDCT's ladder that are not methods of the elements: inverse transforms of 16-bit
// quantized coefficients in block layout to 8-bit samples, written from its description of each
// step.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Its naive, separable, decomposed and no_shared are our naive, separable, decomposed and shuffle
// (cuda/dct8x8/teaching.cu). Frames are whole blocks, and threads beyond the last repeat it without
// storing. Multiply-adds are written out, as the compiler makes none under -fmad=false.
#include "cuda/dct8x8/adapters.cuh"
#include "cuda/dct8x8/transpose.cuh"
#include "tests/bench/gpu/params.h"
#include "transform/dct8x8/constants.h"

namespace cudatransform::bench {
namespace {

constexpr unsigned kThreads = 256;

// The top left sample of a block.
__device__ __forceinline__ uint8_t* samples_of(const PaperParams& p, uint32_t block) {
  const uint32_t by = block / p.blocks_w;
  return p.samples + int64_t(8 * by) * p.sample_pitch + 8 * (block - by * p.blocks_w);
}

// Rounds, clamps to 0..255.
__device__ __forceinline__ uint32_t byte_of(float x) {
  return uint32_t(min(max(__float2int_rn(x), 0), 255));
}
__device__ __forceinline__ uint32_t four_bytes(const float* x) {
  return byte_of(x[0]) | byte_of(x[1]) << 8 | byte_of(x[2]) << 16 | byte_of(x[3]) << 24;
}

// Eight quantized coefficients, dequantized. The table's entries depend on the lane.
__device__ __forceinline__ void load_row(const PaperParams& p, uint32_t block, int line, float* v) {
  int16_t qcoef[8];
  cuda::load_eight(reinterpret_cast<const uint8_t*>(p.coefs + size_t(block) * 64 + 8 * line),
                   qcoef);
  const float4* table = reinterpret_cast<const float4*>(cuda::as_memory(p.inverse.mul)) + 2 * line;
  const float4 a = table[0], b = table[1];
  const float mul[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = float(qcoef[k]) * mul[k];
}

// Sung's equations, transposed, in 16 multiply-adds, 7 multiplications and 12 additions.
__device__ __forceinline__ void inverse_1d(float* v) {
  constexpr Matrix8x8<float> kMatrix = make_dct_matrix<float>();
  constexpr float kC1 = kMatrix.m[1][0], kC2 = kMatrix.m[2][0], kC3 = kMatrix.m[3][0];
  constexpr float kC4 = kMatrix.m[4][0], kC5 = kMatrix.m[5][0], kC6 = kMatrix.m[6][0];
  constexpr float kC7 = kMatrix.m[7][0];
  const float dc = v[0] * kC4;
  const float sum = __fmaf_rn(v[4], kC4, dc), difference = __fmaf_rn(v[4], -kC4, dc);
  const float low = __fmaf_rn(v[6], kC6, v[2] * kC2), high = __fmaf_rn(v[6], -kC2, v[2] * kC6);
  const float even[4] = {sum + low, difference + high, difference - high, sum - low};
  constexpr float kOdd[4][4] = {
      {kC1, kC3, kC5, kC7}, {kC3, -kC7, -kC1, -kC5}, {kC5, -kC1, kC7, kC3}, {kC7, -kC5, kC3, -kC1}};
  float odd[4];
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    odd[n] = v[1] * kOdd[n][0];
#pragma unroll
    for (int k = 1; k < 4; ++k) odd[n] = __fmaf_rn(v[2 * k + 1], kOdd[n][k], odd[n]);
  }
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    v[n] = even[n] + odd[n];
    v[7 - n] = even[n] - odd[n];
  }
}

// Bytes of a column to bytes of a row, or back, in four neighboring lanes, as
// transpose_by_shuffles does it with values. `a` and `b` are four lines of two 4x4 tiles, whose
// bytes share the shuffles.
__device__ __forceinline__ void transpose_bytes(uint32_t* a, uint32_t* b, int line) {
  bool upper = (line & 2) != 0;
  const uint32_t pairs =
      __shfl_xor_sync(0xffffffffu, __byte_perm(*a, *b, upper ? 0x5410 : 0x7632), 2);
  *a = __byte_perm(*a, pairs, upper ? 0x3254 : 0x5410);
  *b = __byte_perm(*b, pairs, upper ? 0x3276 : 0x7610);
  upper = (line & 1) != 0;
  const uint32_t bytes =
      __shfl_xor_sync(0xffffffffu, __byte_perm(*a, *b, upper ? 0x6420 : 0x7531), 1);
  *a = __byte_perm(*a, bytes, upper ? 0x3514 : 0x5240);
  *b = __byte_perm(*b, bytes, upper ? 0x3716 : 0x7260);
}

}  // namespace

// lut: like naive, a thread a sample and 64 terms, but cosines come from a table in memory.
__device__ const Matrix8x8<float> kTable = make_dct_matrix<float>();

extern "C" __global__ void __launch_bounds__(kThreads)
    gpudct_lut(const __grid_constant__ PaperParams p) {
  const uint32_t block = min(blockIdx.x * (kThreads / 64) + threadIdx.x / 64, p.blocks - 1);
  const bool active = blockIdx.x * (kThreads / 64) + threadIdx.x / 64 < p.blocks;
  const int x = threadIdx.x % 8, y = threadIdx.x % 64 / 8;
  const int16_t* qcoefs = p.coefs + size_t(block) * 64;
  float sum = 128.0f;
#pragma unroll
  for (int v = 0; v < 8; ++v) {
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      const float value = float(qcoefs[8 * v + u]) * p.inverse.mul[8 * v + u];
      sum = __fmaf_rn(value, kTable.m[u][x] * kTable.m[v][y], sum);
    }
  }
  if (active) samples_of(p, block)[y * p.sample_pitch + x] = uint8_t(byte_of(sum));
}

// next: a thread a row, transposed by shuffles, with savings on the way: the level shift is DC's,
// products are added where they arise, and samples are transposed back as bytes, four to a word, by
// three shuffles and not twelve.
extern "C" __global__ void __launch_bounds__(kThreads)
    gpudct_next(const __grid_constant__ PaperParams p) {
  const uint32_t place = blockIdx.x * (kThreads / 8) + threadIdx.x / 8;
  const uint32_t block = min(place, p.blocks - 1);
  const int line = threadIdx.x % 8;
  float v[8];
  load_row(p, block, line, v);
  if (line == 0) v[0] += 1024.0f;
  inverse_1d(v);
  cuda::transpose_by_shuffles(v, line);
  inverse_1d(v);
  // A column as two words, which bit 2 of the row's number selects.
  uint32_t low = four_bytes(v), high = four_bytes(v + 4);
  const bool upper = (line & 4) != 0;
  const uint32_t word = __shfl_xor_sync(0xffffffffu, upper ? low : high, 4);
  low = upper ? word : low;
  high = upper ? high : word;
  transpose_bytes(&low, &high, line);
  if (place < p.blocks) {
    *reinterpret_cast<uint2*>(samples_of(p, block) + line * p.sample_pitch) = make_uint2(low, high);
  }
}

// next16: four threads a block with two rows each. Of the three bits of a row's number one selects
// the thread's rows, so that exchanging it takes no shuffle: 16 for 16 values, not 24.
extern "C" __global__ void __launch_bounds__(kThreads)
    gpudct_next16(const __grid_constant__ PaperParams p) {
  const uint32_t place = blockIdx.x * (kThreads / 4) + threadIdx.x / 4;
  const uint32_t block = min(place, p.blocks - 1);
  const int lane = threadIdx.x % 4;  // rows lane and lane + 4; later such columns
  float v[2][8];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    load_row(p, block, lane + 4 * half, v[half]);
    if (half == 0 && lane == 0) v[0][0] += 1024.0f;
    inverse_1d(v[half]);
  }
  // Bit 2 is a matter of names.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float other = v[0][i + 4];
    v[0][i + 4] = v[1][i];
    v[1][i] = other;
  }
#pragma unroll
  for (int s = 1; s < 4; s *= 2) {
    const bool upper = (lane & s) != 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (i & s) continue;
        const float received = __shfl_xor_sync(0xffffffffu, upper ? v[half][i] : v[half][i + s], s);
        v[half][i] = upper ? received : v[half][i];
        v[half][i + s] = upper ? v[half][i + s] : received;
      }
    }
  }
  // word[w][half]: rows 4 w .. 4 w + 3 of column lane + 4 half; then columns 4 half .. 4 half + 3
  // of row lane + 4 w.
  uint32_t word[2][2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    inverse_1d(v[half]);
    word[0][half] = four_bytes(v[half]);
    word[1][half] = four_bytes(v[half] + 4);
  }
#pragma unroll
  for (int w = 0; w < 2; ++w) transpose_bytes(&word[w][0], &word[w][1], lane);
  if (place >= p.blocks) return;
  uint8_t* samples = samples_of(p, block) + lane * p.sample_pitch;
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    *reinterpret_cast<uint2*>(samples + int64_t(4 * w) * p.sample_pitch) =
        make_uint2(word[w][0], word[w][1]);
  }
}

}  // namespace cudatransform::bench
