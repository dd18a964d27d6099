// Every wavelet kernel, by the name that a profiler prints and a launch requests.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The words, in names of kernels, files and functions:
//
//   pass     one direction of a level: rows or columns (separable.cu). Takes every format
//   fused    both directions of a level in one launch (fused.cuh)
//   fast     the same for 16-bit values and samples of a byte (fast.cuh, packed*.cuh, eights*.cuh,
//            float_levels.cuh)
//   segment  the work of a pass: lines of two bands, low and high, and of their result
//   tile     the work of the fused kernels: four bands and their result
//   walk     down a column, with a window of values in registers (lift.cuh)
//   lane     of a warp; of a word, the half that has one of two values (lanes.cuh, packed.cuh)
//   own      pairs that a thread or warp writes, without the halo that it needs for them
//
// Haar with a shift of 1 has haar's kernels: the shift is a parameter of passes.
//
// Each family's twin on the CPU, its tests, its benchmark and its page:
//
//   pass (dwt_rows, dwt_columns)
//     twin   lift_rows(), lift_columns() in transform/dwt/portable.cpp; in vectors: lift_row(),
//            VerticalWindow in transform/dwt/sliding_rows.h
//     test   tests/engine/dwt/dwt_test.cpp
//     bench  tests/bench/gpu/cases.cpp: case:dwt (method:separable-slab)
//     page   docs/kernels.md, 15
//   fused, fast
//     twin   analyze(), synthesize() in transform/dwt/portable.cpp; in vectors:
//            ComponentLevels::analyze(), synthesize() in transform/dwt/levels.cpp
//     test   tests/engine/dwt/dwt_test.cpp, tests/engine/dwt/lanes_test.cpp (fast)
//     bench  tests/bench/gpu/cases.cpp: case:dwt
//     page   docs/kernels.md, 15
#pragma once

