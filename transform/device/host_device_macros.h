// Macros that let a header compile for both the host (g++, clang++) and the device (nvcc).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#if defined(__CUDACC__)
#define CT_HD __host__ __device__ __forceinline__
#define CT_UNROLL _Pragma("unroll")
#elif defined(__SANITIZE_ADDRESS__)
// Checks multiply the code of everything inlined; compilation would take many minutes.
#define CT_HD inline
#define CT_UNROLL
#else
// A helper must become part of the loop that calls it.
#define CT_HD inline __attribute__((always_inline))
#define CT_UNROLL
#endif
