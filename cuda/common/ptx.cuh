// Instructions that CUDA C++ does not expose; sums over warps and CTAs, and the plane of a CTA.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each instruction has an equivalent in C++, which tests run on a CPU (tests/emulator). PTX ISA,
// NVIDIA.
#pragma once

#include <cstdint>

namespace cudatransform::cuda {

// The sum of four unsigned bytes by four signed ones each, and `sum`.
__device__ __forceinline__ int dot4_u8_s8(uint32_t bytes, uint32_t weights, int sum) {
#ifdef CT_EMULATED
  for (int i = 0; i < 4; ++i) sum += int(bytes >> (8 * i) & 255) * int8_t(weights >> (8 * i));
  return sum;
#else
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(weights), "r"(sum));
  return result;
#endif
}

// The same of unsigned ones.
__device__ __forceinline__ int dot4_u8_u8(uint32_t bytes, uint32_t weights, int sum) {
#ifdef CT_EMULATED
  for (int i = 0; i < 4; ++i) sum += int(bytes >> (8 * i) & 255) * int(weights >> (8 * i) & 255);
  return sum;
#else
  int result;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(weights), "r"(sum));
  return result;
#endif
}

// The sum of two signed numbers of 16 bits by the lower (kHigh: the upper) two unsigned bytes of
// `by`, and `sum`.
template <bool kHigh>
__device__ __forceinline__ int dot2_s16_u8(uint32_t pair, uint32_t by, int sum = 0) {
#ifdef CT_EMULATED
  const uint32_t two = kHigh ? by >> 16 : by;
  return sum + int16_t(pair) * int(two & 255) + (int32_t(pair) >> 16) * int(two >> 8 & 255);
#else
  int result;
  if constexpr (kHigh)
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(by), "r"(sum));
  else
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(by), "r"(sum));
  return result;
#endif
}

// The same of unsigned numbers, modulo 2^32.
template <bool kHigh>
__device__ __forceinline__ uint32_t dot2_u16_u8(uint32_t pair, uint32_t by, uint32_t sum) {
#ifdef CT_EMULATED
  const uint32_t two = kHigh ? by >> 16 : by;
  return sum + (pair & 0xffff) * (two & 255) + (pair >> 16) * (two >> 8 & 255);
#else
  uint32_t result;
  if constexpr (kHigh)
    asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(by), "r"(sum));
  else
    asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(by), "r"(sum));
  return result;
#endif
}

// The sum of two signed numbers of 16 bits by the lower (kHigh: the upper) two signed bytes of
// `by`, and `sum`.
template <bool kHigh>
__device__ __forceinline__ int dot2_s16_s8(uint32_t pair, uint32_t by, int sum) {
#ifdef CT_EMULATED
  const uint32_t two = kHigh ? by >> 16 : by;
  return sum + int16_t(pair) * int8_t(two) + (int32_t(pair) >> 16) * int8_t(two >> 8);
#else
  int result;
  if constexpr (kHigh)
    asm("dp2a.hi.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(by), "r"(sum));
  else
    asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(by), "r"(sum));
  return result;
#endif
}

// Kernels of one stream may be launched before their predecessor has finished: as soon as each of
// its CTAs has called let_successor_launch() or ended. They call wait_for_predecessor() before they
// touch what it reads or writes.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_successor_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// A number of 16 bits in both halves of a word, and the sums of both halves, modulo 2^16.
__host__ __device__ constexpr uint32_t in_halves(int32_t value) {
  return static_cast<uint32_t>(static_cast<uint16_t>(value)) * 0x10001u;
}
__device__ __forceinline__ uint32_t add_halves(uint32_t a, uint32_t b) {
#if defined(CT_EMULATED) || __CUDA_ARCH__ < 900
  return ((a & 0x7fff7fffu) + (b & 0x7fff7fffu)) ^ ((a ^ b) & 0x80008000u);
#else
  uint32_t result;
  asm("add.u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#endif
}

__device__ __forceinline__ uint32_t subtract_halves(uint32_t a, uint32_t b) {
#if defined(CT_EMULATED) || __CUDA_ARCH__ < 900
  return ((a | 0x80008000u) - (b & 0x7fff7fffu)) ^ ((a ^ ~b) & 0x80008000u);
#else
  return __vsub2(a, b);
#endif
}

// __byte_perm() by a selector that is known to be one, which then needs no masking.
__device__ __forceinline__ uint32_t bytes_of(uint32_t low, uint32_t high, uint32_t selector) {
#ifdef CT_EMULATED
  return __byte_perm(low, high, selector);
#else
  uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
  return result;
#endif
}

// An address of shared memory, and words there.
#ifdef CT_EMULATED
using SharedAddress = uint8_t*;
#else
using SharedAddress = uint32_t;
#endif
__device__ __forceinline__ SharedAddress shared_address(const void* shared) {
#ifdef CT_EMULATED
  return static_cast<uint8_t*>(const_cast<void*>(shared));
#else
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
#endif
}
// Volatile: words that a copy brings are read after the wait for it.
template <int kWords>
__device__ __forceinline__ void load_shared(SharedAddress from, uint32_t (&words)[kWords]) {
#ifdef CT_EMULATED
  for (int i = 0; i < kWords; ++i) words[i] = reinterpret_cast<const uint32_t*>(from)[i];
#else
  if constexpr (kWords == 1)
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(words[0]) : "r"(from));
  else if constexpr (kWords == 2)
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(from));
  else
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(from));
#endif
}

__device__ __forceinline__ uint32_t load_shared_byte(SharedAddress from) {
#ifdef CT_EMULATED
  return *from;
#else
  uint32_t byte;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(from));
  return byte;
