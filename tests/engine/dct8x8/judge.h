// Verdicts: the allowed distance of an engine's output from the definition or another engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tests/engine/dct8x8/job_runner.h"

namespace cudatransform::test {

// All return "" or the first fault. The promises are those of docs/architecture.md.

// `exact`: unquantized values of the definition. Floating methods: equal to the rounded quotient
// except where it is nearly a tie, and then off by one; islow: off by one at most. Not for ifast.
std::string judge_coefficients(const Spec& spec, const Coefficients& exact,
                               const Coefficients& got);
// Quantized coefficients that spec.quantizer decides. `real`: what the same method makes
// unquantized, F32, from which eighths follow except for the last bit of float's and ifast's: where
// one is next to a tie, either side may be what was decided from.
std::string judge_decisions(const Spec& spec, const Coefficients& real, const Coefficients& got);
// `exact`: samples of the definition before level shift, rounding and clamp, from exactly the
// dequantized values whose magnitudes `values` gives. Not for ifast.
std::string judge_samples(const Spec& spec, const RealPicture& exact, const Coefficients& values,
                          const Picture& got);

std::string judge_equal(const Coefficients& expected, const Coefficients& got);

// Sums that the job should have measured. `exactly`: the integer methods' promise; else 0.001 dB
// and the few samples on the other side of a tie.
std::string judge_sse(const PictureSums& sums, const Picture& source, const Picture& result,
                      bool exactly);
std::string judge_zeros(const PictureSums& sums, const Coefficients& coefs);

bool is_integer(Method method);

using BlockQcoefs = std::array<int, 64>;   // natural order
using BlockEighths = std::array<int, 64>;  // eight times the orthonormal coefficients

struct DeadZoneRule {
  int thousandths;
};
// AC quantized coefficients below the threshold become 0, the rest and DC round to the nearest one.
BlockQcoefs definition_dead_zone(const BlockEighths& eighths, const uint16_t divisors[64],
                                 DeadZoneRule rule);

struct RdRule {
  double lambda;
  bool chroma;
};
// From the last AC quantized coefficient to the first: as rounded, one less, or 0 instead of 1 or
// 2, whichever makes the block cheapest; bits by Annex K's codes, plus the squared error in
// quantized coefficients over lambda, less of it in blocks of much energy, twice of it in chroma.
BlockQcoefs definition_rd(const BlockEighths& eighths, const uint16_t divisors[64], RdRule rule);

}  // namespace cudatransform::test
