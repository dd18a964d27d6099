// Lifting of two values together, in the halves of a word.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A half, or lane, holds a value and a bias that makes it positive. So a finished sum has had
// neither carry nor borrow pass from the lower lane to the upper one, in whatever order it was
// made, and one instruction for 32 bits adds up to three pairs of values. Before a shift to the
// right a mask takes away what would pass to the lane below; then one instruction shifts and adds.
// So a step of one or two taps takes at most three. (Where nothing is added, the mask comes after
// the shift.)
//
// What rounds, and what changes the bias, is a third addend of the sum. A step that subtracts can
// do without one: the complement of a sum below 2^n, in n bits, is 2^n - 1 less the sum, the mask's
// instruction computes it, and a bias with the right remainder rounds. A sum of two can be made by
// either of an SM's pipes, that of three by the fuller one alone; so biases are those with which
// the fewest sums need a third addend.
//
// All of that holds for values within kLaneLimit, and nothing wraps then: lanes_hold() proves it
// for each filter. The code that reads values checks them: see outside_limit().
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/lift.cuh"

namespace cudatransform::cuda {

// Values to be lifted are from -kLaneLimit - 1 to kLaneLimit - 1.
inline constexpr int32_t kLaneLimit = 1024;

// For values that are read. Inverse, the odd ones' bias rounds in the step that updates even ones.
// Forward, the bits of samples, doubled or not, are none of those of what the bias adds to them.
constexpr LaneBias read_bias(Wavelet wavelet, Direction direction) {
  if (direction == Direction::kInverse) return {kLaneLimit, kLaneLimit + 1};
  const int32_t both = kLaneLimit + (lifting(wavelet).shift_between_levels != 0 ? 256 : 128);
  return {both, both};
}
constexpr LineBiases line_biases(Wavelet wavelet, Direction direction) {
  const LaneFilter& filter = *lane_filter(wavelet);
  return direction == Direction::kInverse ? filter.inverse : filter.forward;
}

// A value in both lanes; negative ones as they are added, not as they are in memory.
__host__ __device__ constexpr uint32_t in_lanes(int32_t value) {
  return static_cast<uint32_t>(value) * 0x10001u;
}

template <int kShift>
__device__ __forceinline__ uint32_t shifted_lanes(uint32_t lanes) {
  return (lanes >> kShift) & (0x10001u * (0xffffu >> kShift));
}
// Bits kShift to kEnd - 1 of each lane, shifted down, plus `more`: one instruction for the mask
// (and the complement, if any), and one for the rest.
template <int kShift, int kEnd = 16>
__device__ __forceinline__ uint32_t shifted_and(uint32_t lanes, uint32_t more) {
  return ((lanes & (0x10001u * ((1u << kEnd) - (1u << kShift)))) >> kShift) + more;
}

// The upper lane of `low` below the lower one of `high`.
__device__ __forceinline__ uint32_t between_lanes(uint32_t low, uint32_t high) {
  return __byte_perm(low, high, 0x5432);
}

// Whether lanes with a bias of `limit`, ORed together, had a value outside of it. A power of 2.
__device__ __forceinline__ bool outside_limit(uint32_t lanes, int32_t limit) {
  return (lanes & ~in_lanes(2 * limit - 1)) != 0;
}

constexpr bool has_four_taps(const LiftingStep& step) { return step.count == 4; }

// On top of the sum of the two taps in the middle, in lanes with a bias of `source`: a multiple of
// 8 that makes the target's bias change by `change`, or else one that keeps the rounding.
constexpr int32_t spare_of(const LiftingStep& step, int32_t source, int32_t change) {
  const int32_t shift = step.shift - 3, rounding = step.rounding / 8;
  const int32_t nine = (step.subtract ? -change : change) * (1 << shift) + rounding - 2 * source;
  if (nine > 0 && nine % 9 == 0 && nine / 9 > 1024) return nine / 9 * 8;
  int32_t spare = 22520;
  while ((2 * source + spare + spare / 8 - rounding) % (1 << shift) != 0) spare += 8;
  return spare;
}
// The bias of the term that such a step adds or subtracts.
constexpr int32_t term_bias(const LiftingStep& step, int32_t source, int32_t spare) {
  return (2 * source + spare + spare / 8 - step.rounding / 8) >> (step.shift - 3);
}
// A step of fewer taps adds floor((sum + rounding) / 2^shift), where the sum is negative if the
// step subtracts. What is added to the sum of lanes rounds, takes the sources' bias away, and
// changes the target's by `change`.
constexpr int32_t added_to_sum(const LiftingStep& step, int32_t source, int32_t change) {
  const int32_t rounding = step.subtract ? (1 << step.shift) - 1 - step.rounding : step.rounding;
  const int32_t sources = step.count * source;
  return change * (1 << step.shift) + rounding + (step.subtract ? sources : -sources);
}
// The bits whose complement does all that, or 0.
constexpr int bits_of_complement(const LiftingStep& step, int32_t source, int32_t change) {
  if (!step.subtract || step.shift == 0) return 0;
  for (int bits = 11; bits <= 16; ++bits)
    if (added_to_sum(step, source, change) == (1 << bits) - 1) return bits;
  return 0;
}

// Whether every lane stays within 16 bits in a line whose values are up to `largest`, and the
// results, to which `largest` then grows, within 15.
constexpr bool line_holds(Wavelet wavelet, Direction direction, LaneBias in, LaneBias out,
                          int32_t (&largest)[2]) {
  const Pipeline steps = make_pipeline(wavelet, direction);
  int32_t bias[2] = {in.even, in.odd};
  for (int s = 0; s < steps.count; ++s) {
    const LiftingStep& step = steps.steps[s];
    const int target = step.updates_odd ? 1 : 0;
    const int32_t source = largest[1 - target], from = bias[1 - target];
    const int32_t made = target == 1 ? out.odd : out.even;
    const int32_t change = made - bias[target];
    if (source > from) return false;
    if (has_four_taps(step)) {
      const int32_t spare = spare_of(step, from, change);
      if (4 * source > spare) return false;
      if (2 * (from + source) + spare + (spare + 4 * source) / 8 > 65535) return false;
      largest[target] += ((20 * source + step.rounding) >> step.shift) + 1;
    } else {
      const int bits = bits_of_complement(step, from, change);
      const int32_t middle = change * (1 << step.shift), most = step.count * source;
      if (bits > 0 && step.count * (from + source) >= 1 << bits) return false;
      if (bits == 0 && step.shift > 0 &&
          (middle < most || middle + (1 << step.shift) + most > 65535))
        return false;
      largest[target] += (most + (1 << step.shift) - 1) >> step.shift;
    }
    bias[target] = made;
    if (largest[target] > made || made + largest[target] > 32767) return false;
  }
  return true;
}

// Whether lanes hold all values that both directions of a level make from values within the limit.
// Between the directions both values of a line have the even bias, or both the odd one.
constexpr bool lanes_hold(Wavelet wavelet, Direction direction) {
  const LineBiases biases = line_biases(wavelet, direction);
  int32_t most = 0;
  for (const int32_t made : {biases.made.even, biases.made.odd}) {
    int32_t largest[2] = {kLaneLimit, kLaneLimit + 1};
    if (!line_holds(wavelet, direction, read_bias(wavelet, direction), {made, made}, largest))
      return false;
    most = max_of(most, max_of(largest[0], largest[1]));
  }
  int32_t largest[2] = {most, most};
  return line_holds(wavelet, direction, biases.made, biases.last, largest);
}

// Lifts lanes that have one bias and get another. Each parity is updated once.
template <Wavelet kOfWavelet, Direction kOfDirection, LaneBias kIn, LaneBias kOut>
struct LiftLanes {
  using Value = uint32_t;
  static constexpr Wavelet kWavelet = kOfWavelet;
  static constexpr Direction kDirection = kOfDirection;
  static_assert(lifting(kWavelet).count == 2);
  static_assert(lanes_hold(kWavelet, kDirection));

