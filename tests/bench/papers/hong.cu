// Hong's three algorithms as CUDA kernels, with a thread a block and with a thread a sample:
// forward transforms of 8-bit samples to 16-bit coefficients, each block's where its samples are,
// not quantized. Written from the paper's description.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Names: hong_<algorithm>_<variant>. Variants: block, a thread a block; global, a thread a sample,
// which keeps nothing but in global memory; shared, a thread a sample, the block in shared memory
// (OpenCL's local memory). Multiply-adds are written out, as -fmad=false has the compiler make
// none.
#include "tests/bench/gpu/params.h"
#include "transform/dct8x8/1d.h"

namespace cudatransform::bench {
namespace {

constexpr unsigned kBlockThreads = 64;    // of a CTA with a thread a block
constexpr unsigned kSampleThreads = 256;  // with a thread a sample: four blocks

struct Block {
  const uint8_t* samples;
  int16_t* coefs;
  uint32_t index;
  bool active;  // else the last one once more, which is not stored
};

__device__ __forceinline__ Block block_at(const PaperParams& p, uint32_t index) {
  const uint32_t block = min(index, p.blocks - 1);
  const uint32_t by = block / p.blocks_w, bx = block - by * p.blocks_w;
  return {p.samples + int64_t(8 * by) * p.sample_pitch + 8 * bx,
          p.coefs + int64_t(8 * by) * p.coef_pitch + 8 * bx, block, index < p.blocks};
}
__device__ __forceinline__ Block block_of_thread(const PaperParams& p) {
  return block_at(p, blockIdx.x * kBlockThreads + threadIdx.x);
}
__device__ __forceinline__ Block block_of_sample(const PaperParams& p) {
  return block_at(p, blockIdx.x * (kSampleThreads / 64) + threadIdx.x / 64);
}

__device__ __forceinline__ float sample_at(const PaperParams& p, const Block& block, int i) {
  return float(block.samples[i / 8 * p.sample_pitch + i % 8]) - 128.0f;
}
__device__ __forceinline__ void store(const PaperParams& p, const Block& block, int i, float x) {
  if (block.active) block.coefs[i / 8 * p.coef_pitch + i % 8] = int16_t(__float2int_rn(x));
}

// Coefficient i by the formula; sample(k) is the block's k-th one. Cosines and roots are computed
// in place.
template <typename Sample>
__device__ __forceinline__ float naive(int i, Sample&& sample) {
  const float step = 0.196349541f;  // pi / 16
  const int u = i % 8, v = i / 8;
  float sum = 0.0f;
#pragma unroll 1
  for (int y = 0; y < 8; ++y) {
#pragma unroll 1
    for (int x = 0; x < 8; ++x) {
      const float cosines =
          cosf(float((2 * x + 1) * u) * step) * cosf(float((2 * y + 1) * v) * step);
      sum = __fmaf_rn(sample(8 * y + x), cosines, sum);
    }
  }
  const float cu = u == 0 ? sqrtf(0.125f) : 0.5f, cv = v == 0 ? sqrtf(0.125f) : 0.5f;
  return cu * cv * sum;
}

// The cosine table T, in global memory.
__device__ const Matrix8x8<float> kTable = make_dct_matrix<float>();

// Element i of M T^T, and of T M. `table` is T in any memory.
__device__ __forceinline__ float times_transposed(const float* m, const float* table, int i) {
  float sum = 0.0f;
#pragma unroll
  for (int n = 0; n < 8; ++n) sum = __fmaf_rn(m[i / 8 * 8 + n], table[i % 8 * 8 + n], sum);
  return sum;
}
__device__ __forceinline__ float table_times(const float* table, const float* m, int i) {
  float sum = 0.0f;
#pragma unroll
  for (int n = 0; n < 8; ++n) sum = __fmaf_rn(table[i / 8 * 8 + n], m[8 * n + i % 8], sum);
  return sum;
}

}  // namespace

#define CT_BLOCK_KERNEL(name)                                 \
  extern "C" __global__ void __launch_bounds__(kBlockThreads) \
      name(const __grid_constant__ PaperParams p)
#define CT_SAMPLE_KERNEL(name)                                 \
  extern "C" __global__ void __launch_bounds__(kSampleThreads) \
      name(const __grid_constant__ PaperParams p)

// ---- Naive ----

CT_BLOCK_KERNEL(hong_naive_block) {
  const Block block = block_of_thread(p);
#pragma unroll 1
  for (int i = 0; i < 64; ++i)
    store(p, block, i, naive(i, [&](int k) { return sample_at(p, block, k); }));
}

CT_SAMPLE_KERNEL(hong_naive_global) {
  const Block block = block_of_sample(p);
  const int i = threadIdx.x % 64;
  store(p, block, i, naive(i, [&](int k) { return sample_at(p, block, k); }));
}

CT_SAMPLE_KERNEL(hong_naive_shared) {
  __shared__ float samples[kSampleThreads];
  const Block block = block_of_sample(p);
  const int i = threadIdx.x % 64;
  samples[threadIdx.x] = sample_at(p, block, i);
  __syncthreads();
  const float* mine = samples + threadIdx.x / 64 * 64;
  store(p, block, i, naive(i, [&](int k) { return mine[k]; }));
}

// ---- Matrix: T M T^T ----

// Loops with an array indexed in them, as on a CPU: so the array is in memory.
CT_BLOCK_KERNEL(hong_matrix_block) {
  const Block block = block_of_thread(p);
  float half[64];
#pragma unroll 1
  for (int i = 0; i < 64; ++i) {
    float sum = 0.0f;
    for (int n = 0; n < 8; ++n)
      sum = __fmaf_rn(sample_at(p, block, i / 8 * 8 + n), kTable.m[i % 8][n], sum);
    half[i] = sum;
  }
#pragma unroll 1
  for (int i = 0; i < 64; ++i) store(p, block, i, table_times(kTable.m[0], half, i));
}

CT_SAMPLE_KERNEL(hong_matrix_global) {
  const Block block = block_of_sample(p);
  const int i = threadIdx.x % 64;
  float* half = p.scratch + size_t(block.index) * 64;
  float sum = 0.0f;
#pragma unroll
  for (int n = 0; n < 8; ++n)
    sum = __fmaf_rn(sample_at(p, block, i / 8 * 8 + n), kTable.m[i % 8][n], sum);
  half[i] = sum;
  __syncthreads();
  store(p, block, i, table_times(kTable.m[0], half, i));
}

CT_SAMPLE_KERNEL(hong_matrix_shared) {
  __shared__ float samples[kSampleThreads], halves[kSampleThreads], table[64];
  const Block block = block_of_sample(p);
  const int i = threadIdx.x % 64, first = threadIdx.x / 64 * 64;
  if (threadIdx.x < 64) table[i] = kTable.m[i / 8][i % 8];
  samples[threadIdx.x] = sample_at(p, block, i);
  __syncthreads();
  halves[threadIdx.x] = times_transposed(samples + first, table, i);
  __syncthreads();
  store(p, block, i, table_times(table, halves + first, i));
}

// ---- Rows, then columns, by a fast one-dimensional transform ----

CT_BLOCK_KERNEL(hong_rowcolumn_block) {
  const Block block = block_of_thread(p);
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = sample_at(p, block, i);
#pragma unroll
  for (int y = 0; y < 8; ++y) decomposed_forward_1d<1>(v + 8 * y);
#pragma unroll
  for (int x = 0; x < 8; ++x) decomposed_forward_1d<8>(v + x);
#pragma unroll
  for (int i = 0; i < 64; ++i) store(p, block, i, v[i]);
}

}  // namespace cudatransform::bench
