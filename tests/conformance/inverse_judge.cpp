// The definition's inverse of a whole file, with its ties.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/conformance/inverse_judge.h"

#include <algorithm>
#include <cmath>

#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::test {

std::vector<std::vector<Gold>> gold_of(const JpegContents& photograph) {
  Coefficients levels;
  Picture like;
  for (size_t c = 0; c < photograph.levels.size(); ++c) {
    const BytePlane& plane = photograph.planes[c];
    levels.emplace_back(plane.blocks_w(), plane.blocks_h());
    levels.back().values.assign(photograph.levels[c].begin(), photograph.levels[c].end());
    like.emplace_back(plane.width, plane.height);
  }
  const RealPicture exact = definition_inverse(dequantise(levels, photograph.tables), like);
  std::vector<std::vector<Gold>> gold;
  for (const auto& plane : exact) {
    gold.emplace_back();
    for (const double value : plane.samples) {
      constexpr double kDoubt = 1e-8;  // the error of double precision
      const auto round = [](double v) {
        return static_cast<int>(std::clamp(std::floor(v + 128.5), 0.0, 255.0));
      };
      gold.back().push_back({round(value - kDoubt), round(value + kDoubt)});
    }
  }
  return gold;
}

InverseErrors judge_inverse(const std::vector<Gold>& gold, const BytePlane& plane) {
  InverseErrors errors{};
  for (size_t i = 0; i < gold.size(); ++i) {
    const int sample = plane.samples[i];
    errors.all += (sample - gold[i].high) * (sample - gold[i].high);
    const int nearest = std::clamp(sample, gold[i].low, gold[i].high);
    errors.without_ties += (sample - nearest) * (sample - nearest);
  }
  return errors;
}

}  // namespace cudatransform::test
