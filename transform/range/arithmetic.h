// The arithmetic of limited range to full range, for both engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// With d bits and u = 2^(d - 8), ITU-T H.273 has E = (Y - 16 u) / (219 u) for luma and
// E = (C - 128 u) / (224 u) for chroma; in full range Y' = Round(E (2^d - 1)) and
// C' = Round(E (2^d - 1)) + 2^(d - 1), clamped to 0..2^d - 1. Round() takes halves away from zero.
//
// Products by a factor of some bits of fraction have the same results for all samples: the factor's
// error stays below the distance of any quotient to the next half. A factor that is too large takes
// halves, which some depths have, away from zero on either side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/device/host_device_macros.h"

namespace cudatransform {

// What makes a sample of full range: (sample * factor + offset) >> fraction, clamped to 0..peak.
struct RangeScale {
  int64_t offset;
  int32_t factor;
  int32_t fraction;
  int32_t peak;
};

// `up`: whether the factor is more than its quotient by at most 1, or the nearest to it.
constexpr RangeScale range_scale(int depth, bool is_chroma, int fraction, bool up) {
  const int64_t unit = int64_t{1} << (depth - 8), peak = (int64_t{1} << depth) - 1;
  const int64_t span = (is_chroma ? 224 : 219) * unit, zero = (is_chroma ? 128 : 16) * unit;
  const int64_t factor = ((peak << fraction) + (up ? span : span / 2)) / span;
  const int64_t middle = is_chroma ? zero << fraction : 0;
  return {middle - zero * factor + (int64_t{1} << (fraction - 1)), static_cast<int32_t>(factor),
          fraction, static_cast<int32_t>(peak)};
}

// For every depth.
constexpr RangeScale range_scale(int depth, bool is_chroma) {
  return range_scale(depth, is_chroma, 30, true);
}

CT_HD constexpr int32_t to_full_range(int32_t sample, const RangeScale& by) {
  const auto value = static_cast<int32_t>((int64_t{sample} * by.factor + by.offset) >> by.fraction);
  return value < 0 ? 0 : value > by.peak ? by.peak : value;
}

// ---- Bytes ----

// Few enough bits that sums fit in 32, and factors and twice (chroma: four times) a sample less its
// zero in 16 with a sign: vectors then take the upper half of twice the product, rounded.
inline constexpr int kLumaFraction = 14, kChromaFraction = 13;
inline constexpr RangeScale kByteLuma = range_scale(8, false, kLumaFraction, false);
inline constexpr RangeScale kByteChroma = range_scale(8, true, kChromaFraction, false);
inline constexpr int32_t kLumaZero = 16, kChromaZero = 128;

// ---- Rows of the CPU engine ----

// A row of bytes. Reads and writes only `count` samples.
using RangeRow = void (*)(const uint8_t* from, uint8_t* to, size_t count);
struct RangeRows {
  RangeRow luma, chroma;
};
const RangeRows& portable_range_rows();
// For this CPU, or null where vectors have one lane.
const RangeRows* vector_range_rows();

}  // namespace cudatransform
