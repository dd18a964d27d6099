// The road from the seeds: the DCT as textbooks and NVIDIA's DCT8x8 whitepaper write it, in fp32.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each method also offers its innermost step as a function of one output value, for kernels with
// one thread per sample (cuda/dct8x8/teaching.cu). Where that reads the block itself, it takes
// anything that can be indexed from 0 to 63. block.h defines what a method is.
#pragma once

#include <math.h>

#include "transform/dct8x8/block.h"

namespace cudatransform {

// naive: the definition with its cosines computed where they are needed. The angle is reduced
// modulo 2 pi first, because an fp32 angle of 20 radians is off by 1e-6.
CT_HD float naive_cosine(int k, int n) {
  return cosf(float(((2 * n + 1) * k) & 31) * 0.196349541f);  // pi / 16
}
CT_HD float naive_norm(int k) { return k == 0 ? 0.353553391f : 0.5f; }  // sqrt(1/8), 1/2

template <typename Block>
CT_HD float naive_forward_value(const Block& samples, int u, int v, float level_shift) {
  float cosine_u[8];
  for (int x = 0; x < 8; ++x) cosine_u[x] = naive_cosine(u, x);
  float sum = 0.0f;
  for (int y = 0; y < 8; ++y) {
    const float cosine_v = naive_cosine(v, y);
    for (int x = 0; x < 8; ++x) {
      sum += (samples[8 * y + x] - level_shift) * cosine_u[x] * cosine_v;
    }
  }
  return naive_norm(u) * naive_norm(v) * sum;
}

template <typename Block>
CT_HD float naive_inverse_value(const Block& values, int x, int y, float level_shift) {
  float cosine_x[8];
  for (int u = 0; u < 8; ++u) cosine_x[u] = naive_norm(u) * naive_cosine(u, x);
  float sum = 0.0f;
  for (int v = 0; v < 8; ++v) {
    const float cosine_y = naive_norm(v) * naive_cosine(v, y);
    for (int u = 0; u < 8; ++u) sum += values[8 * v + u] * cosine_x[u] * cosine_y;
  }
  return sum + level_shift;
}

struct NaiveMethod : FloatValues {
  static CT_HD void forward(float* f, int level_shift) {
    float out[64];
    for (int i = 0; i < 64; ++i) out[i] = naive_forward_value(f, i % 8, i / 8, float(level_shift));
    for (int i = 0; i < 64; ++i) f[i] = out[i];
  }
  static CT_HD void inverse(float* f, int level_shift) {
    float out[64];
    for (int i = 0; i < 64; ++i) out[i] = naive_inverse_value(f, i % 8, i / 8, float(level_shift));
    for (int i = 0; i < 64; ++i) f[i] = out[i];
  }
};

// matrix: two matrix products with the table A of dct_matrix(): F = A f A^T, f = A^T F A.
//
// One element of a product of two 8x8 matrices in memory or in the table.
CT_HD float times_dct_transposed(const float* f, int row, int k) {  // (f A^T)[row][k]
  float sum = 0.0f;
  CT_UNROLL
  for (int n = 0; n < 8; ++n) sum += f[8 * row + n] * dct_matrix<float>(k, n);
  return sum;
}
CT_HD float dct_times(const float* f, int k, int column) {  // (A f)[k][column]
  float sum = 0.0f;
  CT_UNROLL
  for (int n = 0; n < 8; ++n) sum += dct_matrix<float>(k, n) * f[8 * n + column];
  return sum;
}
CT_HD float times_dct(const float* f, int row, int n) {  // (f A)[row][n]
  float sum = 0.0f;
  CT_UNROLL
  for (int k = 0; k < 8; ++k) sum += f[8 * row + k] * dct_matrix<float>(k, n);
  return sum;
}
CT_HD float dct_transposed_times(const float* f, int n, int column) {  // (A^T f)[n][column]
  float sum = 0.0f;
  CT_UNROLL
  for (int k = 0; k < 8; ++k) sum += dct_matrix<float>(k, n) * f[8 * k + column];
  return sum;
}

struct MatrixMethod : FloatValues {
  static CT_HD void forward(float* f, int level_shift) {
    float half[64];
    for (int i = 0; i < 64; ++i) f[i] -= float(level_shift);
    for (int i = 0; i < 64; ++i) half[i] = times_dct_transposed(f, i / 8, i % 8);
    for (int i = 0; i < 64; ++i) f[i] = dct_times(half, i / 8, i % 8);
  }
  static CT_HD void inverse(float* f, int level_shift) {
    float half[64];
    for (int i = 0; i < 64; ++i) half[i] = times_dct(f, i / 8, i % 8);
    for (int i = 0; i < 64; ++i) {
      f[i] = dct_transposed_times(half, i / 8, i % 8) + float(level_shift);
    }
  }
};

// separable: the same sums seen as one-dimensional transforms of eight rows, then eight columns,
// each in place.
template <int kStride>
CT_HD void table_forward_1d(float* f) {
  float out[8];
  for (int k = 0; k < 8; ++k) {
    out[k] = 0.0f;
    for (int n = 0; n < 8; ++n) out[k] += f[n * kStride] * dct_matrix<float>(k, n);
  }
  for (int k = 0; k < 8; ++k) f[k * kStride] = out[k];
}
template <int kStride>
CT_HD void table_inverse_1d(float* f) {
  float out[8];
  for (int n = 0; n < 8; ++n) {
    out[n] = 0.0f;
    for (int k = 0; k < 8; ++k) out[n] += f[k * kStride] * dct_matrix<float>(k, n);
  }
  for (int n = 0; n < 8; ++n) f[n * kStride] = out[n];
}

struct SeparableMethod : FloatValues {
  static CT_HD void forward(float* f, int level_shift) {
    for (int i = 0; i < 64; ++i) f[i] -= float(level_shift);
    for (int y = 0; y < 8; ++y) table_forward_1d<1>(f + 8 * y);
    for (int x = 0; x < 8; ++x) table_forward_1d<8>(f + x);
  }
  static CT_HD void inverse(float* f, int level_shift) {
    for (int y = 0; y < 8; ++y) table_inverse_1d<1>(f + 8 * y);
    for (int x = 0; x < 8; ++x) table_inverse_1d<8>(f + x);
    for (int i = 0; i < 64; ++i) f[i] += float(level_shift);
  }
};

// decomposed, and shuffle on the CPU: Sung's eight taps, rows, then columns.
struct DecomposedMethod : FloatValues {
  static CT_HD void forward(float* f, int level_shift) {
    for (int i = 0; i < 64; ++i) f[i] -= float(level_shift);
    CT_UNROLL
    for (int y = 0; y < 8; ++y) decomposed_forward_1d<1>(f + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x) decomposed_forward_1d<8>(f + x);
  }
  static CT_HD void inverse(float* f, int level_shift) {
    CT_UNROLL
    for (int y = 0; y < 8; ++y) decomposed_inverse_1d<1>(f + 8 * y);
    CT_UNROLL
    for (int x = 0; x < 8; ++x) decomposed_inverse_1d<8>(f + x);
    for (int i = 0; i < 64; ++i) f[i] += float(level_shift);
  }
};

}  // namespace cudatransform
