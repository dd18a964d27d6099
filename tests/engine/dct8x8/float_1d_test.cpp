// The flow graphs of the CUDA engine's float method against the definition of the 8-point DCT.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the host a multiply-add rounds twice; the graphs are the same.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "transform/dct8x8/1d.h"

namespace cudatransform::test {
namespace {

constexpr int kRuns = 1000;

double scale(int k) { return std::sqrt(8.0) * kAanScale[k]; }

// Orthonormal.
double definition(const double* x, int k) {
  double sum = 0;
  for (int n = 0; n < 8; ++n) sum += x[n] * cosine_sixteenth((2 * n + 1) * k);
  return sum * (k == 0 ? std::sqrt(0.125) : 0.5);
}

TEST(Float1d, ForwardIsTheScaledTransform) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> sample(0, 255);
  for (int run = 0; run < kRuns; ++run) {
    double x[8];
    float v[16];
    for (int n = 0; n < 8; ++n) v[2 * n] = static_cast<float>(x[n] = std::floor(sample(random)));
    float_forward_1d<2>(v);
    for (int k = 0; k < 8; ++k)
      ASSERT_NEAR(v[2 * k], definition(x, k) * scale(k), 1e-3) << "frequency " << k;
  }
}

TEST(Float1d, InverseUndoesIt) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> sample(-128, 127);
  for (int run = 0; run < kRuns; ++run) {
    double x[8];
    float v[8];
    for (double& value : x) value = sample(random);
    for (int k = 0; k < 8; ++k)
      v[k] = static_cast<float>(definition(x, k) * kAanScale[k] / std::sqrt(8.0));
    float_inverse_1d<1>(v, [](float value) { return value; });
    for (int n = 0; n < 8; ++n) ASSERT_NEAR(v[n], x[n], 1e-3) << "sample " << n;
  }
}

// The saturation comes last, and nowhere else.
TEST(Float1d, AppliesTheLastStepToEveryOutput) {
  float plain[8] = {1.5f, -0.25f, 0.5f, 0.125f, -1.0f, 0.75f, -0.5f, 0.25f}, last[8];
  for (int k = 0; k < 8; ++k) last[k] = plain[k];
  float_inverse_1d<1>(plain, [](float value) { return value; });
  float_inverse_1d<1>(last, [](float value) { return 2.0f * value; });
  for (int n = 0; n < 8; ++n) EXPECT_EQ(last[n], 2.0f * plain[n]) << n;
}

}  // namespace
}  // namespace cudatransform::test
