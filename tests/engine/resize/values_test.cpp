// Tables of floats: how far recipes are from each other, as the libraries themselves are; and what
// make_values() refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/resize/resize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace cudatransform::test {
namespace {

constexpr double kMean[] = {.485, .456, .406}, kDeviation[] = {.229, .224, .225};  // ImageNet's

std::vector<float> values_of(ValueRecipe recipe) {
  std::vector<float> table(768);
  const Status status = make_values(recipe, 3, kMean, kDeviation, table.data());
  EXPECT_TRUE(status.ok()) << status.message;
  return table;
}

int differences(const std::vector<float>& a, const std::vector<float>& b) {
  int count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

// Counted with torchvision and transformers themselves.
TEST(ResizeValues, DifferAsTheirLibrariesDo) {
  const std::vector<float> torchvision = values_of(ValueRecipe::kTorchvision);
  EXPECT_EQ(differences(torchvision, values_of(ValueRecipe::kTorchvisionV2)), 322);
  EXPECT_EQ(differences(torchvision, values_of(ValueRecipe::kHf)), 0);
  EXPECT_EQ(differences(torchvision, values_of(ValueRecipe::kHfFast)), 465);
}

// In double precision, to a few units of the last place.
TEST(ResizeValues, AreCloseToExactOnes) {
  for (int r = 0; r < kValueRecipeCount; ++r) {
    const std::vector<float> table = values_of(static_cast<ValueRecipe>(r));
    for (int i = 0; i < 768; ++i) {
      const double exact = (i % 256 / 255. - kMean[i / 256]) / kDeviation[i / 256];
      EXPECT_NEAR(table[static_cast<size_t>(i)], exact, 1e-6) << "recipe " << r << ", " << i;
    }
  }
}

TEST(ResizeValues, ScaleAlone) {
  for (int r = 0; r < kValueRecipeCount; ++r) {
    std::vector<float> table(256);
    ASSERT_TRUE(make_values(static_cast<ValueRecipe>(r), 1, {}, {}, table.data()).ok());
    EXPECT_EQ(table[0], 0.f);
    EXPECT_EQ(table[255], 1.f);
    EXPECT_NEAR(table[51], .2, 1e-7);
  }
}

TEST(ResizeValues, RefuseBadNumbers) {
  float table[768];
  const double two[] = {.5, .5}, zero[] = {.5, 0, .5}, tiny[] = {.5, 1e-60, .5};
  const double none[] = {.5, std::nan(""), .5}, large[] = {.5, 1e300, .5};
  const auto refuses = [&](std::span<const double> mean, std::span<const double> deviation) {
    return !make_values(ValueRecipe::kTorchvision, 3, mean, deviation, table).ok();
  };
  EXPECT_FALSE(refuses(kMean, kDeviation));
  EXPECT_TRUE(refuses(two, kDeviation));
  EXPECT_TRUE(refuses(kMean, two));
  EXPECT_TRUE(refuses(kMean, {}));
  EXPECT_TRUE(refuses({}, kDeviation));
  EXPECT_TRUE(refuses(kMean, zero));
  EXPECT_TRUE(refuses(kMean, tiny));
  EXPECT_TRUE(refuses(none, kDeviation));
  EXPECT_TRUE(refuses(kMean, large));
  EXPECT_FALSE(make_values(ValueRecipe::kHf, 5, {}, {}, table).ok());
  EXPECT_FALSE(make_values(static_cast<ValueRecipe>(4), 3, {}, {}, table).ok());
}

}  // namespace
}  // namespace cudatransform::test
