// Flips of every engine against the definition: samples that are transformed between two
// transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "tests/engine/coeffilter/definition.h"
#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"

namespace cudatransform::test {
namespace {

using Block = std::array<double, 64>;

// The orthonormal transform along rows, of coefficients (or of samples, if `inverse`).
Block along_rows(const Block& from, bool inverse) {
  static const Block cosines = [] {
    Block made;
    for (int k = 0; k < 8; ++k)
      for (int x = 0; x < 8; ++x)
        made[8 * k + x] =
            (k == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * x + 1) * k * std::numbers::pi / 16);
    return made;
  }();
  Block to = {};
  for (int row = 0; row < 8; ++row)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        to[8 * row + i] += from[8 * row + j] * cosines[inverse ? 8 * j + i : 8 * i + j];
  return to;
}

Block transposed(const Block& from) {
  Block to;
  for (int i = 0; i < 64; ++i) to[i] = from[i % 8 * 8 + i / 8];
  return to;
}

Block transform(const Block& from, bool inverse) {
  return transposed(along_rows(transposed(along_rows(from, inverse)), inverse));
}

// The coefficients of a block whose samples are transformed.
void define_block(const int64_t* from, bool transposes, bool mirrors_x, bool mirrors_y,
                  int64_t* to) {
  Block block;
  std::copy_n(from, 64, block.begin());
  block = transform(block, true);
  if (transposes) block = transposed(block);
  Block turned;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      turned[8 * y + x] = block[8 * (mirrors_y ? 7 - y : y) + (mirrors_x ? 7 - x : x)];
  turned = transform(turned, false);
  for (int i = 0; i < 64; ++i) to[i] = std::llround(turned[i]);
}

CoefComponent define(const CoefComponent& from, const Orientation& orientation,
                     const FlipPlace& place, int w, int h) {
  CoefComponent to(w, h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int at_x = place.left + x, at_y = place.top + y;
      const bool mirrors_x = orientation.mirrors_x && at_x < place.mirrored_w;
      const bool mirrors_y = orientation.mirrors_y && at_y < place.mirrored_h;
      if (mirrors_x) at_x = place.mirrored_w - 1 - at_x;
      if (mirrors_y) at_y = place.mirrored_h - 1 - at_y;
      if (orientation.transposes) std::swap(at_x, at_y);
      define_block(from.block(at_x, at_y), orientation.transposes, mirrors_x, mirrors_y,
                   to.block(x, y));
    }
  return to;
}

// ---- Cases ----

struct Case {
  CoefNumber number;
  CoefArrangement arrangement;
  Orientation orientation;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const CoefNumber number :
       {CoefNumber::kS16, CoefNumber::kS32, CoefNumber::kF32, CoefNumber::kF16})
    for (const CoefArrangement arrangement :
         {CoefArrangement::kBlock, CoefArrangement::kZigzagBlock, CoefArrangement::kPlane})
      for (int turn = 0; turn < 8; ++turn)
        cases.push_back({number, arrangement, {(turn & 4) != 0, (turn & 2) != 0, (turn & 1) != 0}});
  return cases;
}

int up_to(std::mt19937& random, int most) { return static_cast<int>(random() % (most + 1)); }

CoefComponent random_component(std::mt19937& random, int w, int h) {
  CoefComponent component(w, h);
  for (int64_t& value : component.values)
    value = random() % 3 == 0 ? up_to(random, 4000) - 2000 : up_to(random, 8) - 4;
  return component;
}

