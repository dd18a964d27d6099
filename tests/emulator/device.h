// nvcc's additions to C++, for the host's compiler: keywords, vectors, intrinsics.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included before a .cu file. It has the intrinsics that our kernels use, as NVIDIA's CUDA Math API
// documents them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/emulator/fibers.h"

#define CT_EMULATED 1
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __restrict__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static
#define threadIdx ::cudatransform::emulator::thread_index
#define blockIdx ::cudatransform::emulator::cta_index
#define blockDim ::cudatransform::emulator::cta_size
#define gridDim ::cudatransform::emulator::grid_size

using std::max;
using std::min;

#define CT_VECTORS(name, type)               \
  struct alignas(2 * sizeof(type)) name##2 { \
    type x, y;                               \
  };                                         \
  struct alignas(4 * sizeof(type)) name##4 { \
    type x, y, z, w;                         \
  };
CT_VECTORS(uint, unsigned)
CT_VECTORS(int, int)
CT_VECTORS(float, float)
CT_VECTORS(ushort, uint16_t)
CT_VECTORS(short, int16_t)
CT_VECTORS(uchar, uint8_t)
#undef CT_VECTORS
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

// ---- Threads that work together ----

namespace cudatransform::emulator {

template <typename T>
uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <typename T>
T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline unsigned lane() { return thread_index.x % 32; }

template <typename T>
T shuffle(uint32_t mask, T value, unsigned source, bool there) {
  const WarpExchange all(mask, to_bits(value));
  return there ? from_bits<T>(all.from(source % 32)) : value;
}

// Two lanes of 16 bits, or four of 8.
template <typename Lane, typename Operation>
uint32_t by_lanes(uint32_t a, uint32_t b, Operation&& operation) {
  uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Lane)) {
    const auto value = static_cast<std::make_unsigned_t<Lane>>(
        operation(static_cast<Lane>(a >> shift), static_cast<Lane>(b >> shift)));
    result |= uint32_t{value} << shift;
  }
  return result;
}

}  // namespace cudatransform::emulator

inline void __syncthreads() { cudatransform::emulator::wait_for_cta(); }
inline int __syncthreads_or(int value) {
  static bool any = false;
  __syncthreads();
  any = false;
  __syncthreads();
  any = any || value != 0;
  __syncthreads();
  return any;
}
inline void __syncwarp(uint32_t mask = ~0u) { cudatransform::emulator::WarpExchange(mask, 0); }
template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, unsigned distance) {
  return cudatransform::emulator::shuffle(mask, value, cudatransform::emulator::lane() ^ distance,
                                          true);
}
template <typename T>
T __shfl_sync(uint32_t mask, T value, unsigned source) {
  return cudatransform::emulator::shuffle(mask, value, source, true);
}
template <typename T>
T __shfl_up_sync(uint32_t mask, T value, unsigned distance) {
  const unsigned lane = cudatransform::emulator::lane();
  return cudatransform::emulator::shuffle(mask, value, lane - distance, lane >= distance);
}
template <typename T>
T __shfl_down_sync(uint32_t mask, T value, unsigned distance) {
  const unsigned lane = cudatransform::emulator::lane();
  return cudatransform::emulator::shuffle(mask, value, lane + distance, lane + distance < 32);
}
inline uint32_t __ballot_sync(uint32_t mask, bool value) {
  const cudatransform::emulator::WarpExchange all(mask, value);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) result |= static_cast<uint32_t>(all.from(lane)) << lane;
  return result;
}
inline bool __any_sync(uint32_t mask, bool value) { return __ballot_sync(mask, value) != 0; }
inline bool __all_sync(uint32_t mask, bool value) { return __ballot_sync(mask, value) == mask; }
inline uint32_t __reduce_add_sync(uint32_t mask, uint32_t value) {
  const cudatransform::emulator::WarpExchange all(mask, value);
  uint32_t sum = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) sum += static_cast<uint32_t>(all.from(lane));
  return sum;
}
template <typename T, typename V>
T atomicAdd(T* at, V value) {
  const T before = *at;
  *at = before + static_cast<T>(value);
  return before;
}
template <typename T, typename V>
T atomicOr(T* at, V value) {
  const T before = *at;
  *at = before | static_cast<T>(value);
  return before;
}
template <typename T>
T atomicMax(T* at, T value) {
  const T before = *at;
  *at = max(before, value);
  return before;
}
inline uint32_t atomicOr(uint32_t* at, uint32_t value) {
  const uint32_t before = *at;
  *at = before | value;
  return before;
}
template <typename T>
T __ldg(const T* from) {
  return *from;
}
inline void __threadfence() {}
inline void __threadfence_system() {}

