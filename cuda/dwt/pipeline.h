// The lifting steps of one direction in their order, how far they reach, and which filters lift two
// values together: kernels and the host code that launches them include it, so that they agree.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dwt/lifting.h"

namespace cudatransform::cuda {

// The steps of one direction in the order in which they are made.
struct Pipeline {
  int count = 0;
  LiftingStep steps[4] = {};
  int lag[4] = {};    // of a walk: a step updates the pair this far behind the one just read
  int total_lag = 0;  // finished pairs
  int window = 0;     // pairs that a walk keeps
  int before = 0, after = 0;  // pairs beyond a run that its results depend on
};

constexpr int max_of(int a, int b) { return a > b ? a : b; }

constexpr Pipeline make_pipeline(Wavelet wavelet, Direction direction) {
  const Lifting& filter = lifting(wavelet);
  Pipeline made;
  made.count = filter.count;
  int lag[2] = {0, 0};     // of even and odd values
  int oldest[2] = {0, 0};  // that steps so far have read
  for (int s = 0; s < filter.count; ++s) {
    const bool forward = direction == Direction::kForward;
    LiftingStep step = filter.steps[forward ? filter.count - 1 - s : s];
    step.subtract = step.subtract != forward;
    made.steps[s] = step;
    const int target = step.updates_odd ? 1 : 0, source = 1 - target;
    // Values are updated in place: only after all steps that need the old one have read it.
    const int newest_tap = step.first + step.count - 1;
    lag[target] = max_of(max_of(lag[target], oldest[target]), lag[source] + newest_tap);
    made.lag[s] = lag[target];
    oldest[source] = max_of(oldest[source], lag[target] - step.first);
  }
  made.total_lag = max_of(lag[0], lag[1]);
  made.window = max_of(made.total_lag, max_of(oldest[0], oldest[1])) + 1;
  int before[2] = {0, 0}, after[2] = {0, 0};
  for (int s = filter.count - 1; s >= 0; --s) {
    const LiftingStep& step = made.steps[s];
    const int target = step.updates_odd ? 1 : 0, source = 1 - target;
    before[source] = max_of(before[source], before[target] - step.first);
    after[source] = max_of(after[source], after[target] + step.first + step.count - 1);
  }
  made.before = max_of(before[0], before[1]);
  made.after = max_of(after[0], after[1]);
  return made;
}

// The lanes at the sides of a warp whose results are wrong in a row that it holds, because they
// have not seen the neighbors beyond.
struct StripShape {
  int lanes_before, lanes_after;
  int own_pairs;  // of all other lanes
  int halo_rows;  // pairs of rows that a walk reads around its own
};

constexpr StripShape strip_shape(Wavelet wavelet, Direction direction, int pairs_a_lane) {
  const Pipeline steps = make_pipeline(wavelet, direction);
  const int before = (steps.before + pairs_a_lane - 1) / pairs_a_lane;
  const int after = (steps.after + pairs_a_lane - 1) / pairs_a_lane;
  return {before, after, (32 - before - after) * pairs_a_lane, steps.before + steps.total_lag};
}

// For a walk of the two finest inverse levels, of which a lane has two and four pairs: results
// depend on adjacent pairs of the fine level, and those on pairs of the coarse one.
constexpr StripShape strip_shape_of_two(Wavelet wavelet, int pairs_a_lane) {
  const Pipeline steps = make_pipeline(wavelet, Direction::kInverse);
  const int far = max_of(steps.before, steps.after);
  const int lanes = ((far + 1) / 2 + far + 1) / 2;
  return {lanes, lanes, (32 - 2 * lanes) * pairs_a_lane, steps.before + steps.total_lag};
}

// ---- Filters that two values in a word can be lifted by ----

// The biases of the even and odd values of a line.
struct LaneBias {
  int32_t even, odd;
};
// Between the two directions of a level, and of results.
struct LineBiases {
  LaneBias made, last;
};
// Taps are 1, or (-1, 9, 9, -1). Biases are found by trying all that make a sum of two, and some
// others, for the fewest sums of three: see lanes.cuh, which checks that they hold. The kernels for
// other filters have a value in each word.
struct LaneFilter {
  Wavelet wavelet;
  LineBiases inverse, forward;
};
inline constexpr LaneFilter kLaneFilters[] = {
    {Wavelet::kLegall53, {{4607, 4607}, {6399, 8703}}, {{2559, 2559}, {5886, 6655}}},
    {Wavelet::kJ2k53, {{4607, 4607}, {6399, 11006}}, {{2303, 2303}, {6398, 8191}}},
    {Wavelet::kDd97, {{4607, 4607}, {6399, 20991}}, {{2559, 2559}, {5886, 6655}}},
    {Wavelet::kDd137, {{10998, 3224}, {5449, 20485}}, {{7752, 7752}, {18940, 7752}}},
    {Wavelet::kHaar, {{4607, 4607}, {6399, 11006}}, {{2303, 2303}, {4478, 4351}}},
    {Wavelet::kHaarShift, {{4607, 4607}, {6399, 11006}}, {{2303, 2303}, {4478, 4351}}},
};
// Null for other filters.
constexpr const LaneFilter* lane_filter(Wavelet wavelet) {
  for (const LaneFilter& filter : kLaneFilters)
    if (filter.wavelet == wavelet) return &filter;
  return nullptr;
}
constexpr bool lifts_lanes(Wavelet wavelet) { return lane_filter(wavelet) != nullptr; }

}  // namespace cudatransform::cuda
