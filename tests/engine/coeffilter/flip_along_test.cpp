// Images that belong to a flipped picture: the flip that corresponds to the picture's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "transform/coeffilter/flip.h"

namespace cudatransform::test {
namespace {

int up_to(std::mt19937& random, int most) { return static_cast<int>(random() % (most + 1)); }

// By definition: the sample of the picture that is at a place of the result.
std::pair<int, int> source_of(const FlipPicture& picture, const Orientation& orientation,
                              const FlipPlan& plan, int x, int y) {
  int mcu_w = picture.mcu_width, mcu_h = picture.mcu_height;
  if (orientation.transposes) std::swap(mcu_w, mcu_h);
  x += plan.left * mcu_w;
  y += plan.top * mcu_h;
  const int whole_w = plan.mirrored_w * mcu_w, whole_h = plan.mirrored_h * mcu_h;
  if (orientation.mirrors_x && x < whole_w) x = whole_w - 1 - x;
  if (orientation.mirrors_y && y < whole_h) y = whole_h - 1 - y;
  if (orientation.transposes) std::swap(x, y);
  return {x, y};
}

struct Case {
  FlipPicture picture, other;
  FlipRequest request;
  int scale;
};

// A picture, and an image of the same view, a third of its size or so.
Case random_case(std::mt19937& random) {
  Case made;
  made.scale = 1 + up_to(random, 3);
  const bool small = random() % 2 == 0;
  made.other = {8 + up_to(random, 60), 8 + up_to(random, 60), small ? 8 : 16,
                random() % 2 ? 8 : 16};
  if (random() % 4 != 0) made.other.width &= ~15, made.other.height &= ~15;
  made.other.width += made.other.width == 0 ? 16 : 0;
  made.other.height += made.other.height == 0 ? 16 : 0;
  made.picture = {made.other.width * made.scale, made.other.height * made.scale,
                  random() % 2 ? 8 : 16, random() % 2 ? 8 : 16};
  made.request.orientation = {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0};
  made.request.trim = random() % 2 == 0;
  if (random() % 2 == 0) return made;
  int width = made.picture.width, height = made.picture.height;
  if (made.request.orientation.transposes) std::swap(width, height);
  const int step = random() % 2 ? 16 * made.scale : 1;
  made.request.left = up_to(random, width - 1) / step * step;
  made.request.top = up_to(random, height - 1) / step * step;
  if (random() % 2) made.request.width = 1 + up_to(random, width - made.request.left - 1);
  return made;
}

// Each sample of the small result is at the place of those of the large one that it represents.
void expect_same_view(const Case& of, const FlipPlan& plan, const FlipPlan& along) {
  const auto& [picture, other, request, scale] = of;
  for (int y = 0; y < plan.height; y++)
    for (int x = 0; x < plan.width; x++) {
      const auto [large_x, large_y] = source_of(picture, request.orientation, plan, x, y);
      ASSERT_EQ(source_of(other, request.orientation, along, x / scale, y / scale),
                std::pair(large_x / scale, large_y / scale));
    }
}

// Whether something is off by less than half a sample of the small image.
bool is_off(const Case& of, const FlipPlan& plan, const FlipPlan& along) {
  const bool has_small_edge = 2 * (of.picture.width % of.picture.mcu_width) < of.scale ||
                              2 * (of.picture.height % of.picture.mcu_height) < of.scale;
  return along.width * of.scale != plan.width || along.height * of.scale != plan.height ||
         (has_small_edge && of.scale > 2);
}

TEST(FlipAlong, ShowsTheSameView) {
  std::mt19937 random(1);
  int possible = 0, impossible = 0, exact = 0;
  for (int i = 0; i < 4000; i++) {
    const Case of = random_case(random);
    PictureFlip flip = {of.picture, of.request.orientation, {}};
    ASSERT_TRUE(plan_flip(of.picture, of.request, &flip.plan).ok());
    FlipRequest request;
    if (!flip_along(flip, of.other, &request)) {
      impossible++;
      continue;
    }
    possible++;
    FlipPlan along;
    ASSERT_TRUE(plan_flip(of.other, request, &along).ok());
    ASSERT_LE(std::abs(along.width * of.scale - flip.plan.width), of.scale / 2) << i;
    ASSERT_LE(std::abs(along.height * of.scale - flip.plan.height), of.scale / 2) << i;
    if (is_off(of, flip.plan, along)) continue;
    exact++;
    ASSERT_NO_FATAL_FAILURE(expect_same_view(of, flip.plan, along)) << i;
  }
  EXPECT_GT(possible, 1000);
  EXPECT_GT(exact, 500);
  EXPECT_GT(impossible, 500);
}

TEST(FlipAlong, WholeMcusFollow) {
  for (int turn = 0; turn < 8; turn++)
    for (const int scale : {1, 2, 4}) {
      const Orientation how = {(turn & 4) != 0, (turn & 2) != 0, (turn & 1) != 0};
      const FlipPicture picture = {128 * scale, 64 * scale, 16, 16}, other = {128, 64, 8, 8};
      for (const FlipRequest& request :
           {FlipRequest{how}, FlipRequest{how, 16 * scale, 32 * scale, 16 * scale, 16 * scale}}) {
        PictureFlip flip = {picture, how, {}};
        FlipRequest along;
        ASSERT_TRUE(plan_flip(picture, request, &flip.plan).ok());
        EXPECT_TRUE(flip_along(flip, other, &along));
      }
    }
}

TEST(FlipAlong, AnotherViewFollowsAsAWholeAlone) {
  PictureFlip flip = {{320, 240, 16, 16}, {true, true, false}, {}};
  const FlipPicture wide = {160, 80, 8, 8};
  FlipRequest along;
  ASSERT_TRUE(plan_flip(flip.picture, {flip.orientation}, &flip.plan).ok());
  EXPECT_TRUE(flip_along(flip, wide, &along));
  ASSERT_TRUE(plan_flip(flip.picture, {flip.orientation, 0, 0, 128, 320}, &flip.plan).ok());
  EXPECT_FALSE(flip_along(flip, wide, &along));
  EXPECT_TRUE(flip_along(flip, {160, 120, 8, 8}, &along));
}

TEST(FlipAlong, PointsAreWhereTheirSamplesAre) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; i++) {
    const Case of = random_case(random);
    PictureFlip flip = {of.picture, of.request.orientation, {}};
    ASSERT_TRUE(plan_flip(of.picture, of.request, &flip.plan).ok());
    int found = 0;
    for (int y = 0; y < of.picture.height; y++)
      for (int x = 0; x < of.picture.width; x++) {
        int to_x = x, to_y = y;
        if (!flip_point(flip, &to_x, &to_y)) continue;
        found++;
        ASSERT_EQ(source_of(of.picture, flip.orientation, flip.plan, to_x, to_y), std::pair(x, y));
      }
    EXPECT_EQ(found, flip.plan.width * flip.plan.height);
  }
}

}  // namespace
}  // namespace cudatransform::test
