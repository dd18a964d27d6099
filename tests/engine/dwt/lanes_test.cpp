// Coefficients at and beyond the largest that kernels take two to a word, and the largest of 16
// bits: see cuda/dwt/lanes.cuh and floats.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/dwt/case_check.h"

namespace cudatransform::test::dwt {
namespace {

// All values of a pyramid are at one of the two ends, or at random between them.
enum class Pattern { kEnds, kStripes, kNoise, kOneBeyond, kEndsOfType, kAny, kCount };

int64_t value_of(Pattern pattern, int x, int y, std::mt19937* random) {
  constexpr int kLow = -1024, kHigh = 1022;  // of every filter
  switch (pattern) {
    case Pattern::kStripes:
      return ((x / 2 + y) & 1) != 0 ? kLow : kHigh;
    case Pattern::kNoise:
      return std::uniform_int_distribution(kLow, kHigh)(*random);
    case Pattern::kEndsOfType:
      return ((*random)() & 1) != 0 ? -32768 : 32767;
    case Pattern::kAny:
      return std::uniform_int_distribution(-32768, 32767)(*random);
    default:
      return ((*random)() & 1) != 0 ? kLow : kHigh;
  }
}

Pyramids fill(Pyramids pyramids, Pattern pattern, uint32_t seed) {
  std::mt19937 random(seed);
  for (Values& values : pyramids) {
    for (int y = 0; y < values.rows; ++y)
      for (int x = 0; x < values.width; ++x) values.at(x, y) = value_of(pattern, x, y, &random);
    if (pattern == Pattern::kOneBeyond)
      values.at(static_cast<int>(random() % values.width),
                static_cast<int>(random() % values.rows)) = (seed & 1) != 0 ? 1025 : -1026;
  }
  return pyramids;
}

TEST(DwtLanes, CoefficientsAtTheirLimits) {
  const std::vector<Engine> engines = dwt_engines();
  const bool emulated = quick() && engines.front().is_cuda;
  const uint32_t seeds = emulated ? 2 : sanitized() ? 1 : 8;
  const Picture like = {Plane(emulated ? 296 : 616, emulated ? 38 : 152)};
  int jobs = 0;
  for (int w = 0; w < kWaveletCount; ++w)
    for (int p = 0; p < static_cast<int>(Pattern::kCount); ++p)
      for (uint32_t seed = 1; seed <= seeds; ++seed) {
        Spec spec;
        spec.shape = {static_cast<Wavelet>(w), static_cast<Wavelet>(w), 1 + p % 2, 0};
        spec.seed = seed;
        const Pyramids coefs =
            fill(empty_pyramids(like, spec.shape), static_cast<Pattern>(p), seed);
        const Picture expected = inverse_by_definition(spec, coefs, like, Rule::kS16);
        for (const Engine& engine : engines) {
          const std::string where = engine.name + " " + wavelet_name(spec.shape.wavelet) +
                                    " pattern " + std::to_string(p) + " seed " +
                                    std::to_string(seed);
          const InverseResult result = run_inverse(engine, spec, coefs, like);
          ASSERT_EQ(result.fault, "") << where;
          ASSERT_EQ(test::judge_equal(expected, result.picture), "") << where;
          ++jobs;
        }
      }
  std::printf("  %d jobs\n", jobs);
}

}  // namespace
}  // namespace cudatransform::test::dwt
