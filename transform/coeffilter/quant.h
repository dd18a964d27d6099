// Quantized coefficients with other tables, as a job: no sample is made.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "transform/coeffilter/coefs.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/device/device.h"
#include "transform/device/host_device_macros.h"
#include "transform/picture.h"

namespace cudatransform {

// The tables of a picture that had `from`. Components with equal tables share one, as in files.
// `coarser_only`: an old entry stays where it is the coarser one. Tables has `tables`, their
// `count` and each component's index, `table_of`.
template <typename Tables>
Tables requantized(const Tables& from, const Tables& wanted, bool coarser_only, int components) {
  Tables to;
  for (int c = 0; c < components; ++c) {
    QuantTable table = wanted.tables[wanted.table_of[c]];
    const QuantTable& old = from.tables[from.table_of[c]];
    if (coarser_only)
      std::transform(std::begin(table.q), std::end(table.q), old.q, table.q,
                     [](uint16_t a, uint16_t b) { return std::max(a, b); });
    const QuantTable* end = to.tables + to.count;
    const QuantTable* same = std::find(static_cast<const QuantTable*>(to.tables), end, table);
    to.table_of[c] = static_cast<int>(same - to.tables);
    if (same == end) to.tables[to.count++] = table;
  }
  return to;
}

struct RequantJob {
  CoefNumber number = CoefNumber::kS16;                   // or kS32
  CoefArrangement arrangement = CoefArrangement::kBlock;  // not kBand
  int components = 0;
  CoefArray from[kMaxCoefArrays], to[kMaxCoefArrays];  // of the same blocks
  // Natural order: of from[].table, entries 0 to 65535, and of to[].table, 1 to 65535.
  QuantTable before[kMaxCoefArrays], after[kMaxCoefArrays];
  // kMeasureSse: of the coefficients, which is that of the samples before they are rounded (the
  // transform is orthonormal); kMeasureZeros: of the quantized coefficients written. Up to
  // kMaxComponents.
  uint32_t measure = 0;
  PictureSums* sums = nullptr;  // as in Dct8x8Job
  Timer* timer = nullptr;
};

// Checks everything that an engine relies on. Engines call it first. Both sides do not overlap.
Status validate(const RequantJob& job);

// The operation of one engine. The call returns immediately; `fence` (may be null) is done when
// output and sums are complete.
struct RequantOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const RequantJob& job, FencePtr* fence);
};

// The CPU engine, on a host device.
const RequantOps& host_requant_ops();

// ---- Arithmetic that engines share ----

// Two entries of the tables for one coefficient. A quantized coefficient times `before`, divided by
// `after` and rounded to the nearest, ties away from zero, is floor((|quantized coefficient| x
// before + after / 2) / after). The dividend is below 2^31, so multiplying by a reciprocal is
// exact: see cuda/common/divider.h. All is doubled here, so that the reciprocal fits 32 bits for 1,
// too.
struct RequantEntry {
  uint32_t before;  // x 2
  uint32_t half;    // of `after`, x 2
  uint32_t after;
  uint32_t multiplier, shift;
};

inline RequantEntry make_requant_entry(uint32_t before, uint32_t after) {
  uint32_t log2 = 0;
  while ((uint32_t{1} << log2) < after) ++log2;
  const uint64_t power = uint64_t{1} << (31 + log2);
  return {2 * before, after & ~uint32_t{1}, after,
          static_cast<uint32_t>((power + after - 1) / after), log2};
}

CT_HD uint32_t requant_high(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
  return __umulhi(a, b);
#else
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
#endif
}

// Of a quantized coefficient without its sign; not saturated, and below 2^31.
CT_HD uint32_t requantized_size(uint32_t size, const RequantEntry& by) {
  return requant_high(size * by.before + by.half, by.multiplier) >> by.shift;
}

// Saturates. `error`: of the coefficient, without its sign.
CT_HD int32_t requantized16(int32_t qcoef, const RequantEntry& by, int32_t* error) {
  const uint32_t size = static_cast<uint32_t>(qcoef < 0 ? -qcoef : qcoef);
  const uint32_t most = 32767u + (qcoef < 0 ? 1 : 0);
  const uint32_t quotient = requantized_size(size, by);
  const uint32_t kept = quotient < most ? quotient : most;
  *error = static_cast<int32_t>(size * by.before / 2 - kept * by.after);
  return qcoef < 0 ? -static_cast<int32_t>(kept) : static_cast<int32_t>(kept);
}

// The same for quantized coefficients of 32 bits, which are those of 16-bit samples: by a division.
CT_HD int32_t requantized32(int32_t qcoef, const RequantEntry& by, int64_t* error) {
  const int64_t size = qcoef < 0 ? -int64_t{qcoef} : qcoef;
  const int64_t most = 2147483647 + int64_t{qcoef < 0};
  const int64_t before = size * (by.before / 2);
  const int64_t quotient = (before + by.half / 2) / by.after;
  const int64_t kept = quotient < most ? quotient : most;
  *error = before - kept * by.after;
  return static_cast<int32_t>(qcoef < 0 ? -kept : kept);
}

}  // namespace cudatransform
