// Rate-distortion optimized quantization (RDOQ) on the device: a thread's block in shared memory,
// around decide_by_rate().
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: decide_rd() of transform/dct8x8/decision.cpp.
#pragma once

#include <type_traits>

#include "cuda/dct8x8/adapters.cuh"
#include "cuda/dct8x8/float.cuh"
#include "cuda/dct8x8/params.h"
#include "transform/dct8x8/decision.h"

namespace cudatransform::cuda {

// ---- Coefficients of AA&N in eighths; the numbers are constants wherever the index is one ----

__device__ __forceinline__ float aan_eighths_mul(int i) {
  static constexpr AanEighths kTable = make_aan_eighths();
  return kTable.mul[i];
}
__device__ __forceinline__ float aan_eighths_half(int i) {
  static constexpr AanEighths kTable = make_aan_eighths();
  return kTable.half[i];
}
__device__ __forceinline__ int32_t eighths_of_float(float x, int i) {
  return integer_of_rounded(__fmaf_rn(x, aan_eighths_mul(i), kRound));
}

// ---- Rate and distortion ----

// The inputs of decisions on a CTA's blocks, which share one table, by places in zigzag order: the
// indices differ from thread to thread, and constant memory would serve one at a time.
struct RdTables {
  float mul[64];  // 1 / divisor, larger by 2^-16: see FastIslow::quantize()
  int32_t divisor[64];
  uint32_t reciprocal[64];
  uint8_t bits[256];  // AcBits

  // half_divisor(i) is 4 q of natural index i, as a float or an integer. All threads call it.
  template <typename HalfDivisor>
  __device__ __forceinline__ void fill(bool chroma, HalfDivisor&& half_divisor) {
    static constexpr AcBits kBits[2] = {make_ac_bits(false), make_ac_bits(true)};
    for (unsigned k = threadIdx.x; k < 64; k += kFusedThreads) {
      divisor[k] = 2 * int32_t(half_divisor(natural_of_zigzag(int(k))));
      mul[k] = 1.0f / float(divisor[k]) * (1.0f + 0x1p-16f);
      reciprocal[k] = (1u << 20) / uint32_t(divisor[k]);
    }
    for (unsigned i = threadIdx.x; i < 256; i += kFusedThreads) bits[i] = kBits[chroma].of[i];
    __syncthreads();
  }
};

// A thread's block for decide_by_rate(): eighths, which quantized coefficients replace.
struct SharedBlock {
  int16_t* values;
  const RdTables& tables;

  __device__ __forceinline__ int32_t magnitude(int k) const { return abs(int32_t(values[k])); }
  __device__ __forceinline__ int32_t qcoef(int k) const {
    return integer_of_rounded(__fmaf_rn(float(magnitude(k)), tables.mul[k], kRound));
  }
  __device__ __forceinline__ int32_t divisor(int k) const { return tables.divisor[k]; }
  __device__ __forceinline__ uint32_t reciprocal(int k) const { return tables.reciprocal[k]; }
  __device__ __forceinline__ void set(int k, int32_t qcoef) const {
    values[k] = int16_t(values[k] < 0 ? -qcoef : qcoef);
  }
};

struct RdShared {
  // Two values more than a block: threads that are at the same place of theirs use all banks.
  static constexpr int kStride = 66;
  RdTables tables;
  int16_t values[kFusedBlocks * kStride];

  __device__ __forceinline__ int16_t* block() { return values + kStride * threadIdx.x; }
  // Leaves a block's quantized coefficients in block(), in zigzag order; DC's is not set.
  // eighths(i) are limited, half_divisor(i) is the smallest that rounds to a quantized coefficient.
  template <typename Eighths, typename HalfDivisor>
  __device__ __forceinline__ void decide(uint32_t weight, bool chroma, Eighths&& eighths,
                                         HalfDivisor&& half_divisor) {
    int16_t* const mine = block();
    uint64_t nonzero = 0;
    uint32_t squares = 0;
#pragma unroll
    for (int k = 1; k < 64; ++k) {
      const int i = natural_of_zigzag(k);
      const int32_t x = eighths(i);
      const bool is_qcoef = abs(x) >= int32_t(half_divisor(i));
      squares += uint32_t(x * x);
      nonzero |= uint64_t(is_qcoef) << k;
      mine[k] = int16_t(is_qcoef ? x : 0);
    }
    decide_by_rate(nonzero, rd_weight_of(weight, chroma, squares), RdRates{tables.bits},
                   SharedBlock{mine, tables});
  }
};
// Its replacement where nothing is decided by rate.
struct NoRd {};
template <Quantizer Q>
using RdSharedOf = std::conditional_t<Q == Quantizer::kRd, RdShared, NoRd>;

}  // namespace cudatransform::cuda
