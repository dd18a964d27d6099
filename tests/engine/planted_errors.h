// Errors planted in a sound job of any transform, and whether validate() and the engines refuse
// them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

#include "tests/engine/engines.h"

namespace cudatransform::test {

// A sound job on host memory: 4:2:0, 33x17, 8 bits, measured. Each transform derives a Good from it
// that has
//   Good(direction)                           the coefficients of that job
//   make_deep(job, depth)                     makes it one of 16-bit samples
//   kRefusals                                 the codes that validate() may give
//   engines()                                 those that have the transform
//   submit(engine, job)                       to its compute queue
template <typename JobType>
struct SoundJob {
  using Job = JobType;
  alignas(64) uint8_t samples[3][40 * 40] = {};
  alignas(64) uint8_t reference[3][40 * 40] = {};
  alignas(64) int16_t coefs[3][64 * 64 * 4] = {};
  alignas(64) PictureSums sums = {};
  Job job;

  explicit SoundJob(Direction direction) {
    job.direction = direction;
    job.components = 3;
    for (int c = 0; c < 3; ++c) {
      SamplePlane& plane = job.samples[c];
      plane.data = samples[c];
      plane.pitch = 40;
      plane.width = c == 0 ? 33 : 17;
      plane.height = c == 0 ? 17 : 9;
      job.reference[c] = plane;
      job.reference[c].data = reference[c];
    }
    job.measure = kMeasureSse | kMeasureZeros;
    job.sums = &sums;
  }

