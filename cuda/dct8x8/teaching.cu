// The methods that exist once, in place on a sequence of blocks of 64 values: ifast, the fp64
// definition, and the road from the textbook formula to transposing by warp shuffles.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frame's formats are the repack kernels' business, so each kernel here is its algorithm and
// nothing else. CTAs have 256 threads, that is four blocks where a thread has one sample. On the
// CPU: the types NaiveMethod to ReferenceMethod of transform/dct8x8/teaching.h and block.h, in
// portable.cpp; ifast also as IfastShort and IfastVector in vectors.
#include "cuda/dct8x8/general_params.h"
#include "cuda/dct8x8/kernels.h"
#include "transform/dct8x8/teaching.h"

namespace cudatransform::cuda {
namespace {

// The thread's sample in shared memory, where a CTA keeps its four blocks, and in the sequence.
struct SampleThread {
  uint32_t n;
  int in_cta, i;
  bool active;
};
__device__ __forceinline__ SampleThread sample_thread(uint32_t count) {
  const uint32_t n = blockIdx.x * kRepackThreads + threadIdx.x;
  return {n, int(threadIdx.x / 64), int(threadIdx.x % 64), n / 64 < count};
}

// naive: every thread computes one output from the formula, cosines and all, straight from global
// memory. The barrier is there because the result replaces the input.
template <bool kForward>
__device__ __forceinline__ void naive(float* values, uint32_t count, int level_shift) {
  const SampleThread t = sample_thread(count);
  const float* block = values + (t.n - t.i);
  float result = 0;
  if (t.active) {
    result = kForward ? naive_forward_value(block, t.i % 8, t.i / 8, float(level_shift))
                      : naive_inverse_value(block, t.i % 8, t.i / 8, float(level_shift));
  }
  __syncthreads();
  if (t.active) values[t.n] = result;
}

// matrix: the product with the cosine table from one side, then from the other; a thread computes
// one element of each product, and the blocks wait in shared memory.
template <bool kForward>
__device__ __forceinline__ void matrix(float* values, uint32_t count, int level_shift) {
  __shared__ float block[4][64], half[4][64];
  const SampleThread t = sample_thread(count);
  if (t.active) block[t.in_cta][t.i] = values[t.n] - (kForward ? float(level_shift) : 0.0f);
  __syncthreads();
  const int row = t.i / 8, column = t.i % 8;
  if (t.active) {
    half[t.in_cta][t.i] = kForward ? times_dct_transposed(block[t.in_cta], row, column)
                                   : times_dct(block[t.in_cta], row, column);
  }
  __syncthreads();
  if (!t.active) return;
  values[t.n] = kForward ? dct_times(half[t.in_cta], row, column)
                         : dct_transposed_times(half[t.in_cta], row, column) + float(level_shift);
}

// One output of a one-dimensional transform of f[0], f[stride], ... by the table.
template <bool kForward, typename T>
__device__ __forceinline__ T table_1d(const T* f, int stride, int out) {
  T sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    sum += f[i * stride] * (kForward ? dct_matrix<T>(out, i) : dct_matrix<T>(i, out));
  return sum;
}

// separable: rows, then columns, in place in shared memory; a thread has one sample.
template <bool kForward>
__device__ __forceinline__ void separable(float* values, uint32_t count, int level_shift) {
  __shared__ float block[4][64];
  const SampleThread t = sample_thread(count);
  float* f = block[t.in_cta];
  f[t.i] = t.active ? values[t.n] - (kForward ? float(level_shift) : 0.0f) : 0.0f;
  __syncthreads();
  float result = table_1d<kForward>(f + t.i / 8 * 8, 1, t.i % 8);
  __syncthreads();
  f[t.i] = result;
  __syncthreads();
  result = table_1d<kForward>(f + t.i % 8, 8, t.i / 8);
  if (t.active) values[t.n] = result + (kForward ? 0.0f : float(level_shift));
}

// reference: the same in double precision, with the factors of the definition where the definition
// has them, so that DC is exact.
template <bool kForward>
__device__ __forceinline__ void reference(double* values, uint32_t count, int level_shift) {
  __shared__ double block[4][64], rows[4][64];
  const SampleThread t = sample_thread(count);
  const double norm = ReferenceMethod::norm(t.i % 8, t.i / 8);
  const double value = t.active ? values[t.n] : 0.0;
  block[t.in_cta][t.i] = kForward ? value - level_shift : norm * value;
  __syncthreads();
  const int x = t.i % 8, y = t.i / 8;
  double sum = 0.0;
  for (int k = 0; k < 8; ++k) {
    sum += block[t.in_cta][8 * y + k] *
           (kForward ? cosine_matrix<double>(x, k) : cosine_matrix<double>(k, x));
  }
  rows[t.in_cta][t.i] = sum;
  __syncthreads();
  sum = 0.0;
  for (int k = 0; k < 8; ++k) {
    sum += rows[t.in_cta][8 * k + x] *
           (kForward ? cosine_matrix<double>(y, k) : cosine_matrix<double>(k, y));
  }
  if (t.active) values[t.n] = kForward ? norm * sum : sum + level_shift;
}

// decomposed: a thread transforms a whole row with Sung's eight taps, then a whole column, by way
// of shared memory. 32 blocks a CTA. Rows of nine floats give each of a warp's 32 threads a bank of
// its own: element i of row r of block b is in bank (72 b + 9 r + i) mod 32, which takes 32 values
// both for a fixed i (rows) and for a fixed r (columns).
template <bool kForward>
__device__ __forceinline__ void decomposed(float* values, uint32_t count, int level_shift) {
  constexpr int kRow = 9, kBlock = 8 * kRow;
  __shared__ float blocks[kRepackThreads / 8 * kBlock];
  const uint32_t block = blockIdx.x * (kRepackThreads / 8) + threadIdx.x / 8;
  const int line = threadIdx.x % 8;
  const bool active = block < count;
  float* shared = blocks + threadIdx.x / 8 * kBlock;
  float* row = values + size_t(block) * 64 + 8 * line;
  float v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = (active ? row[i] : 0.0f) - (kForward ? level_shift : 0);
  kForward ? decomposed_forward_1d<1>(v) : decomposed_inverse_1d<1>(v);
#pragma unroll
  for (int i = 0; i < 8; ++i) shared[kRow * line + i] = v[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = shared[kRow * i + line];
  kForward ? decomposed_forward_1d<1>(v) : decomposed_inverse_1d<1>(v);
#pragma unroll
  for (int i = 0; i < 8; ++i) shared[kRow * i + line] = v[i];
  __syncthreads();
  if (!active) return;
#pragma unroll
  for (int i = 0; i < 8; ++i) row[i] = shared[kRow * line + i] + (kForward ? 0 : level_shift);
}

// Transposes an 8x8 block of which each of eight neighbouring lanes holds a row. Step s swaps bit s
// of the row number with that of the column number: lanes s apart exchange the halves that are on
// the wrong side of the diagonal.
__device__ __forceinline__ void transpose_by_shuffles(float* v, int line) {
#pragma unroll
  for (int s = 1; s < 8; s *= 2) {
    const bool upper = (line & s) != 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i & s) continue;
      const float received = __shfl_xor_sync(0xffffffffu, upper ? v[i] : v[i + s], s);
      if (upper)
        v[i] = received;
      else
        v[i + s] = received;
    }
  }
}

// shuffle: the same arithmetic, but rows become columns without leaving the registers.
template <bool kForward>
__device__ __forceinline__ void shuffle(float* values, uint32_t count, int level_shift) {
  const uint32_t block = blockIdx.x * (kRepackThreads / 8) + threadIdx.x / 8;
  const int line = threadIdx.x % 8;
  const bool active = block < count;
  float* row = values + size_t(block) * 64 + 8 * line;
  float v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = (active ? row[i] : 0.0f) - (kForward ? level_shift : 0);
  kForward ? decomposed_forward_1d<1>(v) : decomposed_inverse_1d<1>(v);
  transpose_by_shuffles(v, line);
  kForward ? decomposed_forward_1d<1>(v) : decomposed_inverse_1d<1>(v);
  transpose_by_shuffles(v, line);
  if (!active) return;
#pragma unroll
  for (int i = 0; i < 8; ++i) row[i] = v[i] + (kForward ? 0 : level_shift);
}

// ifast: one thread per block, all of it in registers.
template <bool kForward>
__device__ __forceinline__ void ifast(int32_t* values, uint32_t count, int level_shift) {
  const uint32_t block = blockIdx.x * kRepackThreads + threadIdx.x;
  if (block >= count) return;
  int4* words = reinterpret_cast<int4*>(values + size_t(block) * 64);
  int32_t v[64];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int4 four = words[i];
    v[4 * i] = four.x, v[4 * i + 1] = four.y, v[4 * i + 2] = four.z, v[4 * i + 3] = four.w;
  }
  kForward ? IfastMethod::forward(v, level_shift) : IfastMethod::inverse(v, level_shift);
#pragma unroll
  for (int i = 0; i < 16; ++i)
    words[i] = make_int4(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
}

}  // namespace

#define CT_KERNEL(name, method, direction, Value)                                       \
  extern "C" __global__ void __launch_bounds__(kRepackThreads)                          \
      name(Value* values, uint32_t count, int level_shift) {                            \
    method<Direction::k##direction == Direction::kForward>(values, count, level_shift); \
  }
CT_TEACHING_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
