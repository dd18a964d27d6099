// Lifting of one value at a time in floating point, exactly.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Two instructions of the pipe that integers leave idle make a step v + ((c (a + b) + r) >> s):
//
//   x = a + b                       FADD
//   v + floor(x c / 2^s)            FFMA, rounded towards minus infinity
//
// The product is exact within an FFMA, and between 2^23 and 2^24 a float is an integer. So v is
// kept with an offset that puts it there. A step that subtracts rounds the other way:
// v - floor(y) = v + ceil(-y).
//
// The sum of two such floats would need a bit more than there is. Hence neighbors along a line
// alternate: one has an offset near 3 x 2^22, an upper one, the next a lower one near -3 x 2^22.
// Each step adds a value and its neighbor, so the offsets cancel except for a remainder of at most
// 2^22. It is chosen such that c times it has the remainder r: that is the rounding.
//
// A step's result keeps the offset that it happens to have. Offsets are followed when the kernels
// are compiled, and so are the largest values: floats_hold() proves that each sum and each result
// is exact for any values of 16 bits.
#pragma once

#include <cstdint>

#include "cuda/dwt/lift.cuh"

namespace cudatransform::cuda {

inline constexpr int32_t kFloatCenter = 3 << 22;

// What floats have on top of the values of a line, even or odd ones.
struct FloatOffset {
  int32_t upper, lower;
};
struct FloatOffsets {
  FloatOffset even, odd;
};

constexpr bool is_float(int32_t value) {
  const int32_t size = value < 0 ? -value : value;
  return size <= 1 << 24 || (size <= 1 << 25 && size % 2 == 0);
}

// Whether all steps are exact; `offsets` become those of the results.
constexpr bool follow_steps(Wavelet wavelet, Direction direction, FloatOffsets* offsets) {
  const Pipeline steps = make_pipeline(wavelet, direction);
  int64_t largest[2] = {32768, 32768};  // of even and odd values
  bool exact = true;
  for (int s = 0; s < steps.count; ++s) {
    const LiftingStep& step = steps.steps[s];
    exact = exact && step.count == 2 && step.taps[0] == step.taps[1];
    FloatOffset* const target = step.updates_odd ? &offsets->odd : &offsets->even;
    const FloatOffset source = step.updates_odd ? offsets->even : offsets->odd;
    const int64_t rest = source.upper + source.lower;
    const int64_t most = 2 * largest[step.updates_odd ? 0 : 1];
    exact = exact && (rest < 0 ? -rest : rest) + most <= 1 << 24;
    const int64_t more = rest * step.taps[0] - step.rounding;
    exact = exact && more % (1 << step.shift) == 0;
    const auto change = static_cast<int32_t>(more / (1 << step.shift));
    target->upper += step.subtract ? -change : change;
    target->lower += step.subtract ? -change : change;
    int64_t& size = largest[step.updates_odd ? 1 : 0];
    size += (most * step.taps[0] + step.rounding) >> step.shift;
    // Results stay exact where they are moved to about the center.
    exact = exact && size <= (1 << 22) - (1 << 17);
    for (const int32_t offset : {target->upper, -target->lower})
      exact = exact && offset - size > 1 << 23 && offset + size <= 1 << 24;
  }
  return exact;
}
constexpr bool floats_hold(Wavelet wavelet, Direction direction, FloatOffsets in) {
  return follow_steps(wavelet, direction, &in);
}
constexpr FloatOffsets after_steps(Wavelet wavelet, Direction direction, FloatOffsets in) {
  follow_steps(wavelet, direction, &in);
  return in;
}

// Adds a number that is known when kernels are compiled. An odd one beyond 2^24 is no float, but a
// third or a fifth of it may be one.
constexpr int float_parts(int32_t a, int32_t b) {
  int parts = 1;
  while (a % parts != 0 || b % parts != 0 || !is_float(a / parts) || !is_float(b / parts))
    parts += 2;
  return parts;
}
template <int32_t kMore>
__device__ __forceinline__ float moved(float value) {
  constexpr int kParts = float_parts(kMore, kMore);
  constexpr auto kPart = static_cast<float>(kMore / kParts);
  if constexpr (kMore == 0) return value;
  if constexpr (kParts == 1) return __fadd_rn(value, kPart);
  return __fmaf_rn(static_cast<float>(kParts), kPart, value);
}

// Rows whose floats have upper and lower offsets alternately have phase 0 and 1. Code of a walk
// either is for one of them, or it is for both, and registers know.
inline constexpr int kEitherPhase = -1;

// What is added to a row by its phase.
template <int32_t kUpper, int32_t kLower>
struct MoveAlternating {
  static constexpr int kParts = float_parts(kUpper, kLower);
  float now;

