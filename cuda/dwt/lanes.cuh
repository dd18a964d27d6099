// Lifting of two values at once, in the halves of a word.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A half, or lane, holds a value and a bias that makes it positive. So neither a carry nor a borrow
// ever passes from the lower lane to the upper one, and one instruction for 32 bits adds up to
// three pairs of values. After a shift to the right the lower lane has bits of the upper one on
// top, which a mask takes away; the bias is a multiple of the shift's divisor, so that it
// comes out divided exactly and the value rounded towards minus infinity.
//
// Biases are chosen when the kernels are compiled. A bias that leaves a remainder can serve as a
// step's rounding: then no instruction adds that. A step's result may keep the bias that it happens
// to have: then two words are added without a third for the bias, which either of an SM's pipes can
// do. The rest of a step needs the same pipe.
//
// All of that holds for values within kLaneLimit, and nothing wraps then: lanes_hold() proves it
// for each filter. The code that reads values checks them: see outside_limit().
#pragma once

#include <cstdint>

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/lift.cuh"

namespace cudatransform::cuda {

// Values to be lifted are from -kLaneLimit - 1 to kLaneLimit - 2, or 1 more, by their bias.
inline constexpr int32_t kLaneLimit = 1024;

// The biases of the even and odd values of a line.
struct LaneBias {
  int32_t even, odd;
};
// For values that are read, and for those between the two directions of a level. Odd values lend
// their bias to the rounding of the step that updates even ones.
inline constexpr LaneBias kReadBias = {kLaneLimit, kLaneLimit + 1};
inline constexpr LaneBias kMadeBias = {12288, 12289};

// A value in both lanes; negative ones as they are added, not as they lie in memory.
__host__ __device__ constexpr uint32_t in_lanes(int32_t value) {
  return static_cast<uint32_t>(value) * 0x10001u;
}

template <int kShift>
__device__ __forceinline__ uint32_t shifted_lanes(uint32_t lanes) {
  return (lanes >> kShift) & (0x10001u * (0xffffu >> kShift));
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

// The addend of a step, for lanes with a bias of `source`.
struct LaneTerm {
  int32_t spare;  // four taps: on top of the sum of the two in the middle, a multiple of 8
  int32_t added;  // before the last shift, for rounding
  int32_t bias;   // of the result
};
constexpr LaneTerm lane_term(const LiftingStep& step, int32_t source) {
  LaneTerm term = {};
  const int32_t shift = has_four_taps(step) ? step.shift - 3 : step.shift;
  const int32_t unit = 1 << shift;
  const int32_t rounding = has_four_taps(step) ? step.rounding / 8 : step.rounding;
  int32_t sum = step.count * source;
  if (has_four_taps(step)) {
    // The first spare bias whose remainder is the step's rounding.
    for (term.spare = 22520; (2 * source + term.spare + term.spare / 8 - rounding) % unit != 0;)
      term.spare += 8;
    sum = 2 * source + term.spare + term.spare / 8;
  } else if ((sum - rounding) % unit != 0) {
    term.added = rounding;
  }
  term.bias = (sum + term.added - rounding) >> shift;
  return term;
}

// The bias that a line's steps produce when nothing is added for its sake.
constexpr LaneBias bias_of_steps(Wavelet wavelet, Direction direction, LaneBias in) {
  const Pipeline steps = make_pipeline(wavelet, direction);
  int32_t bias[2] = {in.even, in.odd};
  for (int s = 0; s < steps.count; ++s) {
    const int target = steps.steps[s].updates_odd ? 1 : 0;
    const int32_t term = lane_term(steps.steps[s], bias[1 - target]).bias;
    bias[target] += steps.steps[s].subtract ? -term : term;
  }
  return {bias[0], bias[1]};
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
    const LaneTerm term = lane_term(step, from);
    if (source > from) return false;
    if (has_four_taps(step)) {
      const int32_t rest = term.spare + 4 * source;
      if (4 * source > term.spare) return false;
      if (2 * (from + source) + term.spare + rest / 8 > 65535) return false;
      largest[target] += ((20 * source + step.rounding) >> step.shift) + 1;
    } else {
      if (step.count * (from + source) + term.added > 65535) return false;
      largest[target] += (step.count * source + step.rounding) >> step.shift;
    }
    bias[target] = target == 1 ? out.odd : out.even;
    if (largest[target] > bias[target] || bias[target] + largest[target] > 32767) return false;
  }
  return true;
}

// The bias of the second direction's results: that of its steps where lanes hold it.
constexpr LaneBias last_bias(Wavelet wavelet, Direction direction) {
  int32_t largest[2] = {kReadBias.even, kReadBias.odd};
  line_holds(wavelet, direction, kReadBias, kMadeBias, largest);
  const int32_t most = largest[0] > largest[1] ? largest[0] : largest[1];
  const LaneBias natural = bias_of_steps(wavelet, direction, kMadeBias);
  const LaneBias tries[] = {
      natural, {natural.even, kMadeBias.odd}, {kMadeBias.even, natural.odd}, kMadeBias};
  for (const LaneBias& out : tries) {
    int32_t all[2] = {most, most};
    if (line_holds(wavelet, direction, kMadeBias, out, all)) return out;
  }
  return {};
}

// Whether lanes hold all values that both directions of a level make from values within the limit.
// Between the directions both values of a line have a bias of kMadeBias.even, or both its odd one.
constexpr bool lanes_hold(Wavelet wavelet, Direction direction) {
  int32_t most = 0;
  for (const int32_t made : {kMadeBias.even, kMadeBias.odd}) {
    int32_t largest[2] = {kReadBias.even, kReadBias.odd};
    if (!line_holds(wavelet, direction, kReadBias, {made, made}, largest)) return false;
    most = largest[0] > largest[1] ? largest[0] : largest[1];
  }
  int32_t largest[2] = {most, most};
  return line_holds(wavelet, direction, kMadeBias, last_bias(wavelet, direction), largest);
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
    constexpr LaneTerm made = lane_term(step, step.updates_odd ? kSources.even : kSources.odd);
    constexpr int32_t kOld = step.updates_odd ? kIn.odd : kIn.even;
    constexpr int32_t kNew = step.updates_odd ? kOut.odd : kOut.even;
    uint32_t term;
    if constexpr (has_four_taps(step)) {
      // 9 (b + c) - (a + d) is 8 (b + c) and a rest, which is divided by 8 before it is added: the
      // whole sum would need more than a lane.
      static_assert(step.rounding % 8 == 0 && step.shift > 3);
      const uint32_t middle = tapped(1) + tapped(2) + in_lanes(made.spare);
      const uint32_t rest = shifted_lanes<3>(middle - tapped(0) - tapped(3));
      term = shifted_lanes<step.shift - 3>(middle + rest);
    } else {
      uint32_t sum = tapped(0);
      if constexpr (step.count == 2) sum += tapped(1);
      if constexpr (made.added != 0) sum += in_lanes(made.added);
      term = step.shift == 0 ? sum : shifted_lanes<step.shift>(sum);
    }
    if constexpr (step.subtract)
      return lanes - term + in_lanes(kNew - kOld + made.bias);
    else
      return lanes + term + in_lanes(kNew - kOld - made.bias);
  }
  static __device__ __forceinline__ uint32_t finished(uint32_t lanes) { return lanes; }
  struct Turn {};
  static __device__ __forceinline__ uint32_t beside(uint32_t lanes, Turn, int, int) {
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
  static constexpr LaneBias kLast = last_bias(kWavelet, kDirection);
  template <int kNumber>
  static constexpr LaneBias kMade = kNumber == 0 ? LaneBias{kMadeBias.even, kMadeBias.even}
                                                 : LaneBias{kMadeBias.odd, kMadeBias.odd};
  template <int kNumber>
  using First = LiftLanes<kWavelet, kDirection, kReadBias, kMade<kNumber>>;
  using Second = LiftLanes<kWavelet, kDirection, kMadeBias, kLast>;
};

// The lanes that begin kOffset pairs from the first of this thread, which has kWords words. `up`
// and `down` are those of the threads beside it.
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
      up = __shfl_up_sync(0xffffffffu, source[kWords - 1], 1);
      if (edges.is_first) up = __byte_perm(source[0], 0, 0x1010);
    }
    if constexpr (step.first + step.count > 1) {
      down = __shfl_down_sync(0xffffffffu, source[0], 1);
      if (edges.is_last) down = __byte_perm(source[kWords - 1], 0, 0x3232);
    }
    target[0] = lifted_word<Lifts, kStep, 0>(target[0], source, up, down);
    if constexpr (kWords > 1) target[1] = lifted_word<Lifts, kStep, 1>(target[1], source, up, down);
    static_assert(kWords <= 2);
  });
}

}  // namespace cudatransform::cuda