#endif
}
__device__ __forceinline__ void store_shared(SharedAddress to, uint32_t word) {
#ifdef CT_EMULATED
  *reinterpret_cast<uint32_t*>(to) = word;
#else
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
#endif
}

// Copies of 4, 8 or 16 bytes to shared memory, in flight until the thread that began them waits.
// It waits for all groups of them but its last kOpen ones. Only `count` bytes are read, all or
// none. (GPUs before Ampere copy immediately.)
template <int kBytes>
__device__ __forceinline__ void begin_copy(SharedAddress to, const uint8_t* from,
                                           uint32_t count = kBytes) {
#if defined(CT_EMULATED)
  emulator::begin_copy(to, from, kBytes, count);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
               "r"(count)
               : "memory");
#else
  if (count == 0) return;
  for (int i = 0; i < kBytes; i += 4)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to + i),
                 "r"(*reinterpret_cast<const uint32_t*>(from + i))
                 : "memory");
#endif
}
__device__ __forceinline__ void end_group_of_copies() {
#if defined(CT_EMULATED)
  emulator::end_group_of_copies();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int kOpen>
__device__ __forceinline__ void wait_for_copies() {
#if defined(CT_EMULATED)
  emulator::wait_for_copies(kOpen);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory");
#endif
}

// Keeps a value in a register, where a compiler would reload it from memory.
template <typename T>
__device__ __forceinline__ void keep_in_register([[maybe_unused]] T& value) {
#ifndef CT_EMULATED
  if constexpr (sizeof(T) == 8)
    asm volatile("" : "+l"(value));
  else
    asm volatile("" : "+r"(value));
#endif
}

// A kernel's parameters by way of the caches of memory: lanes that request different addresses get
// all in one access, where the constant cache serializes them.
template <typename T>
__device__ __forceinline__ const T* as_memory(const T* parameters) {
  keep_in_register(parameters);
  return parameters;
}

// Two numbers clamped to 0..255, in front of the lower half of `rest`.
__device__ __forceinline__ uint32_t pack_clamped(int high, int low, uint32_t rest) {
#ifdef CT_EMULATED
  const auto clamp = [](int v) { return uint32_t(v < 0 ? 0 : v > 255 ? 255 : v); };
  return rest << 16 | clamp(high) << 8 | clamp(low);
#else
  uint32_t result;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(high), "r"(low), "r"(rest));
  return result;
#endif
}

// Two numbers clamped to 16 bits with a sign, `low` in the lower half.
__device__ __forceinline__ uint32_t pack_clamped_s16(int high, int low) {
#ifdef CT_EMULATED
  const auto clamp = [](int v) { return uint32_t(v < -32768 ? -32768 : v > 32767 ? 32767 : v); };
  return clamp(high) << 16 | (clamp(low) & 0xffff);
#else
  uint32_t result;
  asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(result) : "r"(high), "r"(low));
  return result;
#endif
}

// Four numbers clamped to 0..255, the first in the lowest byte.
__device__ __forceinline__ uint32_t pack_four_clamped(int a, int b, int c, int d) {
  return pack_clamped(b, a, pack_clamped(d, c, 0));
}

// threadIdx.x and blockIdx.x, read again: no register keeps an earlier value.
__device__ __forceinline__ uint32_t thread_of_cta_again() {
#ifdef CT_EMULATED
  return threadIdx.x;
#else
  uint32_t thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#endif
}
__device__ __forceinline__ uint32_t cta_of_grid_again() {
#ifdef CT_EMULATED
  return blockIdx.x;
#else
  uint32_t cta;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(cta));
  return cta;
#endif
}

// In ns; one clock for all SMs. The device decides how often it is updated: every 32 ns on an
// H200.
__device__ __forceinline__ uint64_t nanoseconds() {
#ifdef CT_EMULATED
  static uint64_t now = 0;
  return now += 32;
#else
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
#endif
}

// ---- Warps ----

inline constexpr uint32_t kAllLanes = 0xffffffffu;

// The sum of this lane's value and those of all lower lanes. All lanes call it.
__device__ __forceinline__ uint32_t sum_up_to_lane(uint32_t value) {
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const uint32_t other = __shfl_up_sync(kAllLanes, value, distance);
    if (threadIdx.x % 32 >= distance) value += other;
  }
  return value;
}

// All lanes call it, and all get the sum.
__device__ __forceinline__ uint64_t sum_of_warp(uint64_t value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(kAllLanes, value, distance);
  return value;
}
// Right modulo 2^32: the instruction of GPUs from Ampere on has no more bits.
__device__ __forceinline__ uint64_t sum_of_warp(uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kAllLanes, value);
#else
  return sum_of_warp(uint64_t(value));
#endif
}

// ---- CTAs ----

// The sum of the values of all lower threads of a CTA of kWarps; `*all` is that of all. All threads
// call it. `sums` is shared memory, free before and after the next __syncthreads().
template <uint32_t kWarps>
__device__ __forceinline__ uint32_t sum_before_thread(uint32_t value, uint32_t (&sums)[kWarps],
                                                      uint32_t* all) {
  const uint32_t sum = sum_up_to_lane(value);
  if (threadIdx.x % 32 == 31) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  uint32_t before = 0, total = 0;
#pragma unroll
  for (uint32_t warp = 0; warp < kWarps; ++warp) {
    if (warp < threadIdx.x / 32) before += sums[warp];
    total += sums[warp];
  }
  *all = total;
  return before + sum - value;
}

// Which of three planes this CTA works on. `first_cta` of one that does not exist is UINT32_MAX.
template <typename Plane>
__device__ __forceinline__ int plane_of_cta(const Plane (&planes)[3]) {
  return (blockIdx.x >= planes[1].first_cta) + (blockIdx.x >= planes[2].first_cta);
}

}  // namespace cudatransform::cuda
