// Copies of rows to shared memory by a multiprocessor's copy engine, and the barrier of their CTA.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One thread begins a copy of any number of bytes: no other instructions, no registers. From
// compute capability 9.0 on. PTX ISA, NVIDIA: cp.async.bulk and mbarrier.
#pragma once

#include "cuda/common/ptx.cuh"

namespace cudatransform::cuda {

#if defined(CT_EMULATED) || __CUDA_ARCH__ >= 900
inline constexpr bool kHasBulkCopies = true;
#else
inline constexpr bool kHasBulkCopies = false;
#endif

// Addresses and sizes are multiples of 16, that of the barrier itself one of 8. All bytes of a
// phase have arrived when all threads have waited for it and met at a __syncthreads().
class BulkCopies {
 public:
  __device__ __forceinline__ explicit BulkCopies(SharedAddress barrier) : barrier_(barrier) {}

  // By one thread, with a __syncthreads() before the first phase.
  __device__ __forceinline__ void init() const {
#if !defined(CT_EMULATED) && __CUDA_ARCH__ >= 900
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
        "fence.mbarrier_init.release.cluster;" ::"r"(barrier_)
        : "memory");
#endif
  }

  // By one thread, once in a phase: the bytes of all copies of the phase.
  __device__ __forceinline__ void expect([[maybe_unused]] uint32_t bytes) const {
#if !defined(CT_EMULATED) && __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier_),
                 "r"(bytes)
                 : "memory");
#endif
  }

  // By threads that begin copies, after a __syncthreads() behind the last access to their
  // destinations.
  __device__ __forceinline__ void follow_accesses() const {
#if !defined(CT_EMULATED) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  }

  __device__ __forceinline__ void begin(SharedAddress to, const uint8_t* from,
                                        uint32_t bytes) const {
#if defined(CT_EMULATED)
    if (reinterpret_cast<uintptr_t>(to) % 16 + reinterpret_cast<uintptr_t>(from) % 16 + bytes % 16)
      __builtin_trap();
    for (uint32_t i = 0; i < bytes; i += 16) emulator::begin_copy(to + i, from + i, 16, 16);
    emulator::end_group_of_copies();
#elif __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier_)
        : "memory");
#endif
  }

  // By all threads. `phase`: 0 and 1 in turn.
  __device__ __forceinline__ void wait([[maybe_unused]] uint32_t phase) const {
#if defined(CT_EMULATED)
    emulator::wait_for_copies(0);
#elif __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n\t"
        ".reg .pred done;\n"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again;\n\t"
        "}" ::"r"(barrier_),
        "r"(phase)
        : "memory");
#endif
  }

 private:
  SharedAddress barrier_;
};

}  // namespace cudatransform::cuda