// separable.cu: X(name, lines, wavelet, direction, coef).
#define CT_DWT_PASS_KERNELS(X)                                             \
  X(dwt_rows_forward_dd97_s16, rows, Dd97, Forward, int16_t)               \
  X(dwt_rows_forward_legall53_s16, rows, Legall53, Forward, int16_t)       \
  X(dwt_rows_forward_dd137_s16, rows, Dd137, Forward, int16_t)             \
  X(dwt_rows_forward_haar_s16, rows, Haar, Forward, int16_t)               \
  X(dwt_rows_forward_fidelity_s16, rows, Fidelity, Forward, int16_t)       \
  X(dwt_rows_forward_daub97_s16, rows, Daub97, Forward, int16_t)           \
  X(dwt_rows_forward_j2k53_s16, rows, J2k53, Forward, int16_t)             \
  X(dwt_rows_forward_dd97_s32, rows, Dd97, Forward, int32_t)               \
  X(dwt_rows_forward_legall53_s32, rows, Legall53, Forward, int32_t)       \
  X(dwt_rows_forward_dd137_s32, rows, Dd137, Forward, int32_t)             \
  X(dwt_rows_forward_haar_s32, rows, Haar, Forward, int32_t)               \
  X(dwt_rows_forward_fidelity_s32, rows, Fidelity, Forward, int32_t)       \
  X(dwt_rows_forward_daub97_s32, rows, Daub97, Forward, int32_t)           \
  X(dwt_rows_forward_j2k53_s32, rows, J2k53, Forward, int32_t)             \
  X(dwt_rows_inverse_dd97_s16, rows, Dd97, Inverse, int16_t)               \
  X(dwt_rows_inverse_legall53_s16, rows, Legall53, Inverse, int16_t)       \
  X(dwt_rows_inverse_dd137_s16, rows, Dd137, Inverse, int16_t)             \
  X(dwt_rows_inverse_haar_s16, rows, Haar, Inverse, int16_t)               \
  X(dwt_rows_inverse_fidelity_s16, rows, Fidelity, Inverse, int16_t)       \
  X(dwt_rows_inverse_daub97_s16, rows, Daub97, Inverse, int16_t)           \
  X(dwt_rows_inverse_j2k53_s16, rows, J2k53, Inverse, int16_t)             \
  X(dwt_rows_inverse_dd97_s32, rows, Dd97, Inverse, int32_t)               \
  X(dwt_rows_inverse_legall53_s32, rows, Legall53, Inverse, int32_t)       \
  X(dwt_rows_inverse_dd137_s32, rows, Dd137, Inverse, int32_t)             \
  X(dwt_rows_inverse_haar_s32, rows, Haar, Inverse, int32_t)               \
  X(dwt_rows_inverse_fidelity_s32, rows, Fidelity, Inverse, int32_t)       \
  X(dwt_rows_inverse_daub97_s32, rows, Daub97, Inverse, int32_t)           \
  X(dwt_rows_inverse_j2k53_s32, rows, J2k53, Inverse, int32_t)             \
  X(dwt_columns_forward_dd97_s16, columns, Dd97, Forward, int16_t)         \
  X(dwt_columns_forward_legall53_s16, columns, Legall53, Forward, int16_t) \
  X(dwt_columns_forward_dd137_s16, columns, Dd137, Forward, int16_t)       \
  X(dwt_columns_forward_haar_s16, columns, Haar, Forward, int16_t)         \
  X(dwt_columns_forward_fidelity_s16, columns, Fidelity, Forward, int16_t) \
  X(dwt_columns_forward_daub97_s16, columns, Daub97, Forward, int16_t)     \
  X(dwt_columns_forward_j2k53_s16, columns, J2k53, Forward, int16_t)       \
  X(dwt_columns_forward_dd97_s32, columns, Dd97, Forward, int32_t)         \
  X(dwt_columns_forward_legall53_s32, columns, Legall53, Forward, int32_t) \
  X(dwt_columns_forward_dd137_s32, columns, Dd137, Forward, int32_t)       \
  X(dwt_columns_forward_haar_s32, columns, Haar, Forward, int32_t)         \
  X(dwt_columns_forward_fidelity_s32, columns, Fidelity, Forward, int32_t) \
  X(dwt_columns_forward_daub97_s32, columns, Daub97, Forward, int32_t)     \
  X(dwt_columns_forward_j2k53_s32, columns, J2k53, Forward, int32_t)       \
  X(dwt_columns_inverse_dd97_s16, columns, Dd97, Inverse, int16_t)         \
  X(dwt_columns_inverse_legall53_s16, columns, Legall53, Inverse, int16_t) \
  X(dwt_columns_inverse_dd137_s16, columns, Dd137, Inverse, int16_t)       \
  X(dwt_columns_inverse_haar_s16, columns, Haar, Inverse, int16_t)         \
  X(dwt_columns_inverse_fidelity_s16, columns, Fidelity, Inverse, int16_t) \
  X(dwt_columns_inverse_daub97_s16, columns, Daub97, Inverse, int16_t)     \
  X(dwt_columns_inverse_j2k53_s16, columns, J2k53, Inverse, int16_t)       \
  X(dwt_columns_inverse_dd97_s32, columns, Dd97, Inverse, int32_t)         \
  X(dwt_columns_inverse_legall53_s32, columns, Legall53, Inverse, int32_t) \
  X(dwt_columns_inverse_dd137_s32, columns, Dd137, Inverse, int32_t)       \
  X(dwt_columns_inverse_haar_s32, columns, Haar, Inverse, int32_t)         \
  X(dwt_columns_inverse_fidelity_s32, columns, Fidelity, Inverse, int32_t) \
  X(dwt_columns_inverse_daub97_s32, columns, Daub97, Inverse, int32_t)     \
  X(dwt_columns_inverse_j2k53_s32, columns, J2k53, Inverse, int32_t)

// X(name, wavelet, direction, coef, pairs), by the pairs of columns that a lane has: levels of
// every type and format.