  // The updated lanes of a step; tapped(k) are those under tap k.
  template <int kStep, typename Tapped>
  static __device__ __forceinline__ uint32_t lift(uint32_t lanes, Tapped&& tapped) {
    constexpr LiftingStep step = kPipeline<kWavelet, kDirection>.steps[kStep];
    constexpr LaneBias kSources = kStep == 0 ? kIn : kOut;
    constexpr int32_t kSource = step.updates_odd ? kSources.even : kSources.odd;
    constexpr int32_t kChange = step.updates_odd ? kOut.odd - kIn.odd : kOut.even - kIn.even;
    if constexpr (has_four_taps(step)) {
      // 9 (b + c) - (a + d) is 8 (b + c) and a remainder, which is divided by 8 before it is added:
      // the whole sum would need more than a lane.
      static_assert(step.rounding % 8 == 0 && step.shift > 3);
      constexpr int32_t kSpare = spare_of(step, kSource, kChange);
      constexpr int32_t kBias = term_bias(step, kSource, kSpare);
      const uint32_t middle = tapped(1) + tapped(2) + in_lanes(kSpare);
      const uint32_t sum = shifted_and<3>(middle - tapped(0) - tapped(3), middle);
      if constexpr (!step.subtract && kChange == kBias)
        return shifted_and<step.shift - 3>(sum, lanes);
      const uint32_t term = shifted_lanes<step.shift - 3>(sum);
      return step.subtract ? lanes - term + in_lanes(kChange + kBias)
                           : lanes + term + in_lanes(kChange - kBias);
    } else {
      constexpr int kBits = bits_of_complement(step, kSource, kChange);
      uint32_t sum = tapped(0);
      if constexpr (step.count == 2) sum += tapped(1);
      if constexpr (kBits > 0) return shifted_and<step.shift, kBits>(~sum, lanes);
      constexpr uint32_t kAdded = in_lanes(added_to_sum(step, kSource, kChange));
      sum = step.subtract ? kAdded - sum : kAdded + sum;
      return step.shift == 0 ? lanes + sum : shifted_and<step.shift>(sum, lanes);
    }
  }
  static __device__ __forceinline__ uint32_t finished(uint32_t lanes) { return lanes; }
  struct NeighborOffsets {};
  static __device__ __forceinline__ uint32_t neighbor_of(uint32_t lanes, NeighborOffsets, int,
                                                         int) {
    return lanes;
  }
};

// As stored in memory, the lanes of a word are its values modulo 2^16, without bias.
__device__ __forceinline__ uint32_t with_bias(uint32_t stored, int32_t bias) {
  return add_halves(stored, in_halves(bias));
}

// The lines of a level. Those of the first direction with number 0 make the even values of the
// second one, with number 1 its odd ones.
template <Wavelet kWavelet, Direction kDirection>
struct LaneLines {
  static constexpr LaneBias kRead = read_bias(kWavelet, kDirection);
  static constexpr LineBiases kBiases = line_biases(kWavelet, kDirection);
  static constexpr LaneBias kLast = kBiases.last;
  template <int kNumber>
  static constexpr LaneBias kMade = kNumber == 0 ? LaneBias{kBiases.made.even, kBiases.made.even}
                                                 : LaneBias{kBiases.made.odd, kBiases.made.odd};
  template <int kNumber>
  using First = LiftLanes<kWavelet, kDirection, kRead, kMade<kNumber>>;
  using Second = LiftLanes<kWavelet, kDirection, kBiases.made, kLast>;
};

// The lanes that begin kOffset pairs from the first of this thread, which has kWords words. `up`
// and `down` are those of the adjacent threads.
template <int kOffset, int kWords>
__device__ __forceinline__ uint32_t lanes_at(const uint32_t (&words)[kWords], uint32_t up,
                                             uint32_t down) {
  if constexpr (kOffset % 2 != 0) {
    return between_lanes(lanes_at<kOffset - 1>(words, up, down),
                         lanes_at<kOffset + 1>(words, up, down));
  } else if constexpr (kOffset < 0) {
    static_assert(kOffset == -2);
    return up;
  } else if constexpr (kOffset >= 2 * kWords) {
    static_assert(kOffset == 2 * kWords);
    return down;
  } else {
    return words[kOffset / 2];
  }
}

// One target word of a step along a row.
template <typename Lifts, int kStep, int kWord, int kWords>
__device__ __forceinline__ uint32_t lifted_word(uint32_t lanes, const uint32_t (&source)[kWords],
                                                uint32_t up, uint32_t down) {
  constexpr LiftingStep step = kPipeline<Lifts::kWavelet, Lifts::kDirection>.steps[kStep];
  constexpr int kFirst = 2 * kWord + step.first;
  uint32_t taps[4] = {};
  taps[0] = lanes_at<kFirst>(source, up, down);
  if constexpr (step.count > 1) taps[1] = lanes_at<kFirst + 1>(source, up, down);
  if constexpr (step.count > 2) {
    taps[2] = lanes_at<kFirst + 2>(source, up, down);
    taps[3] = lanes_at<kFirst + 3>(source, up, down);
  }
  return Lifts::template lift<kStep>(lanes, [&](int k) { return taps[k]; });
}

// Lifts a row in place: lift_row() of lift.cuh for lanes.
template <typename Lifts, int kWords>
__device__ __forceinline__ void lift_row_lanes(uint32_t (&even)[kWords], uint32_t (&odd)[kWords],
                                               const LaneEdges& edges) {
  constexpr Pipeline steps = kPipeline<Lifts::kWavelet, Lifts::kDirection>;
  for_each_step<steps.count>([&](auto number) {
    constexpr int kStep = decltype(number)::value;
    constexpr LiftingStep step = steps.steps[kStep];
    const auto& source = step.updates_odd ? even : odd;
    auto& target = step.updates_odd ? odd : even;
    uint32_t up = 0, down = 0;
    if constexpr (step.first < 0) {
      up = __shfl_up_sync(kAllLanes, source[kWords - 1], 1);
      if (edges.is_first) up = __byte_perm(source[0], 0, 0x1010);
    }
    if constexpr (step.first + step.count > 1) {
      down = __shfl_down_sync(kAllLanes, source[0], 1);
      if (edges.is_last) down = __byte_perm(source[kWords - 1], 0, 0x3232);
    }
    target[0] = lifted_word<Lifts, kStep, 0>(target[0], source, up, down);
    if constexpr (kWords > 1) target[1] = lifted_word<Lifts, kStep, 1>(target[1], source, up, down);
    static_assert(kWords <= 2);
  });
}

// The windows of a strip's columns, low ones and high ones, of which a lane has kWords words each.
template <Wavelet kWavelet, Direction kDirection, int kWords>
struct LaneColumns {
  using Line = LaneLines<kWavelet, kDirection>;
  // Whether rows are lifted before columns.
  static constexpr bool kRowsFirst =
      lifting(kWavelet).rows_first == (kDirection == Direction::kInverse);
  template <int kNumber>
  using WindowOf = WalkOf<std::conditional_t<kRowsFirst, typename Line::Second,
                                             typename Line::template First<kNumber>>>;
  using Window = WindowOf<0>;

  Window low[kWords];
  WindowOf<1> high[kWords];

  // Takes pair `n` of `pairs` of rows: low columns of the first row, high ones, then those of the
  // second.
  template <bool kEdges>
  __device__ __forceinline__ void take(uint32_t (&lanes)[4][kWords], int32_t n, int32_t pairs,
                                       const LaneEdges& edges) {
    if constexpr (kRowsFirst) {
      lift_row_lanes<typename Line::template First<0>>(lanes[0], lanes[1], edges);
      lift_row_lanes<typename Line::template First<1>>(lanes[2], lanes[3], edges);
    }
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      low[w].template take<kEdges>(lanes[0][w], lanes[2][w], n, pairs);
      high[w].template take<kEdges>(lanes[1][w], lanes[3][w], n, pairs);
    }
  }
};

}  // namespace cudatransform::cuda
