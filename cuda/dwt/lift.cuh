// Lifting in registers: down a column with a sliding window, along a row with shuffles.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The values that a step needs, and its distance from the last value read, follow from kLiftings
// when the kernels are compiled.
#pragma once

#include <cstdint>

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/pipeline.h"

namespace cudatransform::cuda {

template <Wavelet kWavelet, Direction kDirection>
inline constexpr Pipeline kPipeline = make_pipeline(kWavelet, kDirection);

template <Wavelet kWavelet>
inline constexpr bool kWrapsAtEnd = lifting(kWavelet).wraps_at_end;

// A value as the coefficient type keeps it.
template <typename Coef>
__device__ __forceinline__ int32_t wrap(int32_t value) {
  return static_cast<Coef>(value);
}

// The updated value of a step; tapped(k) is the value under tap k.
template <typename Coef, Wavelet kWavelet, Direction kDirection, int kStep, typename Tapped>
__device__ __forceinline__ int32_t lifted(int32_t value, Tapped&& tapped) {
  constexpr LiftingStep step = kPipeline<kWavelet, kDirection>.steps[kStep];
  constexpr Lifting filter = lifting(kWavelet);
  const uint32_t old = static_cast<uint32_t>(value);
  int32_t made;
  if constexpr (filter.has_wide_products && sizeof(Coef) == 4) {
    int64_t sum = step.rounding;
#pragma unroll
    for (int k = 0; k < step.count; ++k) sum += int64_t{tapped(k)} * step.taps[k];
    const auto term = static_cast<uint32_t>(sum >> step.shift);
    made = static_cast<int32_t>(step.subtract ? old - term : old + term);
  } else {
    // Subtracting x >> s equals adding (2^s - 1 - x) >> s, and a shift and an addition are a single
    // instruction. For values of 32 bits x may be taken modulo 2^32, where that does not hold.
    constexpr bool kNegates = step.subtract && sizeof(Coef) == 2;
    uint32_t sum =
        static_cast<uint32_t>(kNegates ? (1 << step.shift) - 1 - step.rounding : step.rounding);
#pragma unroll
    for (int k = 0; k < step.count; ++k) {
      // Symmetric taps share their multiplication.
      if (step.count - 1 - k < k) continue;
      uint32_t both = static_cast<uint32_t>(tapped(k));
      if (step.count - 1 - k != k) both += static_cast<uint32_t>(tapped(step.count - 1 - k));
      sum += both * static_cast<uint32_t>(kNegates ? -step.taps[k] : step.taps[k]);
    }
    const auto term = static_cast<uint32_t>(static_cast<int32_t>(sum) >> step.shift);
    made = static_cast<int32_t>(step.subtract && !kNegates ? old - term : old + term);
  }
  return filter.wraps_at_end ? made : wrap<Coef>(made);
}

// Lifts a line of single values.
template <typename Coef, Wavelet kOfWavelet, Direction kOfDirection>
struct LiftValues {
  using Value = int32_t;
  static constexpr Wavelet kWavelet = kOfWavelet;
  static constexpr Direction kDirection = kOfDirection;
  template <int kStep, typename Tapped>
  static __device__ __forceinline__ int32_t lift(int32_t value, Tapped&& tapped) {
    return lifted<Coef, kWavelet, kDirection, kStep>(value, tapped);
  }
  static __device__ __forceinline__ int32_t finished(int32_t value) {
    return kWrapsAtEnd<kWavelet> ? wrap<Coef>(value) : value;
  }
  // A value of a window, `age` pairs old, as its neighbors would have it. `offsets` has their
  // differences: none.
  struct NeighborOffsets {};
  static __device__ __forceinline__ int32_t neighbor_of(int32_t value, NeighborOffsets, int, int) {
    return value;
  }
};

// Calls function(std::integral_constant-like step) for every step.
template <int kStep>
struct StepNumber {
  static constexpr int value = kStep;
};
template <int kCount, typename Function>
__device__ __forceinline__ void for_each_step(Function&& function) {
  function(StepNumber<0>{});
  if constexpr (kCount > 1) function(StepNumber<1>{});
  if constexpr (kCount > 2) function(StepNumber<2>{});
  if constexpr (kCount > 3) function(StepNumber<3>{});
}

// The window of a walk along pairs of one line: values[0] is of the pair just read.
template <typename Lifts>
struct WalkOf {
  using Value = typename Lifts::Value;
  static constexpr Pipeline kSteps = kPipeline<Lifts::kWavelet, Lifts::kDirection>;
  static constexpr int kLag = kSteps.total_lag;

  // Even, odd. Zero at first, though no result depends on it: where loop-carried registers have no
  // value before it, ptxas of CUDA 13.0 has confused them, in the windows of eights.cuh.
  Value values[2][kSteps.window] = {};