// fused_forward.cu.
#define CT_DWT_FUSED_FORWARD_KERNELS(X)                              \
  X(dwt_fused_forward_dd97_s16_1, Dd97, Forward, int16_t, 1)         \
  X(dwt_fused_forward_legall53_s16_1, Legall53, Forward, int16_t, 1) \
  X(dwt_fused_forward_dd137_s16_1, Dd137, Forward, int16_t, 1)       \
  X(dwt_fused_forward_haar_s16_1, Haar, Forward, int16_t, 1)         \
  X(dwt_fused_forward_fidelity_s16_1, Fidelity, Forward, int16_t, 1) \
  X(dwt_fused_forward_daub97_s16_1, Daub97, Forward, int16_t, 1)     \
  X(dwt_fused_forward_j2k53_s16_1, J2k53, Forward, int16_t, 1)       \
  X(dwt_fused_forward_dd97_s16_2, Dd97, Forward, int16_t, 2)         \
  X(dwt_fused_forward_legall53_s16_2, Legall53, Forward, int16_t, 2) \
  X(dwt_fused_forward_dd137_s16_2, Dd137, Forward, int16_t, 2)       \
  X(dwt_fused_forward_haar_s16_2, Haar, Forward, int16_t, 2)         \
  X(dwt_fused_forward_fidelity_s16_2, Fidelity, Forward, int16_t, 2) \
  X(dwt_fused_forward_daub97_s16_2, Daub97, Forward, int16_t, 2)     \
  X(dwt_fused_forward_j2k53_s16_2, J2k53, Forward, int16_t, 2)       \
  X(dwt_fused_forward_dd97_s32_1, Dd97, Forward, int32_t, 1)         \
  X(dwt_fused_forward_legall53_s32_1, Legall53, Forward, int32_t, 1) \
  X(dwt_fused_forward_dd137_s32_1, Dd137, Forward, int32_t, 1)       \
  X(dwt_fused_forward_haar_s32_1, Haar, Forward, int32_t, 1)         \
  X(dwt_fused_forward_fidelity_s32_1, Fidelity, Forward, int32_t, 1) \
  X(dwt_fused_forward_daub97_s32_1, Daub97, Forward, int32_t, 1)     \
  X(dwt_fused_forward_j2k53_s32_1, J2k53, Forward, int32_t, 1)       \
  X(dwt_fused_forward_dd97_s32_2, Dd97, Forward, int32_t, 2)         \
  X(dwt_fused_forward_legall53_s32_2, Legall53, Forward, int32_t, 2) \
  X(dwt_fused_forward_dd137_s32_2, Dd137, Forward, int32_t, 2)       \
  X(dwt_fused_forward_haar_s32_2, Haar, Forward, int32_t, 2)         \
  X(dwt_fused_forward_fidelity_s32_2, Fidelity, Forward, int32_t, 2) \
  X(dwt_fused_forward_daub97_s32_2, Daub97, Forward, int32_t, 2)     \
  X(dwt_fused_forward_j2k53_s32_2, J2k53, Forward, int32_t, 2)

// fused_inverse.cu.
#define CT_DWT_FUSED_INVERSE_KERNELS(X)                              \
  X(dwt_fused_inverse_dd97_s16_1, Dd97, Inverse, int16_t, 1)         \
  X(dwt_fused_inverse_legall53_s16_1, Legall53, Inverse, int16_t, 1) \
  X(dwt_fused_inverse_dd137_s16_1, Dd137, Inverse, int16_t, 1)       \
  X(dwt_fused_inverse_haar_s16_1, Haar, Inverse, int16_t, 1)         \
  X(dwt_fused_inverse_fidelity_s16_1, Fidelity, Inverse, int16_t, 1) \
  X(dwt_fused_inverse_daub97_s16_1, Daub97, Inverse, int16_t, 1)     \
  X(dwt_fused_inverse_j2k53_s16_1, J2k53, Inverse, int16_t, 1)       \
  X(dwt_fused_inverse_dd97_s16_2, Dd97, Inverse, int16_t, 2)         \
  X(dwt_fused_inverse_legall53_s16_2, Legall53, Inverse, int16_t, 2) \
  X(dwt_fused_inverse_dd137_s16_2, Dd137, Inverse, int16_t, 2)       \
  X(dwt_fused_inverse_haar_s16_2, Haar, Inverse, int16_t, 2)         \
  X(dwt_fused_inverse_fidelity_s16_2, Fidelity, Inverse, int16_t, 2) \
  X(dwt_fused_inverse_daub97_s16_2, Daub97, Inverse, int16_t, 2)     \
  X(dwt_fused_inverse_j2k53_s16_2, J2k53, Inverse, int16_t, 2)       \
  X(dwt_fused_inverse_dd97_s32_1, Dd97, Inverse, int32_t, 1)         \
  X(dwt_fused_inverse_legall53_s32_1, Legall53, Inverse, int32_t, 1) \
  X(dwt_fused_inverse_dd137_s32_1, Dd137, Inverse, int32_t, 1)       \
  X(dwt_fused_inverse_haar_s32_1, Haar, Inverse, int32_t, 1)         \
  X(dwt_fused_inverse_fidelity_s32_1, Fidelity, Inverse, int32_t, 1) \
  X(dwt_fused_inverse_daub97_s32_1, Daub97, Inverse, int32_t, 1)     \
  X(dwt_fused_inverse_j2k53_s32_1, J2k53, Inverse, int32_t, 1)       \
  X(dwt_fused_inverse_dd97_s32_2, Dd97, Inverse, int32_t, 2)         \
  X(dwt_fused_inverse_legall53_s32_2, Legall53, Inverse, int32_t, 2) \
  X(dwt_fused_inverse_dd137_s32_2, Dd137, Inverse, int32_t, 2)       \
  X(dwt_fused_inverse_haar_s32_2, Haar, Inverse, int32_t, 2)         \
  X(dwt_fused_inverse_fidelity_s32_2, Fidelity, Inverse, int32_t, 2) \
  X(dwt_fused_inverse_daub97_s32_2, Daub97, Inverse, int32_t, 2)     \
  X(dwt_fused_inverse_j2k53_s32_2, J2k53, Inverse, int32_t, 2)

