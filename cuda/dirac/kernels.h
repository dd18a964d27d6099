// Every kernel for Dirac alone, by the name that a profiler prints and a launch requests.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each family's twin on the CPU, its tests, its benchmark and its page:
//
//   dirac_expand
//     twin   dequantize_dirac_band() in dirac/qcoefs.cpp, for dirac/jobs.cpp
//     test   tests/conformance/dirac_random_test.cpp, tests/conformance/dirac_test.cpp
//     bench  tests/bench/dirac/bench_dirac.cpp: stage wavelet
//     page   docs/kernels.md, 16
//   dirac_slices
//     twin   decode_dirac_slices() in dirac/codes.cpp; codes: DiracBits in dirac/bits.h
//     test   tests/conformance/dirac_random_test.cpp, tests/conformance/dirac_test.cpp
//     bench  tests/bench/dirac/bench_dirac.cpp: stage wavelet
//     page   docs/kernels.md, 16
//   dirac_predict_dc
//     twin   predict_dirac_dc() in dirac/qcoefs.cpp
//     test   tests/conformance/dirac_random_test.cpp, tests/conformance/dirac_test.cpp
//     bench  tests/bench/dirac/bench_dirac.cpp: stage wavelet
//     page   docs/kernels.md, 16
//   dirac_store
//     twin   store_rows() in dirac/jobs.cpp
//     test   tests/conformance/dirac_random_test.cpp, tests/conformance/dirac_test.cpp
//     bench  tests/bench/dirac/bench_dirac.cpp
//     page   docs/kernels.md, 16
#pragma once

// X(name, quantized coefficients, coefficients).
#define CT_DIRAC_EXPAND_KERNELS(X)      \
  X(dirac_expand_s16, int16_t, int16_t) \
  X(dirac_expand_s32, int32_t, int32_t) \
  X(dirac_expand_s32_as_s16, int32_t, int16_t)

// X(name, coefficients).
#define CT_DIRAC_SLICE_KERNELS(X) \
  X(dirac_slices_s16, int16_t)    \
  X(dirac_slices_s32, int32_t)
#define CT_DIRAC_PREDICT_KERNELS(X) \
  X(dirac_predict_dc_s16, int16_t)  \
  X(dirac_predict_dc_s32, int32_t)

// X(name, samples, containers).
#define CT_DIRAC_STORE_KERNELS(X)          \
  X(dirac_store_u8_u8, uint8_t, uint8_t)   \
  X(dirac_store_u8_u16, uint8_t, uint16_t) \
  X(dirac_store_u16_u16, uint16_t, uint16_t)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_DIRAC_IMAGES(IMAGE)                  \
  IMAGE(dirac_expand, CT_DIRAC_EXPAND_KERNELS)  \
  IMAGE(dirac_slices, CT_DIRAC_SLICE_KERNELS)   \
  IMAGE(dirac_slices, CT_DIRAC_PREDICT_KERNELS) \
  IMAGE(dirac_expand, CT_DIRAC_STORE_KERNELS)