  static void widen_samples(Job& job, SampleType type) {
    for (SamplePlane& plane : job.samples) plane.type = type, plane.stride = 2, plane.pitch = 80;
  }
};

template <typename Job>
struct Planted {
  const char* name;
  std::function<void(Job&)> plant;
};
template <typename Job>
using PlantedList = std::vector<Planted<Job>>;

template <typename Job>
PlantedList<Job> operator+(PlantedList<Job> a, const PlantedList<Job>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Errors that all transforms refuse, in both directions.
template <typename Good, typename J = typename Good::Job>
PlantedList<J> refused_planes() {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  constexpr auto deep = Good::make_deep;
  return {
      {"no components", [](J& j) { j.components = 0; }},
      {"two components", [](J& j) { j.components = 2; }},
      {"four components", [](J& j) { j.components = 4; }},
      {"negative components", [](J& j) { j.components = -1; }},
      {"depth 0", [](J& j) { j.depth = 0; }},
      {"depth 9", [](J& j) { j.depth = 9; }},
      {"depth 32", [](J& j) { j.depth = 32; }},
      {"method 99", [](J& j) { j.method = static_cast<decltype(j.method)>(99); }},
      {"type 99", [](J& j) { j.type = static_cast<decltype(j.type)>(99); }},
      {"direction 99", [](J& j) { j.direction = static_cast<Direction>(99); }},
      {"sample type 99", [](J& j) { j.samples[0].type = static_cast<SampleType>(99); }},
      {"samples at null", [](J& j) { j.samples[2].data = nullptr; }},
      {"coefficients at null", [](J& j) { j.coefs[1].data = nullptr; }},
      {"width 0", [](J& j) { j.samples[0].width = 0; }},
      {"width -8", [](J& j) { j.samples[0].width = -8; }},
      {"height 0", [](J& j) { j.samples[1].height = 0; }},
      {"height -1", [](J& j) { j.samples[1].height = -1; }},
      {"sample pitch one short", [](J& j) { j.samples[0].pitch = 32; }},
      {"sample pitch 0", [](J& j) { j.samples[0].pitch = 0; }},
      {"sample stride 0", [](J& j) { j.samples[0].stride = 0; }},
      {"sample stride -1", [](J& j) { j.samples[0].stride = -1; }},
      {"sample stride 2, pitch of 1", [](J& j) { j.samples[0].stride = 2; }},
      {"16-bit samples with stride 1", [](J& j) { deep(j, 10), j.samples[0].stride = 1; }},
      {"16-bit samples with stride 3",
       [](J& j) { deep(j, 10), j.samples[0].stride = 3, j.samples[0].pitch = 120; }},
      {"16-bit samples with an odd pitch", [](J& j) { deep(j, 10), j.samples[0].pitch = 81; }},
      {"16-bit samples at an odd address",
       [](J& j) { deep(j, 10), j.samples[0].data = static_cast<uint8_t*>(j.samples[0].data) + 1; }},
      {"shift -1", [](J& j) { deep(j, 10), j.samples[0].shift = -1; }},
      {"shift 7 at 10 bits", [](J& j) { deep(j, 10), j.samples[0].shift = 7; }},
      {"shift of bytes", [](J& j) { j.samples[0].shift = 1; }},
      {"row_repeat 0", [](J& j) { j.samples[0].row_repeat = 0; }},
      {"row_repeat -2", [](J& j) { j.samples[0].row_repeat = -2; }},
      {"coefficient pitch 0", [](J& j) { j.coefs[0].pitch = 0; }},
      {"coefficient pitch one short", [](J& j) { j.coefs[0].pitch -= 2; }},
      {"coefficient pitch odd", [](J& j) { j.coefs[0].pitch += 1; }},
      {"coefficients at an odd address",
       [](J& j) { j.coefs[0].data = static_cast<uint8_t*>(j.coefs[0].data) + 1; }},
      {"measuring into nothing", [](J& j) { j.sums = nullptr; }},
      {"times without a timer",
       [](J& j) {
         static PictureTimes times;
         j.times = &times;
       }},
      // 2^31 - 1 samples: the number of blocks still fits, sums of a careless check do not.
      {"a width that overflows", [](J& j) { j.samples[0].width = kMax; }},
      {"a height that overflows", [](J& j) { j.samples[0].height = kMax; }},
      {"a stride that overflows", [](J& j) { j.samples[0].stride = kMax; }},
  };
}

// Errors of planes that only the forward transforms refuse, and those that the inverses do.
template <typename Good, typename J = typename Good::Job>
PlantedList<J> refused_planes(Direction direction) {
  if (direction == Direction::kForward)
    return {
        {"residual samples", [](J& j) { Good::widen_samples(j, SampleType::kS16); }},
        {"repeated rows", [](J& j) { j.samples[1].row_repeat = 2; }},
    };
  return {
      {"residuals beside pictures",
       [](J& j) {
         j.measure = 0;
         j.samples[0].type = SampleType::kS16;
         j.samples[0].stride = 2;
         j.samples[0].pitch = 80;
       }},
      {"residuals that are measured", [](J& j) { Good::widen_samples(j, SampleType::kS16); }},
      {"no reference", [](J& j) { j.reference[0].data = nullptr; }},
      {"a smaller reference", [](J& j) { j.reference[0].width = 32; }},
      {"a reference of another height", [](J& j) { j.reference[2].height = 8; }},
      {"a reference pitch one short", [](J& j) { j.reference[0].pitch = 32; }},
      {"a reference with stride 0", [](J& j) { j.reference[0].stride = 0; }},
      {"a reference with repeated rows", [](J& j) { j.reference[0].row_repeat = 2; }},
  };
}

// Allowed changes to planes, in both directions.
template <typename Good, typename J = typename Good::Job>
PlantedList<J> accepted_planes() {
  constexpr auto deep = Good::make_deep;
  return {
      {"as it is", [](J&) {}},
      {"one component", [](J& j) { j.components = 1; }},
      {"one component, the others junk",
       [](J& j) { j.components = 1, j.samples[1] = {}, j.coefs[2] = {}; }},
      {"not measured", [](J& j) { j.measure = 0, j.sums = nullptr; }},
      {"zeros alone", [](J& j) { j.measure = kMeasureZeros, j.reference[0] = {}; }},
      {"pitches as tight as can be",
       [](J& j) { j.samples[0].pitch = 33, j.samples[1].pitch = 17; }},
      {"10 bits", [](J& j) { deep(j, 10); }},
      {"P010's shift",
       [](J& j) {
         deep(j, 10);
         for (SamplePlane& p : j.samples) p.shift = 6;
       }},
      {"12 bits", [](J& j) { deep(j, 12); }},
      {"16 bits", [](J& j) { deep(j, 16); }},
  };
}

inline const char* direction_name(Direction direction) {
  return direction == Direction::kForward ? "forward" : "inverse";
}

template <typename Good>
void expect_accepted(const PlantedList<typename Good::Job>& list) {
  for (const Direction direction : {Direction::kForward, Direction::kInverse})
    for (const auto& planted : list) {
      Good good(direction);
      planted.plant(good.job);
      const Status status = validate(good.job);
      EXPECT_TRUE(status.ok()) << planted.name << ", " << direction_name(direction) << ": "
                               << status.message;
    }
}

// Each refusal has a sentence.
template <typename Good>
void expect_refused(Direction direction, const PlantedList<typename Good::Job>& list) {
  for (const auto& planted : list) {
    Good good(direction);
    planted.plant(good.job);
    const Status status = validate(good.job);
    const auto& codes = Good::kRefusals;
    EXPECT_NE(std::find(std::begin(codes), std::end(codes), status.code), std::end(codes))
        << planted.name << ", " << direction_name(direction);
    EXPECT_GT(status.message.size(), 10u) << planted.name << ": '" << status.message << "'";
  }
}

// An engine that trusted its caller would crash here, or write.
template <typename Good>
void expect_engines_refuse(const PlantedList<typename Good::Job>& list) {
  for (const Engine& engine : Good::engines())
    for (const Direction direction : {Direction::kForward, Direction::kInverse})
      for (const auto& planted : list) {
        Good good(direction);
        planted.plant(good.job);
        engine.activate();
        EXPECT_FALSE(Good::submit(engine, good.job).ok())
            << engine.name << " accepted: " << planted.name;
        for (const auto& plane : good.coefs)
          for (const int16_t coef : plane) ASSERT_EQ(coef, 0) << engine.name << planted.name;
      }
}

}  // namespace cudatransform::test
