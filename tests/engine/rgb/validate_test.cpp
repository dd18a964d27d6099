// Jobs of RGB that validate() refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "transform/rgb/rgb.h"

namespace cudatransform::test {
namespace {

// Each change makes a sound job unsound.
TEST(RgbValidate, RefusesUnsoundJobs) {
  using Change = void (*)(RgbJob&);
  const std::pair<const char*, Change> changes[] = {
      {"an unknown direction", [](RgbJob& j) { j.direction = static_cast<Direction>(2); }},
      {"an unknown color", [](RgbJob& j) { j.color = static_cast<RgbColor>(3); }},
      {"an unknown packing", [](RgbJob& j) { j.rgb.packing = static_cast<RgbPacking>(-1); }},
      {"an unknown upsampling", [](RgbJob& j) { j.upsampling = static_cast<ChromaUpsampling>(2); }},
      {"no pixels", [](RgbJob& j) { j.rgb.width = 0; }},
      {"a negative height", [](RgbJob& j) { j.rgb.height = -20; }},
      {"too many columns", [](RgbJob& j) { j.rgb.width = kMaxRgbSide + 1; }},
      {"no RGB", [](RgbJob& j) { j.rgb.data[0] = nullptr; }},
      {"a short pitch of RGB", [](RgbJob& j) { j.rgb.pitch[0] = 3 * 33 - 1; }},
      {"a pitch below zero", [](RgbJob& j) { j.rgb.pitch[0] = -200; }},
      {"a wider packing in the same pitch", [](RgbJob& j) { j.rgb.packing = RgbPacking::kXbgr; }},
      {"planar without planes", [](RgbJob& j) { j.rgb.packing = RgbPacking::kPlanar; }},
      {"subsampling by nothing", [](RgbJob& j) { j.subsampling[1].x = 0; }},
      {"subsampling by five", [](RgbJob& j) { j.subsampling[2].y = 5; }},
      {"another subsampling",
       [](RgbJob& j) {
         j.subsampling[1] = {1, 2};
       }},
      {"a narrow plane", [](RgbJob& j) { j.planes[1].width = 16; }},
      {"a low plane", [](RgbJob& j) { j.planes[0].height = 19; }},
      {"a plane beyond its blocks", [](RgbJob& j) { j.planes[2].width = 25; }},
      {"no plane", [](RgbJob& j) { j.planes[2].data = nullptr; }},
      {"a short pitch", [](RgbJob& j) { j.planes[0].pitch = 32; }},
      {"samples of 16 bits", [](RgbJob& j) { j.planes[0].type = SampleType::kU16; }},
      {"interleaved chroma", [](RgbJob& j) { j.planes[1].stride = 2; }},
      {"shifted samples", [](RgbJob& j) { j.planes[1].shift = 1; }},
      {"repeated rows", [](RgbJob& j) { j.planes[1].row_repeat = 2; }},
      {"a plane over RGB", [](RgbJob& j) { j.planes[1].data = j.rgb.data[0]; }},
      {"RGB that begins in a plane",
       [](RgbJob& j) {
         j.rgb.data[0] = static_cast<uint8_t*>(j.planes[0].data) + j.planes[0].pitch * 19 + 32;
       }},
  };
  std::vector<uint8_t> memory(8192), other(4096);
  for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
    RgbJob sound;
    sound.direction = direction;
    sound.subsampling[1] = sound.subsampling[2] = {2, 2};
    sound.rgb = {RgbPacking::kBgr, 33, 20, {memory.data()}, {100}};
    for (int c = 0; c < 3; ++c) {
      SamplePlane& plane = sound.planes[c];
      plane.width = plane.pitch = c == 0 ? 33 : 17;
      plane.height = c == 0 ? 20 : 10;
      plane.data = other.data() + c * 1000;
    }
    ASSERT_TRUE(validate(sound).ok()) << validate(sound).message;
    for (const auto& [name, change] : changes) {
      RgbJob job = sound;
      change(job);
      const Status status = validate(job);
      EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << name;
      EXPECT_GT(status.message.size(), 10u) << name;
    }
    // Outputs may not overlap each other; inputs may.
    RgbJob shared = sound;
    shared.planes[2].data = shared.planes[1].data;
    EXPECT_EQ(validate(shared).ok(), direction == Direction::kInverse);
    // Larger planes are for the forward direction, and rows of one pitch may be interleaved with
    // others.
    RgbJob blocks = sound;
    for (SamplePlane& plane : blocks.planes) plane.pitch = 100;
    blocks.planes[0].width = 40;
    blocks.planes[1].data = other.data() + 40;
    blocks.planes[2].data = other.data() + 60;
    EXPECT_EQ(validate(blocks).ok(), direction == Direction::kForward);
    blocks.planes[2].data = other.data() + 56;
    EXPECT_FALSE(validate(blocks).ok());
  }
}

}  // namespace
}  // namespace cudatransform::test