// X(name, wavelet, direction, pairs, at_samples): levels of 16 bits with rows to be read as
// vectors, to or from samples of a byte or values; see fast.cuh.

// fast_forward.cu.
#define CT_DWT_FAST_FORWARD_KERNELS(X)                            \
  X(dwt_fast_forward_dd97_u8_2, Dd97, Forward, 2, true)           \
  X(dwt_fast_forward_legall53_u8_2, Legall53, Forward, 2, true)   \
  X(dwt_fast_forward_dd137_u8_2, Dd137, Forward, 2, true)         \
  X(dwt_fast_forward_haar_u8_2, Haar, Forward, 2, true)           \
  X(dwt_fast_forward_fidelity_u8_2, Fidelity, Forward, 2, true)   \
  X(dwt_fast_forward_daub97_u8_2, Daub97, Forward, 2, true)       \
  X(dwt_fast_forward_j2k53_u8_2, J2k53, Forward, 2, true)         \
  X(dwt_fast_forward_dd97_u8_4, Dd97, Forward, 4, true)           \
  X(dwt_fast_forward_legall53_u8_4, Legall53, Forward, 4, true)   \
  X(dwt_fast_forward_dd137_u8_4, Dd137, Forward, 4, true)         \
  X(dwt_fast_forward_haar_u8_4, Haar, Forward, 4, true)           \
  X(dwt_fast_forward_fidelity_u8_4, Fidelity, Forward, 4, true)   \
  X(dwt_fast_forward_daub97_u8_4, Daub97, Forward, 4, true)       \
  X(dwt_fast_forward_j2k53_u8_4, J2k53, Forward, 4, true)         \
  X(dwt_fast_forward_dd97_s16_2, Dd97, Forward, 2, false)         \
  X(dwt_fast_forward_legall53_s16_2, Legall53, Forward, 2, false) \
  X(dwt_fast_forward_dd137_s16_2, Dd137, Forward, 2, false)       \
  X(dwt_fast_forward_haar_s16_2, Haar, Forward, 2, false)         \
  X(dwt_fast_forward_fidelity_s16_2, Fidelity, Forward, 2, false) \
  X(dwt_fast_forward_daub97_s16_2, Daub97, Forward, 2, false)     \
  X(dwt_fast_forward_j2k53_s16_2, J2k53, Forward, 2, false)       \
  X(dwt_fast_forward_dd97_s16_4, Dd97, Forward, 4, false)         \
  X(dwt_fast_forward_legall53_s16_4, Legall53, Forward, 4, false) \
  X(dwt_fast_forward_dd137_s16_4, Dd137, Forward, 4, false)       \
  X(dwt_fast_forward_haar_s16_4, Haar, Forward, 4, false)         \
  X(dwt_fast_forward_fidelity_s16_4, Fidelity, Forward, 4, false) \
  X(dwt_fast_forward_daub97_s16_4, Daub97, Forward, 4, false)     \
  X(dwt_fast_forward_j2k53_s16_4, J2k53, Forward, 4, false)