// "" or the first fault.
std::string fault_of(const Engine& engine, const Case& of, uint32_t seed) {
  std::mt19937 random(seed);
  FlipJob job;
  job.number = of.number;
  job.arrangement = of.arrangement;
  job.orientation = of.orientation;
  job.components = 1 + up_to(random, kMaxCoefArrays - 1);
  CoefComponents from, expected;
  for (int c = 0; c < job.components; ++c) {
    // Some have a side as long as pictures of 32K.
    const bool is_long = seed % 64 == 0;
    const int most = is_long ? 1 : seed % 8 == 0 ? 24 : 9;
    int w = 1 + up_to(random, most), h = 1 + up_to(random, most);
    if (is_long) (c % 2 == 0 ? w : h) = 4096;
    const int turned_w = of.orientation.transposes ? h : w,
              turned_h = of.orientation.transposes ? w : h;
    FlipPlace& place = job.places[c];
    const bool is_cropped = random() % 2 == 0;
    place.left = is_cropped ? up_to(random, turned_w - 1) : 0;
    place.top = is_cropped ? up_to(random, turned_h - 1) : 0;
    place.mirrored_w = turned_w - (random() % 2 ? up_to(random, turned_w) : 0);
    place.mirrored_h = turned_h - (random() % 2 ? up_to(random, turned_h) : 0);
    const int to_w = turned_w - place.left, to_h = turned_h - place.top;
    from.push_back(random_component(random, w, h));
    expected.push_back(define(from.back(), of.orientation, place,
                              to_w - (is_cropped ? up_to(random, to_w - 1) : 0),
                              to_h - (is_cropped ? up_to(random, to_h - 1) : 0)));
  }
  CoefPlanes input(engine, from, of.number, of.arrangement, false, seed);
  CoefPlanes output(engine, expected, of.number, of.arrangement, true, seed + 1);
  input.fill(from);
  input.describe(job.from);
  output.describe(job.to);
  if (const std::string fault = run_on_frames(engine, *engine.flip_ops, job, input, output);
      !fault.empty())
    return fault;
  const CoefComponents got = output.read();
  for (size_t c = 0; c < got.size(); ++c)
    for (size_t i = 0; i < got[c].values.size(); ++i)
      if (got[c].values[i] != expected[c].values[i])
        return "component " + std::to_string(c) + " block " + std::to_string(i / 64) + " of " +
               std::to_string(got[c].blocks_w) + "x" + std::to_string(got[c].blocks_h) +
               " coefficient " + std::to_string(i % 64) + ": " + std::to_string(got[c].values[i]) +
               ", expected " + std::to_string(expected[c].values[i]);
  return "";
}

TEST(CoefFilters, FlipEqualsTurnedSamples) {
  const uint32_t count = quick() ? 2 : 12;
  for (const Engine& engine : engines_with(&Engine::flip_ops)) {
    uint32_t seed = 1;
    for (const Case& of : all_cases())
      for (uint32_t i = 0; i < count; ++i, ++seed)
        ASSERT_EQ(fault_of(engine, of, seed), "")
            << engine.name << " number " << static_cast<int>(of.number) << " arrangement "
            << static_cast<int>(of.arrangement) << " turn " << of.orientation.transposes
            << of.orientation.mirrors_x << of.orientation.mirrors_y << " seed " << seed;
  }
}

TEST(CoefFilters, FlipRefusesWhatWouldLeaveItsBuffers) {
  alignas(16) static int16_t memory[2][6 * 64];
  FlipJob good;
  good.orientation = {true, true, false};
  good.components = 1;
  good.from[0] = {memory[0], 384, 3, 2, 0};
  good.to[0] = {memory[1], 256, 2, 3, 0};
  good.places[0] = {0, 0, 2, 3};
  EXPECT_TRUE(validate(good).ok()) << validate(good).message;
  const std::pair<const char*, void (*)(FlipJob&)> faults[] = {
      {"no memory", [](FlipJob& job) { job.from[0].data = nullptr; }},
      {"pitch too small", [](FlipJob& job) { job.to[0].pitch = 254; }},
      {"no components", [](FlipJob& job) { job.components = 0; }},
      {"five components", [](FlipJob& job) { job.components = 5; }},
      {"band", [](FlipJob& job) { job.arrangement = CoefArrangement::kBand; }},
      {"not turned", [](FlipJob& job) { job.orientation.transposes = false; }},
      {"left of it", [](FlipJob& job) { job.places[0].left = -1; }},
      {"right of it", [](FlipJob& job) { job.places[0].left = 1; }},
      {"below it", [](FlipJob& job) { job.places[0].top = 3; }},
      {"mirrors too many", [](FlipJob& job) { job.places[0].mirrored_w = 3; }},
      {"mirrors fewer than none", [](FlipJob& job) { job.places[0].mirrored_h = -1; }},
      {"no blocks", [](FlipJob& job) { job.to[0].blocks_w = 0; }},
  };
  for (const auto& [name, spoil] : faults) {
    FlipJob job = good;
    spoil(job);
    EXPECT_EQ(validate(job).code, StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace cudatransform::test
