// Coefficients at and beyond the largest that kernels take two to a word, and the largest of 16
// bits: see cuda/dwt/lanes.cuh and floats.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/dwt/cases.h"

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
  for (const Engine& engine : engines_with(&Engine::dwt_ops)) {
    const std::string where = engine.name + " " + wavelet_name(spec.shape.wavelet) + " " + what;
    const InverseResult result = run_inverse(engine, spec, coefs, like);
    ASSERT_EQ(result.fault, "") << where;
    ASSERT_EQ(test::judge_equal(expected, result.picture), "") << where;
  }
}

// Packed values are a matter of CUDA's kernels, whose strips need pictures of some size.
bool has_device() { return engines_with(&Engine::dwt_ops).front().is_cuda && !quick(); }
Picture picture_of_limits() { return {Plane(has_device() ? 616 : 296, has_device() ? 152 : 38)}; }

TEST(DwtLanes, CoefficientsAtTheirLimits) {
  const uint32_t seeds = sanitized() ? 1 : has_device() ? 8 : 2;
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

// The level below which every value of an index is at most `most`; at least 1.
int64_t level_beyond(int index, int64_t most) {
  int64_t level = 1;
  while (level < 32767 && dequantize(level, index, Rule::kS16) <= most) ++level;
  return level;
}

// Levels of each band up to the last whose value is within lanes. But levels themselves are checked
// against a power of two, which goes with the band of the largest factor. `beyond` is one level
// that is not below it, or 0: its value may look as if it were within.
Pyramids fill_levels(const Spec& spec, Pyramids pyramids, const std::vector<int>& indices,
                     int64_t beyond) {
  constexpr int64_t kLast = 1022, kMax = 6144;  // of values, and of values of that power
  std::mt19937 random(spec.seed);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int64_t power = 1024;
  for (const int index : indices)
    while (power > 1 && power >= level_beyond(index, kMax)) power /= 2;
  std::vector<int64_t> within;
  for (const int index : indices) within.push_back(std::min(level_beyond(index, kLast), power) - 1);
  for (Values& values : pyramids) {
    for (int y = 0; y < values.rows; ++y)
      for (int x = 0; x < values.width; ++x) {
        const auto band = static_cast<size_t>(band_at(spec.shape, values, x, y));
        const int64_t most = within[band % within.size()];
        const int64_t level = std::max<int64_t>(most - draw(0, 3), 0);
        values.at(x, y) = draw(0, 1) != 0 ? level : -level;
      }
    if (beyond != 0)
      values.at(static_cast<int>(draw(0, values.width - 1)),
                static_cast<int>(draw(0, values.rows - 1))) = beyond;
  }
  return pyramids;
}

TEST(DwtLanes, LevelsAtTheirLimits) {
  const Picture like = picture_of_limits();
  const std::vector<std::vector<int>> tables = {{1},  {3},   {8},     {17},    {24},      {33},
                                                {40}, {115}, {0, 24}, {5, 21}, {9, 40, 2}};
  // With a factor that is a power of two, levels from 128 on may look like their remainders.
  const int64_t levels[] = {0, 128, -512, 64, -32768, 1024, -63, 32767, 2, -4096};
  const size_t pictures = !has_device() || sanitized() ? 3 : std::size(levels);
  uint32_t seed = 0;
  for (const Wavelet wavelet : {Wavelet::kHaar, Wavelet::kHaarShift, Wavelet::kLegall53,
                                Wavelet::kJ2k53, Wavelet::kDd97, Wavelet::kDd137})
    for (const std::vector<int>& indices : tables)
      for (size_t number = 0; number < pictures; ++number) {
        Spec spec;
        spec.shape = {wavelet, wavelet, 1, 0};
        spec.seed = ++seed;
        for (auto& component : spec.quant_index)
          for (size_t band = 0; band < component.size(); ++band)
            component[band] = static_cast<uint8_t>(indices[band % indices.size()]);
        const Pyramids coefs =
            fill_levels(spec, empty_pyramids(like, spec.shape), indices, levels[number]);
        ASSERT_NO_FATAL_FAILURE(expect_picture(spec, coefs, like,
                                               "index " + std::to_string(indices[0]) +
                                                   " and level " + std::to_string(levels[number])));
      }
}

}  // namespace
}  // namespace cudatransform::test::dwt