  __device__ __forceinline__ void next_is(int phase) {
    now = static_cast<float>((phase == 0 ? kUpper : kLower) / kParts);
  }
  __device__ __forceinline__ void alternate() {
    const uint32_t both = __float_as_uint(static_cast<float>(kUpper / kParts)) ^
                          __float_as_uint(static_cast<float>(kLower / kParts));
    now = __uint_as_float(__float_as_uint(now) ^ both);
  }
  template <int kPhase>
  __device__ __forceinline__ float moved(float value) const {
    if constexpr (kPhase == 0) return cuda::moved<kUpper>(value);
    if constexpr (kPhase == 1) return cuda::moved<kLower>(value);
    if constexpr (kParts == 1) return __fadd_rn(value, now);
    return __fmaf_rn(static_cast<float>(kParts), now, value);
  }
};

// Lifts a line of floats.
template <Wavelet kOfWavelet, Direction kOfDirection, FloatOffsets kIn, FloatOffsets kOut>
struct LiftFloats {
  using Value = float;
  static constexpr Wavelet kWavelet = kOfWavelet;
  static constexpr Direction kDirection = kOfDirection;
  static_assert(floats_hold(kWavelet, kDirection, kIn));
  // Of even values with 0, of odd ones with 1.
  template <int kParity>
  static constexpr int32_t kUpperIn = kParity == 0 ? kIn.even.upper : kIn.odd.upper;
  template <int kParity>
  static constexpr int32_t kLowerIn = kParity == 0 ? kIn.even.lower : kIn.odd.lower;
  template <int kParity>
  static constexpr int32_t kUpperOut = kParity == 0 ? kOut.even.upper : kOut.odd.upper;
  template <int kParity>
  static constexpr int32_t kLowerOut = kParity == 0 ? kOut.even.lower : kOut.odd.lower;

  template <int kStep, typename Tapped>
  static __device__ __forceinline__ float lift(float value, Tapped&& tapped) {
    constexpr LiftingStep step = kPipeline<kWavelet, kDirection>.steps[kStep];
    constexpr float kTap = static_cast<float>(step.taps[0]) / static_cast<float>(1 << step.shift);
    const float sum = __fadd_rn(tapped(0), tapped(1));
    return step.subtract ? __fmaf_ru(sum, -kTap, value) : __fmaf_rd(sum, kTap, value);
  }
  static __device__ __forceinline__ float finished(float value) { return value; }

  // Moves the newest floats of a window, even and odd ones, to their neighbors' offsets.
  struct NeighborOffsets {
    MoveAlternating<kLowerIn<0> - kUpperIn<0>, kUpperIn<0> - kLowerIn<0>> even;
    MoveAlternating<kLowerIn<1> - kUpperIn<1>, kUpperIn<1> - kLowerIn<1>> odd;
  };
  static_assert(is_float(kUpperIn<0> - kLowerIn<0>) && is_float(kUpperIn<1> - kLowerIn<1>));
  static __device__ __forceinline__ float neighbor_of(float value, const NeighborOffsets& offsets,
                                                      int parity, int age) {
    const float apart = parity == 0 ? offsets.even.now : offsets.odd.now;
    return __fadd_rn(value, age % 2 == 0 ? apart : -apart);
  }
};

// Lifts a row in place: lift_row() of lift.cuh. A lane's even pairs are the upper ones.
template <typename Lifts, int kPairs>
__device__ __forceinline__ void lift_row_floats(float (&even)[kPairs], float (&odd)[kPairs],
                                                const LaneEdges& edges) {
  static_assert(kPairs % 2 == 0);
  constexpr Pipeline steps = kPipeline<Lifts::kWavelet, Lifts::kDirection>;
  for_each_step<steps.count>([&](auto number) {
    constexpr int kStep = decltype(number)::value;
    constexpr LiftingStep step = steps.steps[kStep];
    constexpr int kSource = step.updates_odd ? 0 : 1;
    constexpr int32_t kApart =
        Lifts::template kUpperIn<kSource> - Lifts::template kLowerIn<kSource>;
    const auto& source = step.updates_odd ? even : odd;
    auto& target = step.updates_odd ? odd : even;
    float near[kPairs + 1];
#pragma unroll
    for (int i = 0; i <= kPairs; ++i)
      if (step.first + i >= 0 && step.first + i < kPairs) near[i] = source[step.first + i];
    if constexpr (step.first < 0) {
      static_assert(step.first == -1);
      near[0] = __shfl_up_sync(kAllLanes, source[kPairs - 1], 1);
      if (edges.is_first) near[0] = moved<-kApart>(source[0]);
    } else {
      static_assert(step.first == 0);
      near[kPairs] = __shfl_down_sync(kAllLanes, source[0], 1);
      if (edges.is_last) near[kPairs] = moved<kApart>(source[kPairs - 1]);
    }
#pragma unroll
    for (int k = 0; k < kPairs; ++k)
      target[k] = Lifts::template lift<kStep>(target[k], [&](int t) { return near[k + t]; });
  });
}

}  // namespace cudatransform::cuda
