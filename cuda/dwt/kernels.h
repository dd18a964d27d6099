// Every wavelet kernel, by the name that a profiler prints and a launch asks for.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The words, in names of kernels, files and functions:
//
//   pass     one direction of a level: rows or columns (separable.cu). Takes every format
//   fused    both directions of a level in one launch (fused.cuh)
//   segment  what a pass works on: lines of two bands, low and high, and of what they make
//   tile     what the fused kernels work on: four bands and what they make
//   walk     down a column, with a window of values in registers (lift.cuh)
//   own      pairs that a thread or warp writes, beside those that it needs for them
//
// Haar with a shift of 1 has haar's kernels: the shift is a parameter of passes.
#pragma once

// X(name, lines, wavelet, direction, coef)
#define CT_DWT_PASS_LINES(X, lines, direction, Direction, type, coef)              \
  X(dwt_##lines##_##direction##_dd97_##type, lines, Dd97, Direction, coef)         \
  X(dwt_##lines##_##direction##_legall53_##type, lines, Legall53, Direction, coef) \
  X(dwt_##lines##_##direction##_dd137_##type, lines, Dd137, Direction, coef)       \
  X(dwt_##lines##_##direction##_haar_##type, lines, Haar, Direction, coef)         \
  X(dwt_##lines##_##direction##_fidelity_##type, lines, Fidelity, Direction, coef) \
  X(dwt_##lines##_##direction##_daub97_##type, lines, Daub97, Direction, coef)     \
  X(dwt_##lines##_##direction##_j2k53_##type, lines, J2k53, Direction, coef)
#define CT_DWT_PASS_TYPES(X, lines, direction, Direction)         \
  CT_DWT_PASS_LINES(X, lines, direction, Direction, s16, int16_t) \
  CT_DWT_PASS_LINES(X, lines, direction, Direction, s32, int32_t)
#define CT_DWT_PASS_KERNELS(X)                    \
  CT_DWT_PASS_TYPES(X, rows, forward, Forward)    \
  CT_DWT_PASS_TYPES(X, rows, inverse, Inverse)    \
  CT_DWT_PASS_TYPES(X, columns, forward, Forward) \
  CT_DWT_PASS_TYPES(X, columns, inverse, Inverse)

// X(name, wavelet, direction, coef, pairs), by the pairs of columns that a lane has. Four are for
// 16 bits; fidelity's window of eight rows leaves no registers for them.
#define CT_DWT_FUSED_SHORT(X, direction, Direction, type, coef, pairs)                   \
  X(dwt_fused_##direction##_dd97_##type##_##pairs, Dd97, Direction, coef, pairs)         \
  X(dwt_fused_##direction##_legall53_##type##_##pairs, Legall53, Direction, coef, pairs) \
  X(dwt_fused_##direction##_dd137_##type##_##pairs, Dd137, Direction, coef, pairs)       \
  X(dwt_fused_##direction##_haar_##type##_##pairs, Haar, Direction, coef, pairs)         \
  X(dwt_fused_##direction##_daub97_##type##_##pairs, Daub97, Direction, coef, pairs)     \
  X(dwt_fused_##direction##_j2k53_##type##_##pairs, J2k53, Direction, coef, pairs)
#define CT_DWT_FUSED_ALL(X, direction, Direction, type, coef, pairs) \
  CT_DWT_FUSED_SHORT(X, direction, Direction, type, coef, pairs)     \
  X(dwt_fused_##direction##_fidelity_##type##_##pairs, Fidelity, Direction, coef, pairs)
#define CT_DWT_FUSED_KERNELS(X, direction, Direction)          \
  CT_DWT_FUSED_ALL(X, direction, Direction, s16, int16_t, 1)   \
  CT_DWT_FUSED_ALL(X, direction, Direction, s16, int16_t, 2)   \
  CT_DWT_FUSED_SHORT(X, direction, Direction, s16, int16_t, 4) \
  CT_DWT_FUSED_ALL(X, direction, Direction, s32, int32_t, 1)   \
  CT_DWT_FUSED_ALL(X, direction, Direction, s32, int32_t, 2)
