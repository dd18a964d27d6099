// How wavelet kernels read and write bands, values between launches, and samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/params.h"
#include "transform/samples.h"

namespace cudatransform::cuda {

// ---- Quantizer ----

// 16 bits: a value is (2 l qf + sign(l) (2 qo + 1) + 3) >> 3, that of 0 as well. Scaled by 2^13,
// the upper half of a word is the value as an int16_t keeps it, with `more` added. The sign and 1
// are one instruction.
__device__ __forceinline__ uint32_t dequantized_above(int32_t level, uint32_t scaled_factor,
                                                      uint32_t scaled_offset, int32_t more) {
  const auto sign_and_one = static_cast<uint32_t>(__viaddmin_s32_relu(level, 1, 2));
  return static_cast<uint32_t>(level) * scaled_factor +
         (sign_and_one * scaled_offset +
          ((3u << 13) - scaled_offset + (static_cast<uint32_t>(more) << 16)));
}
template <typename Coef>
__device__ __forceinline__ int32_t dequantized(int32_t level, const ValuesParams& band) {
  if constexpr (sizeof(Coef) == 2) {
    return static_cast<int32_t>(
               dequantized_above(level, band.scaled_factor, band.scaled_offset, 0)) >>
           16;
  } else {
    const uint32_t sign = static_cast<uint32_t>(level >> 31);
    const uint32_t magnitude = (static_cast<uint32_t>(level) ^ sign) - sign;
    const auto value =
        static_cast<uint32_t>((uint64_t{magnitude} * band.factor + band.offset + 2) >> 2);
    return level == 0 ? 0 : static_cast<int32_t>((value ^ sign) - sign);
  }
}

// The quotient as the high word of a product with 2^(30+s) / qf, or 2^(62+s) / qf, one more, where
// 2^s is the largest power that qf holds: exact below 2^29 and 2^61. Factors above 4.
template <typename Coef>
__device__ __forceinline__ int32_t quantized(int32_t value, const ValuesParams& band) {
  if constexpr (sizeof(Coef) == 2) {
    const int32_t quotient = __mulhi(4 * value, band.reciprocal32) >> band.reciprocal_shift;
    return quotient + (value < 0 ? 1 : 0);  // towards 0
  } else {
    const uint32_t sign = static_cast<uint32_t>(value >> 31);
    const uint32_t magnitude = (static_cast<uint32_t>(value) ^ sign) - sign;
    const auto level = static_cast<uint32_t>(
        __umul64hi(4 * uint64_t{magnitude}, band.reciprocal64) >> band.reciprocal_shift);
    return static_cast<int32_t>((level ^ sign) - sign);
  }
}

// Quantizes two values of 16 bits, each in the upper half of a word. The high word of a product has
// the quotient, towards minus infinity, in two of its bytes. A factor of 4 leaves all values but
// -32768 as they are.
__device__ __forceinline__ uint32_t quantized_pair(uint32_t a, uint32_t b,
                                                   const ValuesParams& band) {
  const auto high_word = [&](uint32_t above) {
    return static_cast<uint32_t>(__mulhi(static_cast<int32_t>(above), band.upper_reciprocal));
  };
  const uint32_t both = bytes_of(high_word(a), high_word(b), band.upper_bytes);
  // Negative ones and 1: towards 0.
  return __vmaxs2(both, __viaddmin_s16x2(both, in_halves(1), 0));
}

__device__ __forceinline__ bool quantizes(const ValuesParams& band) { return band.factor != 4; }

// ---- Values ----

template <typename Coef, int kCount>
struct alignas(sizeof(Coef) * kCount) ValueVector {
  Coef at[kCount];
};

// Words of global memory. The instruction states it, since a compiler that was made to keep a
// pointer no longer knows its memory. It is volatile, so that it stays after the wait.
template <int kWords>
__device__ __forceinline__ ValueVector<uint32_t, kWords> load_words(const uint8_t* from) {
  ValueVector<uint32_t, kWords> words;
#ifdef CT_EMULATED
  words = *reinterpret_cast<const ValueVector<uint32_t, kWords>*>(from);
#else
  uint32_t* const at = words.at;
  if constexpr (kWords == 1)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(at[0]) : "l"(from));
  else
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(at[0]), "=r"(at[kWords - 1])
                 : "l"(from));
#endif
  return words;
}

template <int kWords>
__device__ __forceinline__ void store_words(uint8_t* to,
                                            const ValueVector<uint32_t, kWords>& words) {
#ifdef CT_EMULATED
  *reinterpret_cast<ValueVector<uint32_t, kWords>*>(to) = words;
#else
  const uint32_t* const at = words.at;
  if constexpr (kWords == 1)
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(at[0]) : "memory");
  else
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(at[0]), "r"(at[1]) : "memory");
#endif
}

