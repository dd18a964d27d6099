// Coefficients of 8-bit pictures are right in 16 bits up to the levels that a table lists, and in
// 32 bits above: against the definition in which nothing wraps.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A lossless round trip cannot tell: wrapping lifting undoes wrapping lifting. Quantization in
// between makes it visible.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/engine/dwt/cases.h"

namespace cudatransform::test::dwt {
namespace {

// By the value of Wavelet.
constexpr int kShortLevels[kWaveletCount] = {4, 5, 4, 6, 6, 3, 4, 6};
// The largest coefficients that three levels can make of 8 bits.
constexpr int64_t kLargestOfThree[kWaveletCount] = {8352, 7720, 9103, 510, 4080, 19740, 10052, 965};

using Signs = std::vector<int>;

int side_of(int levels) { return std::min(16, 256 >> levels) << levels; }

// The sign of each sample of a line that drives the low or high coefficient in the middle of
// `level` furthest: that of its weight in the coefficient.
Signs worst_line(Wavelet wavelet, int level, bool high, int side) {
  if (level == 0) return Signs(static_cast<size_t>(side), 1);
  const Shape shape{wavelet, wavelet, 0, level};  // columns would repeat the row
  const int half = side >> level;
  Signs signs;
  for (int at = 0; at < side; ++at) {
    Values impulse(side, 1);
    impulse.at(at, 0) = 1 << 24;
    const Values pyramid = analyze(impulse, shape, Rule::kUnbounded);
    signs.push_back(pyramid.at(half / 2 + (high ? half : 0), 0) < 0 ? -1 : 1);
  }
  return signs;
}

Picture picture_of(const Signs& across, const Signs& down, bool inverted) {
  Picture picture = {Plane(static_cast<int>(across.size()), static_cast<int>(down.size()))};
  for (int y = 0; y < picture[0].rows; ++y)
    for (int x = 0; x < picture[0].width; ++x)
      picture[0].at(x, y) = (across[x] * down[y] > 0) != inverted ? 255 : 0;
  return picture;
}

// White, black, and pictures that drive the coefficients of the coarsest level, and the values
// between its two directions, furthest.
std::vector<Picture> worst_pictures(Wavelet wavelet, int levels) {
  const int side = side_of(levels);
  const Signs low = worst_line(wavelet, levels, false, side);
  const Signs high = worst_line(wavelet, levels, true, side);
  const Signs finer = worst_line(wavelet, levels - 1, false, side);
  const Signs flat(static_cast<size_t>(side), 1);
  std::vector<Picture> pictures;
  for (const bool inverted : {false, true}) {
    pictures.push_back(picture_of(flat, flat, inverted));
    for (const Signs* across : {&low, &high})
      for (const Signs* down : {&low, &high, &finer})
        pictures.push_back(picture_of(*across, *down, inverted));
    for (const Signs* down : {&low, &high}) pictures.push_back(picture_of(finer, *down, inverted));
  }
  return pictures;
}

Spec spec_of(Wavelet wavelet, int levels) {
  Spec spec;
  spec.shape = {wavelet, wavelet, levels, 0};
  spec.type =
      levels <= kShortLevels[static_cast<int>(wavelet)] ? DwtCoefType::kS16 : DwtCoefType::kS32;
  spec.quant_index = make_quant_indices(Quant::kEight, 1);
  return spec;
}

TEST(DwtWidths, WorstPicturesAtIndexEight) {
  int jobs = 0;
  const std::vector<Engine> engines = engines_with(&Engine::dwt_ops);
  // Sanitizers watch memory accesses, which are alike in the largest pictures and in the others.
  const int most = sanitized() ? 3 : quick() ? 4 : kMaxDwtLevels;
  for (int w = 0; w < kWaveletCount; ++w)
    for (int levels = 1; levels <= most; ++levels) {
      const Spec spec = spec_of(static_cast<Wavelet>(w), levels);
      for (const Picture& picture : worst_pictures(spec.shape.wavelet, levels)) {
        const Pyramids coefs = forward_by_definition(spec, picture, Rule::kUnbounded);
        const Picture back = inverse_by_definition(spec, coefs, picture, Rule::kUnbounded);
        for (const Engine& engine : engines) {
          const std::string where = engine.name + " " + wavelet_name(spec.shape.wavelet) +
                                    " levels " + std::to_string(levels);
          const ForwardResult forward = run_forward(engine, spec, picture);
          ASSERT_EQ(forward.fault, "") << where;
          ASSERT_EQ(judge_equal(coefs, forward.coefs), "") << where;
          const InverseResult inverse = run_inverse(engine, spec, coefs, picture);
          ASSERT_EQ(inverse.fault, "") << where;
          ASSERT_EQ(test::judge_equal(back, inverse.picture), "") << where;
          jobs += 2;
        }
      }
    }
  std::printf("  %d jobs\n", jobs);
}

// The pictures reach their extremes, and one more level would not fit.
TEST(DwtWidths, PicturesReachTheLimits) {
  for (int w = 0; w < kWaveletCount; ++w) {
    Spec spec = spec_of(static_cast<Wavelet>(w), 3);
    int64_t largest = 0;
    for (const Picture& picture : worst_pictures(spec.shape.wavelet, 3))
      for (const int64_t value :
           analyze(padded_values(picture[0], spec.shape, 8), spec.shape, Rule::kUnbounded).samples)
        largest = std::max(largest, std::abs(value));
    EXPECT_EQ(largest, kLargestOfThree[w]) << wavelet_name(spec.shape.wavelet);

    const int above = kShortLevels[w] + 1;
    if (above > kMaxDwtLevels) continue;
    spec.shape.levels = above;
    bool differs = false;
    for (const Picture& picture : worst_pictures(spec.shape.wavelet, above))
      differs = differs || !judge_equal(forward_by_definition(spec, picture, Rule::kUnbounded),
                                        forward_by_definition(spec, picture, Rule::kS16))
                                .empty();
    EXPECT_TRUE(differs) << wavelet_name(spec.shape.wavelet);
  }
}

}  // namespace
}  // namespace cudatransform::test::dwt
