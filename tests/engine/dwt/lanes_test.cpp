// Coefficients at and beyond the largest that kernels take two to a word, and the largest of 16
// bits: see cuda/dwt/lanes.cuh and floats.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

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

// The picture of coefficients on each engine is that of the definition.
void expect_picture(const Spec& spec, const Pyramids& coefs, const Picture& like,
                    const std::string& what) {
  const Picture expected = inverse_by_definition(spec, coefs, like, Rule::kS16);
  for (const Engine& engine : dwt_engines()) {
    const std::string where = engine.name + " " + wavelet_name(spec.shape.wavelet) + " " + what;
    const InverseResult result = run_inverse(engine, spec, coefs, like);
    ASSERT_EQ(result.fault, "") << where;
    ASSERT_EQ(test::judge_equal(expected, result.picture), "") << where;
  }
}

bool is_emulated() { return quick() && dwt_engines().front().is_cuda; }
Picture picture_of_limits() { return {Plane(is_emulated() ? 296 : 616, is_emulated() ? 38 : 152)}; }

TEST(DwtLanes, CoefficientsAtTheirLimits) {
  const uint32_t seeds = is_emulated() ? 2 : sanitized() ? 1 : 8;
  const Picture like = picture_of_limits();
  for (int w = 0; w < kWaveletCount; ++w)
    for (int p = 0; p < static_cast<int>(Pattern::kCount); ++p)
      for (uint32_t seed = 1; seed <= seeds; ++seed) {
        Spec spec;
        spec.shape = {static_cast<Wavelet>(w), static_cast<Wavelet>(w), 1 + p % 2, 0};
        spec.seed = seed;
        const Pyramids coefs =
            fill(empty_pyramids(like, spec.shape), static_cast<Pattern>(p), seed);
        ASSERT_NO_FATAL_FAILURE(expect_picture(
            spec, coefs, like, "pattern " + std::to_string(p) + " seed " + std::to_string(seed)));
      }
}

// Levels whose values are the last within lanes and the first beyond; so are powers of two, which
// limit the levels themselves where quantisers of a tile differ. Few pictures have any beyond.
Pyramids fill_levels(Pyramids pyramids, const std::vector<int>& indices, uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](auto low, auto high) {
    return static_cast<int64_t>(std::uniform_int_distribution<int64_t>(low, high)(random));
  };
  int64_t within = 1022;
  for (const int index : indices) within = std::min(within, 4 * 1022 / quant_factor(index));
  for (Values& values : pyramids)
    for (int y = 0; y < values.rows; ++y)
      for (int x = 0; x < values.width; ++x) {
        const bool beyond = seed % 3 == 0 && draw(0, 40) == 0;
        const int64_t power = int64_t{1} << draw(0, 15);
        const int64_t level =
            beyond ? power - draw(0, 1) : std::max<int64_t>(within - draw(0, 2), 0);
        values.at(x, y) = std::clamp<int64_t>(draw(0, 1) != 0 ? level : -level, -32768, 32767);
      }
  return pyramids;
}

TEST(DwtLanes, LevelsAtTheirLimits) {
  const Picture like = picture_of_limits();
  const std::vector<std::vector<int>> tables = {{1},   {3},    {8},     {17},    {24},      {33},
                                                {39},  {40},   {41},    {44},    {47, 48},  {60},
                                                {115}, {0, 1}, {0, 24}, {5, 21}, {9, 40, 2}};
  const uint32_t seeds = is_emulated() || sanitized() ? 1 : 3;
  uint32_t number = 0;
  for (int w = 0; w < kWaveletCount; ++w)
    for (const std::vector<int>& indices : tables)
      for (uint32_t seed = 0; seed < seeds; ++seed) {
        Spec spec;
        spec.shape = {static_cast<Wavelet>(w), static_cast<Wavelet>(w), 1, 0};
        spec.seed = ++number;
        for (auto& component : spec.quant_index)
          for (size_t band = 0; band < component.size(); ++band)
            component[band] = static_cast<uint8_t>(indices[band % indices.size()]);
        const Pyramids coefs = fill_levels(empty_pyramids(like, spec.shape), indices, number);
        ASSERT_NO_FATAL_FAILURE(
            expect_picture(spec, coefs, like, "index " + std::to_string(indices[0])));
      }
}

}  // namespace
}  // namespace cudatransform::test::dwt
