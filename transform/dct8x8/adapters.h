// Between memory and one block in local arrays: samples with replicated edges, coefficients in
// every layout, order and type.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quantizer.h"
#include "transform/samples.h"

namespace cudatransform {

// The rectangle of a component that is visible in block (bx, by) of size x size samples.
struct BlockExtent {
  int columns;  // 1..size
  int rows;
};
inline BlockExtent visible_extent(const SamplePlane& plane, int bx, int by, int size = 8) {
  return {std::min(size, plane.width - size * bx), std::min(size, plane.rows() - size * by)};
}

// Reads visible samples only; the last column and row are repeated into the rest of the block.
inline void load_samples(const SamplePlane& plane, int32_t peak, int bx, int by,
                         int32_t samples[64]) {
  const BlockExtent visible = visible_extent(plane, bx, by);
  for (int y = 0; y < 8; ++y) {
    if (y >= visible.rows) {
      std::copy_n(samples + 8 * (visible.rows - 1), 8, samples + 8 * y);
      continue;
    }
    const uint8_t* row = sample_address(plane, 8 * bx, 8 * by + y);
    for (int x = 0; x < 8; ++x) {
      samples[8 * y + x] = x < visible.columns
                               ? load_sample(row + ptrdiff_t{x} * plane.stride, plane, peak)
                               : samples[8 * y + visible.columns - 1];
    }
  }
}

// Writes visible samples only, each row row_repeat times (fewer at the bottom). Row y of the block,
// size x size samples, begins at samples[8 * y].
inline void store_samples(const SamplePlane& plane, int bx, int by, const int32_t samples[64],
                          int size = 8) {
  const BlockExtent visible = visible_extent(plane, bx, by, size);
  for (int y = 0; y < visible.rows; ++y) {
    const int first = (size * by + y) * plane.row_repeat;
    const int last = std::min(first + plane.row_repeat, plane.height);
    for (int row = first; row < last; ++row) {
      uint8_t* address = sample_address(plane, size * bx, row);
      for (int x = 0; x < visible.columns; ++x) {
        store_sample(address + ptrdiff_t{x} * plane.stride, plane, samples[8 * y + x]);
      }
    }
  }
}

inline uint64_t squared_difference(const SamplePlane& plane, int bx, int by, const int32_t a[64],
                                   const int32_t b[64]) {
  const BlockExtent visible = visible_extent(plane, bx, by);
  uint64_t sum = 0;
  for (int y = 0; y < visible.rows; ++y) {
    for (int x = 0; x < visible.columns; ++x) {
      const int64_t difference = int64_t{a[8 * y + x]} - b[8 * y + x];
      sum += uint64_t(difference * difference);
    }
  }
  return sum;
}

// The first coefficient of block (bx, by).
template <typename Coef>
Coef* coef_address(const CoefPlane& plane, Layout layout, int bx, int by) {
  const bool block_layout = layout == Layout::kBlock;
  auto* row = static_cast<uint8_t*>(plane.data) + (block_layout ? by : 8 * by) * plane.pitch;
  return reinterpret_cast<Coef*>(row) + ptrdiff_t{bx} * (block_layout ? 64 : 8);
}

template <typename Coef>
void store_coefs(const Dct8x8Job& job, const CoefPlane& plane, int bx, int by,
                 const Coef natural[64]) {
  Coef* to = coef_address<Coef>(plane, job.layout, bx, by);
  if (job.layout == Layout::kPlane) {
    const ptrdiff_t pitch = plane.pitch / ptrdiff_t(sizeof(Coef));
    for (int v = 0; v < 8; ++v) std::copy_n(natural + 8 * v, 8, to + v * pitch);
  } else if (job.order == Order::kZigzag) {
    for (int k = 0; k < 64; ++k) to[k] = natural[kNaturalOfZigzag[k]];
  } else {
    std::copy_n(natural, 64, to);
  }
}

template <typename Coef>
void load_coefs(const Dct8x8Job& job, const CoefPlane& plane, int bx, int by, Coef natural[64]) {
  const Coef* from = coef_address<Coef>(plane, job.layout, bx, by);
  if (job.layout == Layout::kPlane) {
    const ptrdiff_t pitch = plane.pitch / ptrdiff_t(sizeof(Coef));
    for (int v = 0; v < 8; ++v) std::copy_n(from + v * pitch, 8, natural + 8 * v);
  } else if (job.order == Order::kZigzag) {
    for (int k = 0; k < 64; ++k) natural[kNaturalOfZigzag[k]] = from[k];
  } else {
    std::copy_n(from, 64, natural);
  }
}

template <typename Coef>
uint64_t count_zeros(const Coef coefs[64]) {
  // As wide as a coefficient, so that compilers add up whole vectors of comparisons.
  std::conditional_t<sizeof(Coef) == 2, int16_t, int32_t> zeros = 0;
  for (int i = 0; i < 64; ++i) zeros += coefs[i] == 0;
  return uint64_t(zeros);
}

}  // namespace cudatransform
