// How the CPU engine walks a job: block rows of all components in parallel, each by one function.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/decision.h"
#include "transform/dct8x8/quantizer.h"
#include "transform/dct8x8/quantizer_short.h"

namespace cudatransform {

// Data that the block rows of one job share.
struct RowContext {
  const Dct8x8Job* job;
  // By component; forward jobs only. Makes eighths where quantized coefficients are decided.
  ForwardTable forward[kMaxComponents];
  Decision decisions[kMaxComponents];  // by component; where quantized coefficients are decided
  InverseTable
      inverse[kMaxComponents];  // by component; inverse jobs, and forward jobs that measure the SSE
  ShortTables short_tables[kMaxComponents];  // by component; S16 coefficients only
  int32_t peak;                              // 2^depth - 1
  int32_t level_shift;                       // 2^(depth-1)
};

// The last step of a sample, after the level shift: clamped to low..high, then less bias. Signed
// samples get the shift as well, and lose it when they are rounded: so they equal to the bit
// unclamped samples of pictures, whichever way a tie or the last bit of an fp32 falls.
struct SampleRange {
  int32_t low, high, bias;
};

inline SampleRange sample_range(const RowContext& context, const SamplePlane& plane) {
  const int32_t shift = context.level_shift;
  if (plane.type == SampleType::kS16) return {shift - 32768, shift + 32767, shift};
  return {0, context.peak, 0};
}

inline bool decides(const Dct8x8Job& job) { return job.quantizer != Quantizer::kRound; }

struct RowSums {
  uint64_t sse = 0;
  uint64_t zeros = 0;
};

// Transforms block row `by` of component `component` and returns its measurements.
using RowFunction = RowSums (*)(const RowContext& context, int component, int by);

// One block at a time in portable C++, for any job that validate() accepts.
RowFunction portable_row_function(const Dct8x8Job& job);
// Its part for jobs with scale 2, 4 or 8.
RowFunction portable_scaled_row_function(const Dct8x8Job& job);

// Highway's version for this CPU, or null where only the portable one exists.
RowFunction simd_row_function(const Dct8x8Job& job);

// Validates the job, runs `choose`(job) over all its block rows inside the device's arena and
// returns a fence that is done. Sums are integers, so the order of the rows does not matter to
// them.
Status run_rows(Device& device, Queue& queue, const Dct8x8Job& job,
                RowFunction (*choose)(const Dct8x8Job&), FencePtr* fence);

// For this CPU, or null where only the portable one exists. The job's method is the function's;
// islow and float have scale 2 and 4, too.
RowFunction simd_islow_row_function(const Dct8x8Job& job);
RowFunction simd_ifast_row_function(const Dct8x8Job& job);
RowFunction simd_float_row_function(const Dct8x8Job& job);

}  // namespace cudatransform
