// The wavelet transforms by definition: one sample at a time, in 64 bits.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Its tables are written from SMPTE ST 2042-1 and ITU-T T.800, not from transform/dwt.
#pragma once

#include <cstdint>

#include "tests/engine/frame.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::test::dwt {

using Values = BasicPlane<int64_t>;  // of one component, padded

struct Shape {
  Wavelet wavelet = Wavelet::kLegall53;
  Wavelet wavelet_ho = Wavelet::kLegall53;
  int levels = 4;
  int levels_ho = 0;
};

// The range of numbers: by the specifications, or by transform/dwt/dwt.h.
enum class Rule { kUnbounded, kS16, kS32 };
inline Rule rule_of(DwtCoefType type) {
  return type == DwtCoefType::kS16 ? Rule::kS16 : Rule::kS32;
}

// The sides of a component's coefficients.
int padded_width(const Shape& shape, int width);
int padded_height(const Shape& shape, int height);

// Samples to the values of the transform: padded, around 0.
Values padded_values(const Plane& samples, const Shape& shape, int depth);
// Values to coefficients in pyramid arrangement, and back. `largest`, if not null, grows to the
// largest magnitude that any step leaves.
Values analyze(const Values& values, const Shape& shape, Rule rule, int64_t* largest = nullptr);
Values synthesize(const Values& pyramid, const Shape& shape, Rule rule, int64_t* largest = nullptr);

int band_count(const Shape& shape);
// The band of a coefficient at (x, y) of a pyramid.
int band_at(const Shape& shape, const Values& pyramid, int x, int y);

int64_t quant_factor(int index);
int64_t quantize(int64_t value, int index);
int64_t dequantize(int64_t level, int index, Rule rule);

// A value after the inverse as the written sample; residual: signed, unchanged.
int sample_of(int64_t value, int depth, bool residual);

}  // namespace cudatransform::test::dwt