// fast_inverse.cu.
#define CT_DWT_FAST_INVERSE_KERNELS(X)                            \
  X(dwt_fast_inverse_dd97_u8_2, Dd97, Inverse, 2, true)           \
  X(dwt_fast_inverse_legall53_u8_2, Legall53, Inverse, 2, true)   \
  X(dwt_fast_inverse_dd137_u8_2, Dd137, Inverse, 2, true)         \
  X(dwt_fast_inverse_haar_u8_2, Haar, Inverse, 2, true)           \
  X(dwt_fast_inverse_fidelity_u8_2, Fidelity, Inverse, 2, true)   \
  X(dwt_fast_inverse_daub97_u8_2, Daub97, Inverse, 2, true)       \
  X(dwt_fast_inverse_j2k53_u8_2, J2k53, Inverse, 2, true)         \
  X(dwt_fast_inverse_dd97_u8_4, Dd97, Inverse, 4, true)           \
  X(dwt_fast_inverse_legall53_u8_4, Legall53, Inverse, 4, true)   \
  X(dwt_fast_inverse_dd137_u8_4, Dd137, Inverse, 4, true)         \
  X(dwt_fast_inverse_haar_u8_4, Haar, Inverse, 4, true)           \
  X(dwt_fast_inverse_fidelity_u8_4, Fidelity, Inverse, 4, true)   \
  X(dwt_fast_inverse_daub97_u8_4, Daub97, Inverse, 4, true)       \
  X(dwt_fast_inverse_j2k53_u8_4, J2k53, Inverse, 4, true)         \
  X(dwt_fast_inverse_dd97_s16_2, Dd97, Inverse, 2, false)         \
  X(dwt_fast_inverse_legall53_s16_2, Legall53, Inverse, 2, false) \
  X(dwt_fast_inverse_dd137_s16_2, Dd137, Inverse, 2, false)       \
  X(dwt_fast_inverse_haar_s16_2, Haar, Inverse, 2, false)         \
  X(dwt_fast_inverse_fidelity_s16_2, Fidelity, Inverse, 2, false) \
  X(dwt_fast_inverse_daub97_s16_2, Daub97, Inverse, 2, false)     \
  X(dwt_fast_inverse_j2k53_s16_2, J2k53, Inverse, 2, false)       \
  X(dwt_fast_inverse_dd97_s16_4, Dd97, Inverse, 4, false)         \
  X(dwt_fast_inverse_legall53_s16_4, Legall53, Inverse, 4, false) \
  X(dwt_fast_inverse_dd137_s16_4, Dd137, Inverse, 4, false)       \
  X(dwt_fast_inverse_haar_s16_4, Haar, Inverse, 4, false)         \
  X(dwt_fast_inverse_fidelity_s16_4, Fidelity, Inverse, 4, false) \
  X(dwt_fast_inverse_daub97_s16_4, Daub97, Inverse, 4, false)     \
  X(dwt_fast_inverse_j2k53_s16_4, J2k53, Inverse, 4, false)

// X(name, wavelet): the two finest inverse levels of 16 bits, to samples of a byte, with four pairs
// of the finest one in a lane; see two_levels.cuh. fast_inverse.cu.
#define CT_DWT_TWO_LEVELS_KERNELS(X)    \
  X(dwt_two_inverse_legall53, Legall53) \
  X(dwt_two_inverse_haar, Haar)         \
  X(dwt_two_inverse_j2k53, J2k53)       \
  X(dwt_two_inverse_dd97, Dd97)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_DWT_IMAGES(IMAGE)                             \
  IMAGE(dwt_separable, CT_DWT_PASS_KERNELS)              \
  IMAGE(dwt_fused_forward, CT_DWT_FUSED_FORWARD_KERNELS) \
  IMAGE(dwt_fused_inverse, CT_DWT_FUSED_INVERSE_KERNELS) \
  IMAGE(dwt_fast_forward, CT_DWT_FAST_FORWARD_KERNELS)   \
  IMAGE(dwt_fast_inverse, CT_DWT_FAST_INVERSE_KERNELS)   \
  IMAGE(dwt_fast_inverse, CT_DWT_TWO_LEVELS_KERNELS)