// ---- Bits ----

inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
inline int __clzll(long long value) {
  return std::countl_zero(static_cast<unsigned long long>(value));
}
inline int __popc(unsigned value) { return std::popcount(value); }
inline int __popcll(unsigned long long value) { return std::popcount(value); }
inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
  const uint64_t bytes = uint64_t{y} << 32 | x;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t which = selector >> (4 * i);
    uint32_t byte = bytes >> (8 * (which & 7)) & 255;
    if (which & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (shift & 31));
}
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline uint32_t __funnelshift_lc(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>(((uint64_t{high} << 32 | low) << (shift < 32 ? shift : 32)) >> 32);
}
inline int32_t __mulhi(int32_t a, int32_t b) { return static_cast<int32_t>(int64_t{a} * b >> 32); }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return uint64_t{a} * b >> 32; }
inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}

// ---- Floating point ----

inline float __fmaf_rn(float a, float b, float c) { return std::fmaf(a, b, c); }
// Rounded towards an end. `sum` and `rest` together are the exact sum.
inline float fma_towards(float a, float b, float c, float end) {
  const double product = double{a} * b, sum = product + c, part = sum - product;
  const double rest = (product - (sum - part)) + (c - part);
  const auto nearest = static_cast<float>(sum);
  const double beyond = (nearest - sum) - rest;
  const bool moves = end < 0 ? beyond > 0 : beyond < 0;
  return moves ? std::nextafter(nearest, end) : nearest;
}
inline float __fmaf_rd(float a, float b, float c) { return fma_towards(a, b, c, -INFINITY); }
inline float __fmaf_ru(float a, float b, float c) { return fma_towards(a, b, c, INFINITY); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }  // NaN: 0
inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyintf(x)); }
inline float cospif(float x) { return static_cast<float>(std::cos(3.14159265358979323846 * x)); }

// ---- Several numbers in a word ----

#define CT_BY_LANES(name, lane, expression)                                                  \
  inline uint32_t name(uint32_t first, uint32_t second) {                                    \
    return cudatransform::emulator::by_lanes<lane>(first, second,                            \
                                                   [](int a, int b) { return expression; }); \
  }
CT_BY_LANES(__vmins2, int16_t, min(a, b))
CT_BY_LANES(__vmaxs2, int16_t, max(a, b))
CT_BY_LANES(__vminu2, uint16_t, min(a, b))
CT_BY_LANES(__vmaxu2, uint16_t, max(a, b))
CT_BY_LANES(__vadd2, uint16_t, a + b)
CT_BY_LANES(__vsub2, uint16_t, a - b)
CT_BY_LANES(__vabsdiffu4, uint8_t, a < b ? b - a : a - b)
#undef CT_BY_LANES
inline uint32_t __vneg2(uint32_t a) { return __vsub2(0, a); }
inline uint32_t __vimax3_s16x2(uint32_t a, uint32_t b, uint32_t c) {
  return __vmaxs2(__vmaxs2(a, b), c);
}
inline uint32_t __vimin3_s16x2(uint32_t a, uint32_t b, uint32_t c) {
  return __vmins2(__vmins2(a, b), c);
}
inline uint32_t __viaddmax_s16x2(uint32_t a, uint32_t b, uint32_t c) {
  return __vmaxs2(__vadd2(a, b), c);
}
inline uint32_t __viaddmin_s16x2(uint32_t a, uint32_t b, uint32_t c) {
  return __vmins2(__vadd2(a, b), c);
}
inline uint32_t __viaddmax_s16x2_relu(uint32_t a, uint32_t b, uint32_t c) {
  return __vmaxs2(__vmaxs2(__vadd2(a, b), c), 0);
}
inline uint32_t __viaddmin_s16x2_relu(uint32_t a, uint32_t b, uint32_t c) {
  return __vmaxs2(__vmins2(__vadd2(a, b), c), 0);
}
inline int __viaddmin_s32_relu(int a, int b, int c) { return max(min(a + b, c), 0); }
inline uint32_t __dp4a(uint32_t a, uint32_t b, uint32_t sum) {
  for (unsigned shift = 0; shift < 32; shift += 8) sum += (a >> shift & 255) * (b >> shift & 255);
  return sum;
}
inline int __dp4a(int a, int b, int sum) {
  auto result = static_cast<uint32_t>(sum);
  for (unsigned shift = 0; shift < 32; shift += 8)
    result += static_cast<uint32_t>(int8_t(a >> shift) * int8_t(b >> shift));
  return static_cast<int>(result);
}
