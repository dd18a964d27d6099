// Weights by vectors: equal to those of one output after the other, for all filters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/resize/axis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "tests/engine/engines.h"
#include "transform/device/simd_targets.h"

namespace cudatransform::test {
namespace {

struct Side {
  ResizeFilter filter;
  int32_t in, out;
  double from, to;
};

void weigh_one_by_one(const ResizeWeighing& of) { weigh_resize_outputs(of, 0, of.out); }

ResizeAxis axis_of(const Side& side, ResizeWeigher weigh) {
  return make_resize_axis(side.filter, side.in, side.from, side.to, side.out, weigh);
}

// The whole side, a part of it in whole samples, in quarters, or in any fractions, down to little.
Side random_side(std::mt19937& random) {
  const uint32_t most_in = random() % 50 == 0 ? 20000 : random() % 3 == 0 ? 40 : 600;
  const uint32_t most_out = random() % 50 == 0 ? 2000 : random() % 3 == 0 ? 20 : 300;
  Side side = {static_cast<ResizeFilter>(1 + random() % (kResizeFilterCount - 1)),
               static_cast<int32_t>(1 + random() % most_in),
               static_cast<int32_t>(1 + random() % most_out)};
  const double in = side.in;
  side.to = in;
  switch (random() % 5) {
    case 0:
      side.from = random() % static_cast<uint32_t>(side.in);
      break;
    case 1:
      side.to = 1 + random() % static_cast<uint32_t>(side.in);
      break;
    case 2:
      side.from = random() % static_cast<uint32_t>(4 * side.in) / 4.;
      break;
    case 3:
      side.from = in * std::uniform_real_distribution<double>(0, .99)(random);
      side.to = in - (in - side.from) * std::uniform_real_distribution<double>(0, .99)(random);
      break;
    default:
      break;
  }
  return side;
}

::testing::AssertionResult equals_one_by_one(const Side& side) {
  const ResizeAxis axis = axis_of(side, resize_weigher()), by_one = axis_of(side, weigh_one_by_one);
  if (std::ranges::equal(axis.first, by_one.first) &&
      std::ranges::equal(axis.count, by_one.count) &&
      std::ranges::equal(axis.weights, by_one.weights) &&
      std::ranges::equal(axis.bands, by_one.bands))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "filter " << static_cast<int>(side.filter) << ", " << side.from << " to " << side.to
         << " of " << side.in << " samples to " << side.out;
}

template <typename Check>
void for_targets(const Check& check) {
  for (const auto& [name, target] : host_simd_targets()) {
    SCOPED_TRACE(name);
    set_host_simd_targets(target);
    check();
  }
  set_host_simd_targets(0);
}

TEST(ResizeAxis, EqualsOneOutputAfterTheOther) {
  for_targets([] {
    std::mt19937 random(7);
    for (int i = 0; i < (quick() ? 2000 : 40000); ++i)
      ASSERT_TRUE(equals_one_by_one(random_side(random))) << "side " << i;
  });
}

// Weights of half a unit of fixed point, and of so much less than one: Pillow rounds away from 0.
TEST(ResizeAxis, EqualsItHalfwayBetweenIntegers) {
  for_targets([] {
    for (int32_t side = 4; side < 300; ++side)
      ASSERT_TRUE(equals_one_by_one(
          {ResizeFilter::kBilinear, side, side, std::ldexp(.5, -kResizeFraction), double(side)}));
  });
}

TEST(ResizeAxis, EqualsItOfTheLargestSides) {
  for_targets([] {
    for (int filter = 1; filter < kResizeFilterCount; ++filter) {
      for (const int32_t out : {1, 2, 9, 300})
        ASSERT_TRUE(equals_one_by_one(
            {static_cast<ResizeFilter>(filter), kMaxResizeSide, out, 0., double(kMaxResizeSide)}));
      // A box at the end, of two units of a float's last place.
      ASSERT_TRUE(equals_one_by_one({static_cast<ResizeFilter>(filter), kMaxResizeSide, 500,
                                     kMaxResizeSide - 1. / 128, double(kMaxResizeSide)}));
    }
  });
}

}  // namespace
}  // namespace cudatransform::test