  // Takes pair `n` of `pairs`. Beyond the last one it ignores the values given. kEdges: whether the
  // line may begin or end within the walk.
  template <bool kEdges>
  __device__ __forceinline__ void take(Value even, Value odd, int32_t n, int32_t pairs,
                                       const typename Lifts::NeighborOffsets& offsets = {}) {
    const Value fresh[2] = {even, odd};
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
      const Value last = values[parity][0];
#pragma unroll
      for (int age = kSteps.window - 1; age > 0; --age)
        values[parity][age] = values[parity][age - 1];
      values[parity][0] =
          kEdges && n >= pairs ? Lifts::neighbor_of(last, offsets, parity, 1) : fresh[parity];
      if (kEdges && n == 0) fill(parity, 0, offsets);
    }
    for_each_step<kSteps.count>([&](auto number) {
      constexpr int kStep = decltype(number)::value;
      constexpr LiftingStep step = kSteps.steps[kStep];
      constexpr int target = step.updates_odd ? 1 : 0, lag = kSteps.lag[kStep];
      Value made = Lifts::template lift<kStep>(
          values[target][lag], [&](int k) { return values[1 - target][lag - step.first - k]; });
      if constexpr (kEdges) {
        constexpr int kBefore = lag + 1 < kSteps.window ? lag + 1 : lag;
        if (n - lag >= pairs)
          made = Lifts::neighbor_of(values[target][kBefore], offsets, target, kBefore);
      }
      values[target][lag] = made;
      if (kEdges && n == lag) fill(target, lag, offsets);
    });
  }
  // The pair kLag before the one just taken.
  __device__ __forceinline__ Value even() const { return Lifts::finished(values[0][kLag]); }
  __device__ __forceinline__ Value odd() const { return Lifts::finished(values[1][kLag]); }

 private:
  // Before the line there is its first value.
  __device__ __forceinline__ void fill(int parity, int from,
                                       const typename Lifts::NeighborOffsets& offsets) {
#pragma unroll
    for (int age = 1; age < kSteps.window; ++age)
      if (age > from)
        values[parity][age] = Lifts::neighbor_of(values[parity][age - 1], offsets, parity, age - 1);
  }
};

template <typename Coef, Wavelet kWavelet, Direction kDirection>
using Walk = WalkOf<LiftValues<Coef, kWavelet, kDirection>>;

// The place of a lane's pairs in a row that a warp holds, kPairs in each lane.
struct LaneEdges {
  int32_t first_lane, last_lane;  // that have pairs of the row; may lie outside of the warp
  bool is_first, is_last;
};
__device__ __forceinline__ LaneEdges lane_edges(int32_t lane, int32_t first_lane,
                                                int32_t last_lane) {
  return {first_lane, last_lane, lane == first_lane, lane == last_lane};
}

// The value `kOffset` pairs from pair `k` of this lane. With more than one pair in a lane, rows end
// where lanes do.
template <int kPairs>
__device__ __forceinline__ int32_t neighbor(const int32_t (&values)[kPairs], int k, int offset,
                                            int32_t lane, const LaneEdges& edges) {
  const int at = k + offset;
  if (at >= 0 && at < kPairs) return values[at];
  if constexpr (kPairs == 1) {
    const int32_t from = min(max(lane + offset, edges.first_lane), edges.last_lane);
    return __shfl_sync(kAllLanes, values[0], from);
  } else {
    const int lanes = at < 0 ? (at - kPairs + 1) / kPairs : at / kPairs;
    const int index = at - lanes * kPairs;
    if (lanes == -1) {
      const int32_t far = __shfl_up_sync(kAllLanes, values[index], 1);
      return edges.is_first ? values[0] : far;
    }
    if (lanes == 1) {
      const int32_t far = __shfl_down_sync(kAllLanes, values[index], 1);
      return edges.is_last ? values[kPairs - 1] : far;
    }
    const int32_t wanted = lane + lanes, from = min(max(wanted, edges.first_lane), edges.last_lane);
    const int32_t inside = __shfl_sync(kAllLanes, values[index], from);
    const int32_t edge = __shfl_sync(kAllLanes, values[lanes < 0 ? 0 : kPairs - 1], from);
    return wanted == from ? inside : edge;
  }
}

// Lifts a row in place. The first and the last pairs of the warp are wrong where the row continues:
// Pipeline::before and after.
template <typename Coef, Wavelet kWavelet, Direction kDirection, int kPairs>
__device__ __forceinline__ void lift_row(int32_t (&even)[kPairs], int32_t (&odd)[kPairs],
                                         int32_t lane, const LaneEdges& edges) {
  constexpr Pipeline steps = kPipeline<kWavelet, kDirection>;
  for_each_step<steps.count>([&](auto number) {
    constexpr int kStep = decltype(number)::value;
    constexpr LiftingStep step = steps.steps[kStep];
    // Every neighbor is fetched once.
    constexpr int kSpan = kPairs + step.count - 1;
    int32_t near[kSpan];
    const auto& source = step.updates_odd ? even : odd;
#pragma unroll
    for (int i = 0; i < kSpan; ++i)
      near[i] = neighbor<kPairs>(source, 0, step.first + i, lane, edges);
    auto& target = step.updates_odd ? odd : even;
#pragma unroll
    for (int k = 0; k < kPairs; ++k)
      target[k] =
          lifted<Coef, kWavelet, kDirection, kStep>(target[k], [&](int t) { return near[k + t]; });
  });
  if constexpr (kWrapsAtEnd<kWavelet>) {
#pragma unroll
    for (int k = 0; k < kPairs; ++k) {
      even[k] = wrap<Coef>(even[k]);
      odd[k] = wrap<Coef>(odd[k]);
    }
  }
}

}  // namespace cudatransform::cuda