template <typename Coef>
__device__ __forceinline__ Coef* address_of(const ValuesParams& values, int32_t x, int32_t y) {
  return reinterpret_cast<Coef*>(values.data + y * values.pitch) + x;
}

// kCount neighbors from x on, a multiple of kCount.
template <typename Coef, int kCount>
__device__ __forceinline__ void load_values(const ValuesParams& values, int32_t x, int32_t y,
                                            int32_t (&to)[kCount]) {
  const auto vector =
      *reinterpret_cast<const ValueVector<Coef, kCount>*>(address_of<Coef>(values, x, y));
#pragma unroll
  for (int i = 0; i < kCount; ++i) to[i] = vector.at[i];
}
template <typename Coef, int kCount>
__device__ __forceinline__ void store_values(const ValuesParams& values, int32_t x, int32_t y,
                                             const int32_t (&from)[kCount]) {
  ValueVector<Coef, kCount> vector;
#pragma unroll
  for (int i = 0; i < kCount; ++i) vector.at[i] = static_cast<Coef>(from[i]);
  *reinterpret_cast<ValueVector<Coef, kCount>*>(address_of<Coef>(values, x, y)) = vector;
}

// ---- Samples ----

__device__ __forceinline__ uint8_t* sample_at(const SamplesParams& samples, int32_t x,
                                              int32_t row) {
  return samples.data + row * samples.pitch + int64_t{x} * samples.stride;
}

__device__ __forceinline__ int32_t read_sample(const SamplesParams& samples, int32_t x,
                                               int32_t row) {
  const uint8_t* at = sample_at(samples, x, row);
  if (samples.bytes == 1) return *at;
  return unpack_sample16(*reinterpret_cast<const uint16_t*>(at), samples.shift, samples.peak);
}
__device__ __forceinline__ void write_sample(const SamplesParams& samples, int32_t x, int32_t row,
                                             int32_t sample) {
  uint8_t* at = sample_at(samples, x, row);
  if (samples.bytes == 1)
    *at = static_cast<uint8_t>(sample);
  else
    *reinterpret_cast<uint16_t*>(at) =
        static_cast<uint16_t>(static_cast<uint32_t>(sample) << samples.shift);
}

// A sample around 0; beyond the picture its last column and row repeat.
template <typename Coef>
__device__ __forceinline__ int32_t centered_sample(const SamplesParams& samples, int32_t x,
                                                   int32_t y) {
  const int32_t sample = read_sample(samples, min(x, samples.width - 1), min(y, samples.rows - 1));
  return static_cast<Coef>(sample - samples.level_shift);
}

__device__ __forceinline__ int32_t sample_of(int32_t value, const SamplesParams& samples) {
  return clamp_int(value, samples.low, samples.high) + samples.level_shift;
}

// Writes a value as a sample, in each of its rows, and returns its squared error.
__device__ __forceinline__ uint64_t finish_sample(int32_t value, const SamplesParams& samples,
                                                  const SamplesParams& reference, bool compares,
                                                  int32_t x, int32_t y) {
  if (x >= samples.width || y >= samples.rows) return 0;
  const int32_t sample = sample_of(value, samples);
  if (samples.data != nullptr) {
    const int32_t first = y * samples.row_repeat;
    const int32_t end = min(first + samples.row_repeat, samples.memory_rows);
    for (int32_t row = first; row < end; ++row) write_sample(samples, x, row, sample);
  }
  if (!compares) return 0;
  const int64_t difference = int64_t{sample} - read_sample(reference, x, y);
  return static_cast<uint64_t>(difference * difference);
}

// A value after a level that ends with a shift.
template <typename Coef>
__device__ __forceinline__ int32_t shifted_down(int32_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value) + 1u) >> 1;
}
template <typename Coef>
__device__ __forceinline__ int32_t shifted_up(int32_t value) {
  return static_cast<Coef>(static_cast<uint32_t>(value) << 1);
}

// ---- Sums ----

// All lanes of a warp call it.
__device__ __forceinline__ void add_measured(const MeasureParams& measure, int32_t component,
                                             uint32_t zeros, uint64_t error) {
  if (measure.sums == nullptr) return;
  const bool adds = threadIdx.x % 32 == 0;
  if (measure.zeros != 0) {
    const uint64_t sum = sum_of_warp(uint64_t{zeros});
    if (adds && sum != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&measure.sums->zeros[component]), sum);
  }
  if (measure.sse != 0) {
    const uint64_t sum = sum_of_warp(error);
    if (adds && sum != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&measure.sums->sse[component]), sum);
  }
}

}  // namespace cudatransform::cuda
