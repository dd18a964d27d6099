// Sums of bytes by weights on tensor cores.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A weight has three signed bytes, its digits: products by each are accumulated separately, and the
// three sums are combined after the last. So sums of integers stay exact.
//
// PTX ISA, NVIDIA: mma.m16n8k32, of 16 lines of 32 bytes by 32 weights of 8 outputs. Lane i has, of
// lines i / 4 and i / 4 + 8, bytes 4 (i % 4) to + 3 and those 16 further on; of output i / 4 the
// weights of these; and sums of both lines for outputs 2 (i % 4) and + 1.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/resize/params.h"

namespace cudatransform::cuda {

inline constexpr int kDigits = 3;
inline constexpr int32_t kMmaDepth = 32, kMmaLines = 16, kMmaOutputs = 8;

struct MmaLines {
  uint32_t words[4];  // of the first line, of the second; the same behind them
};
struct MmaWeights {
  uint32_t digits[kDigits][2];
};
struct MmaSums {
  int32_t digits[kDigits][4];  // of the first line for two outputs, of the second
};

__device__ __forceinline__ void multiply_add(const MmaLines& lines, const uint32_t (&weights)[2],
                                             int32_t (&sums)[4]) {
#if defined(CT_EMULATED) || __CUDA_ARCH__ < 800
  // The same by other lanes' words: for GPUs whose tensor cores have no such shape.
  const uint32_t lane = threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
#pragma unroll
  for (uint32_t part = 0; part < 4; ++part) {
    uint32_t from[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) from[i] = __shfl_sync(~0u, lines.words[i], row + part);
#pragma unroll
    for (int output = 0; output < 2; ++output) {
      const uint32_t first = __shfl_sync(~0u, weights[0], column + 4 * output + part);
      const uint32_t second = __shfl_sync(~0u, weights[1], column + 4 * output + part);
#pragma unroll
      for (int line = 0; line < 2; ++line) {
        int32_t& sum = sums[2 * line + output];
        sum = dot4_u8_s8(from[2 + line], second, dot4_u8_s8(from[line], first, sum));
      }
    }
  }
#else
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(lines.words[0]), "r"(lines.words[1]), "r"(lines.words[2]), "r"(lines.words[3]),
        "r"(weights[0]), "r"(weights[1]));
#endif
}

// Sums of nothing yet, with what rounds them.
__device__ __forceinline__ MmaSums empty_sums() {
  MmaSums sums = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) sums.digits[0][i] = 1 << 21;
  return sums;
}

// Number `i` of the sums, to be clamped to a byte.
__device__ __forceinline__ int32_t sum_of_digits(const MmaSums& sums, int i) {
  // Modulo 2^32 partial sums may wrap, the whole does not.
  return static_cast<int32_t>(static_cast<uint32_t>(sums.digits[0][i]) +
                              (static_cast<uint32_t>(sums.digits[1][i]) << 8) +
                              (static_cast<uint32_t>(sums.digits[2][i]) << 16)) >>
         22;
}

// Lines in shared memory, `pitch` bytes from one to the next: a lane's bytes from `from` on, which
// is of the lane's first line and at its first byte.
__device__ __forceinline__ MmaLines load_lines(const uint8_t* from, int32_t pitch) {
  const auto word = [=](int32_t at) { return *reinterpret_cast<const uint32_t*>(from + at); };
  return {{word(0), word(8 * pitch), word(16), word(8 * pitch + 16)}};
}

// The weights of an output, of which a lane has those of eight samples.
class OutputWeights {
 public:
  __device__ __forceinline__ OutputWeights(const ResizeAxisView& axis, int32_t output,
                                           int32_t outputs) {
    const bool exists = output < outputs;
    const int32_t at = exists ? output : 0;
    first_ = __ldg(axis.first + at);
    count_ = exists ? __ldg(axis.count + at) : 0;
    weights_ = axis.weights + int64_t{at} * axis.taps;
  }

  // Of samples `from` to + 3, and of those 16 further on.
  __device__ __forceinline__ MmaWeights at(int32_t from) const {
    MmaWeights weights;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t digits[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) digits[i] = digits_of(from + 16 * half + i);
      const uint32_t low = bytes_of(digits[0], digits[1], 0x5140);
      const uint32_t high = bytes_of(digits[2], digits[3], 0x5140);
      weights.digits[0][half] = bytes_of(low, high, 0x5410);
      weights.digits[1][half] = bytes_of(low, high, 0x7632);
      weights.digits[2][half] = bytes_of(bytes_of(digits[0], digits[1], 0x0062),
                                         bytes_of(digits[2], digits[3], 0x0062), 0x5410);
    }
    return weights;
  }

 private:
  // A weight is the sum of digits[i] 256^i: with 128 more in each digit they are those of a number
  // without a sign.
  __device__ __forceinline__ uint32_t digits_of(int32_t sample) const {
    constexpr uint32_t kMiddles = 0x808080;
    const int32_t i = sample - first_;
    if (i < 0 || i >= count_) return 0;
    return (static_cast<uint32_t>(__ldg(weights_ + i)) + kMiddles) ^ kMiddles;
  }

  const int32_t* weights_;
  int32_t first_, count_;
};

}  // namespace cudatransform::cuda
