// The vector code of motion compensation: its functions on blocks and rows of samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sums are int16_t for samples of a byte, which obmc_fits_short() requires, and int32_t for those
// of 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatransform {

// Numbers of a vector at most; functions for blocks work on a multiple of them.
inline constexpr size_t kObmcLanes = 16;

// Rows of this many numbers, `stride` apart.
struct ObmcArea {
  size_t rows, columns, stride;
};

// The samples that a block is fetched from: one, two or four positions of the half-sample grid.
template <typename Sample>
struct ObmcTaps {
  int count = 0;
  const Sample* from[4];
  ptrdiff_t pitch[4];  // in samples
  int weights[4];      // which sum to 2^shift
  int shift = 0;
};

struct ObmcWeights {
  int32_t first, second;
  int bits;
};

template <typename Sample, typename Number>
struct ObmcKernels {
  // The samples that a block's vector points at, less `half`.
  void (*fetch)(const ObmcTaps<Sample>& taps, int32_t half, Number* values, const ObmcArea& area);
  // values[i] = (values[i] * first + others[i] * second) >> bits, rounded; `others` may be null.
  void (*weigh)(Number* values, const Number* others, const ObmcWeights& weights,
                const ObmcArea& area);
  // Adds values, rows of `stride`, times both windows to the sums.
  void (*add)(const Number* values, size_t stride, const Number* window_x, const Number* window_y,
              Number* sums, const ObmcArea& area);
  // The same straight from the samples of one reference, or from the mean of two, at one position
  // of the half-sample grid each; `others` may be null.
  void (*add_samples)(const ObmcTaps<Sample>& taps, const ObmcTaps<Sample>* others, int32_t half,
                      const Number* window_x, const Number* window_y, Number* sums,
                      const ObmcArea& area);
  // Samples from sums in 64ths and the residual, which may be null; `count` and none more.
  void (*store)(const Number* sums, const int16_t* residual, int32_t half, Sample* to,
                size_t count);
  // The half positions between rows[3] and rows[4]; `count` and none more.
  void (*halve)(const Sample* const* rows, Sample* to, size_t count, int32_t peak);
};

using ObmcByteKernels = ObmcKernels<uint8_t, int16_t>;
using ObmcWordKernels = ObmcKernels<uint16_t, int32_t>;

// For this CPU, or null where vectors have one lane.
const ObmcByteKernels* obmc_byte_kernels();
const ObmcWordKernels* obmc_word_kernels();

}  // namespace cudatransform
