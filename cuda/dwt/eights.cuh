// Filters of eight taps a step: two values in a word, along the taps.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Values are in pairs along the line that is lifted, n and n + 1 for even n, and one instruction
// multiplies a pair by two taps and adds both. Sums have 32 bits and results keep 16 of them for
// all values, so nothing is checked and nothing done twice. A walk takes two pairs of rows at a
// time, for the vertical steps; between the directions pairs are transposed (eights_inverse.cuh,
// eights_forward.cuh).
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/fast.cuh"

namespace cudatransform::cuda {

// The first and the last value of a pair, twice.
__device__ __forceinline__ uint32_t both_first(uint32_t pair) {
  return __byte_perm(pair, 0, 0x1010);
}
__device__ __forceinline__ uint32_t both_last(uint32_t pair) {
  return __byte_perm(pair, 0, 0x3232);
}
// The first values of two pairs, and their last ones.
__device__ __forceinline__ uint32_t first_of(uint32_t a, uint32_t b) {
  return __byte_perm(a, b, 0x5410);
}
__device__ __forceinline__ uint32_t last_of(uint32_t a, uint32_t b) {
  return __byte_perm(a, b, 0x7632);
}

constexpr bool has_eight_taps(Wavelet wavelet) {
  const Lifting& filter = lifting(wavelet);
  for (int s = 0; s < filter.count; ++s)
    if (filter.steps[s].count != 8 || filter.steps[s].shift != 8) return false;
  return filter.count == 2 && filter.shift_between_levels == 0 && !filter.rows_first;
}

struct EightTaps {
  int taps[8];
  constexpr explicit EightTaps(const LiftingStep& step) : taps() {
    for (int k = 0; k < 8; ++k) taps[k] = step.taps[k];
  }
  constexpr int operator[](int k) const { return taps[k]; }
};

// Two bytes of weights for each of two pairs.
constexpr uint32_t weights_of(int a, int b, int c, int d) {
  return (static_cast<uint32_t>(a) & 255) | (static_cast<uint32_t>(b) & 255) << 8 |
         (static_cast<uint32_t>(c) & 255) << 16 | (static_cast<uint32_t>(d) & 255) << 24;
}

constexpr int sum_of_taps(const LiftingStep& step) {
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += step.taps[k];
  return sum;
}
// Whether the two taps in the middle, which are equal, need bytes without a sign.
constexpr bool has_wide_middle(const LiftingStep& step) { return step.taps[3] > 127; }
// The rounding of a step that adds `more` to its results.
constexpr int rounding_with(const LiftingStep& step, int more) {
  return step.rounding + (step.subtract ? -256 : 256) * more;
}
// Bits 8 to 23 of two sums, added to a pair or taken from it.
template <bool kSubtract>
__device__ __forceinline__ uint32_t with_terms(uint32_t pair, int first, int last) {
  const uint32_t terms =
      __byte_perm(static_cast<uint32_t>(first), static_cast<uint32_t>(last), 0x6521);
  return kSubtract ? subtract_halves(pair, terms) : add_halves(pair, terms);
}

// Updates a pair of the step's target. near[0] to near[4]: pairs of the other parity, from the
// second before to the second after. kMore is added to both results.
template <Wavelet kWavelet, Direction kDirection, int kStep, int kMore = 0>
__device__ __forceinline__ uint32_t lifted_pair(uint32_t pair, const uint32_t (&near)[5]) {
  constexpr LiftingStep step = kPipeline<kWavelet, kDirection>.steps[kStep];
  constexpr EightTaps t(step);
  constexpr int kRounding = rounding_with(step, kMore);
  constexpr bool kWide = has_wide_middle(step);
  static_assert(step.first == -3 || step.first == -4);
  constexpr int kAligned = step.first + 4;  // 1: taps of the pair's last value begin with a pair
  // Of the value whose taps begin and end within a pair.
  constexpr uint32_t kSplit[2] = {weights_of(0, t[0], t[1], t[2]), weights_of(t[5], t[6], t[7], 0)};
  constexpr uint32_t kMiddle = weights_of(t[3], t[4], 0, 0);
  int split = dot2_s16_s8<false>(near[0], kSplit[0], kRounding);
  split = dot2_s16_s8<true>(near[1], kSplit[0], split);
  split = kWide ? dot2_s16_u8<false>(near[2], kMiddle, split)
                : dot2_s16_s8<false>(near[2], kMiddle, split);
  split = dot2_s16_s8<false>(near[3], kSplit[1], split);
  split = dot2_s16_s8<true>(near[4], kSplit[1], split);
  // Of the other one. Wide taps in the middle have a pair made for them.
  constexpr uint32_t kWhole[2] = {weights_of(t[0], t[1], t[2], kWide ? 0 : t[3]),
                                  weights_of(kWide ? 0 : t[4], t[5], t[6], t[7])};
  int whole = dot2_s16_s8<false>(near[kAligned], kWhole[0], kRounding);
  whole = dot2_s16_s8<true>(near[kAligned + 1], kWhole[0], whole);
  if constexpr (kWide) {
    const uint32_t middle = __byte_perm(near[kAligned + 1], near[kAligned + 2], 0x5432);
    whole = dot2_s16_u8<false>(middle, kMiddle, whole);
  }
  whole = dot2_s16_s8<false>(near[kAligned + 2], kWhole[1], whole);
  whole = dot2_s16_s8<true>(near[kAligned + 3], kWhole[1], whole);
  return with_terms<step.subtract>(pair, kAligned == 1 ? split : whole,
                                   kAligned == 1 ? whole : split);
}

// The window of a walk down a column: values[a] is the pair a before the one just taken.
template <Wavelet kWavelet, Direction kDirection>
struct PairWalk {
  static_assert(has_eight_taps(kWavelet));
  static constexpr bool kOddFirst = kPipeline<kWavelet, kDirection>.steps[0].updates_odd;
  static constexpr int kLag = 4;  // pairs: each step needs two that come after its own

  // Of the first step. Zero at first: see WalkOf.
  uint32_t source[5] = {}, target[7] = {};

  // Takes a pair of both parities. Before the column and after it there are its first value and
  // its last one. Then mend(), if is_at_end(), and finish().
  __device__ __forceinline__ void take(uint32_t even, uint32_t odd) {
#pragma unroll
    for (int a = 4; a > 0; --a) source[a] = source[a - 1];
#pragma unroll
    for (int a = 6; a > 0; --a) target[a] = target[a - 1];
    source[0] = kOddFirst ? even : odd;
    target[0] = kOddFirst ? odd : even;
    const uint32_t sources[5] = {source[4], source[3], source[2], source[1], source[0]};
    target[2] = lifted_pair<kWavelet, kDirection, 0>(target[2], sources);
  }
  // Whether the second step needs values beyond the column, of `values` values of each parity, once
  // pair `t` has been taken.
  static __device__ __forceinline__ bool is_at_end(int32_t t, int32_t values) {
    return t == 2 || 2 * (t - 2) + 1 >= values;
  }
  __device__ __forceinline__ void mend(int32_t t, int32_t values) {
    const int32_t at = 2 * (t - 2);
    if (at == 0) {
#pragma unroll
      for (int a = 3; a < 7; ++a) target[a] = both_first(target[2]);
    }
    if (at + 1 >= values) target[2] = at >= values ? both_last(target[3]) : both_first(target[2]);
  }
  __device__ __forceinline__ void finish() {
    const uint32_t targets[5] = {target[6], target[5], target[4], target[3], target[2]};
    source[4] = lifted_pair<kWavelet, kDirection, 1>(source[4], targets);
  }
  // The pair kLag before the one just taken.
  __device__ __forceinline__ uint32_t even() const { return kOddFirst ? source[4] : target[4]; }
  __device__ __forceinline__ uint32_t odd() const { return kOddFirst ? target[4] : source[4]; }
};
// Columns of a walk take pair `t` of both parities.
template <Wavelet kWavelet, Direction kDirection, int kColumns>
__device__ __forceinline__ void take_pairs(PairWalk<kWavelet, kDirection> (&columns)[kColumns],
                                           const uint32_t (&even)[kColumns],
                                           const uint32_t (&odd)[kColumns], int32_t t,
                                           int32_t values) {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) columns[i].take(even[i], odd[i]);
  if (PairWalk<kWavelet, kDirection>::is_at_end(t, values)) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) columns[i].mend(t, values);
  }
#pragma unroll
  for (int i = 0; i < kColumns; ++i) columns[i].finish();
}

// Two pairs before a lane's first one and two after its last.
template <int kWords>
__device__ __forceinline__ void gather_near(const uint32_t (&words)[kWords],
                                            uint32_t (&near)[kWords + 4]) {
  constexpr int kLast = kWords - 1;
  constexpr int kFar = kWords == 1 ? 2 : 1;  // lanes to the second pair
  near[0] = __shfl_up_sync(kAllLanes, words[0], kFar);
  near[1] = __shfl_up_sync(kAllLanes, words[kLast], 1);
#pragma unroll
  for (int w = 0; w < kWords; ++w) near[2 + w] = words[w];
  near[kWords + 2] = __shfl_down_sync(kAllLanes, words[0], 1);
  near[kWords + 3] = __shfl_down_sync(kAllLanes, words[kLast], kFar);
}
// The same where the row ends.
template <int kWords>
__device__ __forceinline__ void mend_near(int32_t lane, const LaneEdges& edges,
                                          uint32_t (&near)[kWords + 4]) {
  if constexpr (kWords == 1) {
    if (lane - 1 == edges.first_lane) near[0] = both_first(near[1]);
    if (lane + 1 == edges.last_lane) near[kWords + 3] = both_last(near[kWords + 2]);
  }
  if (edges.is_first) near[0] = near[1] = both_first(near[2]);
  if (edges.is_last) near[kWords + 2] = near[kWords + 3] = both_last(near[kWords + 1]);
}

// Makes a step along two rows. at_edge: whether a lane of the warp is at an end of them.
template <Wavelet kWavelet, Direction kDirection, int kStep, int kMore = 0, int kWords>
__device__ __forceinline__ void step_rows(uint32_t (&even)[2][kWords], uint32_t (&odd)[2][kWords],
                                          int32_t lane, const LaneEdges& edges, bool at_edge) {
  constexpr bool kOdd = kPipeline<kWavelet, kDirection>.steps[kStep].updates_odd;
  const auto& source = kOdd ? even : odd;
  auto& target = kOdd ? odd : even;
  uint32_t near[2][kWords + 4];
#pragma unroll
  for (int row = 0; row < 2; ++row) gather_near<kWords>(source[row], near[row]);
  if (at_edge) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      keep_in_register(near[row][0]);  // or else all warps would run through this
      mend_near<kWords>(lane, edges, near[row]);
    }
  }
#pragma unroll
  for (int row = 0; row < 2; ++row)
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint32_t(&n)[kWords + 4] = near[row];
      const uint32_t five[5] = {n[w], n[w + 1], n[w + 2], n[w + 3], n[w + 4]};
      target[row][w] = lifted_pair<kWavelet, kDirection, kStep, kMore>(target[row][w], five);
    }
}

// Walks a strip, two pairs of rows at a time.
template <typename Level>
__device__ __forceinline__ void transform_eight_taps(const FusedParams& params) {
  const typename Level::Place place(params, blockIdx.x);
  begin_level(params);
  if (!place.exists) return;
  Level level(params, place);
  constexpr int32_t kLag = Level::Window::kLag;
  int32_t t = place.first / 2 - kLag;  // runs begin at even rows
  const int32_t end = (place.end + 1) / 2 + kLag;
  typename Level::Raw next;
  level.load_early(t, &next);
  wait_for_predecessor();
  level.load_late(t, &next);
#pragma unroll 1
  for (; t < end; ++t) {
    const typename Level::Raw raw = next;
    level.load_early(t + 1, &next);
    level.load_late(t + 1, &next);
    level.take(t, raw);
  }
}

}  // namespace cudatransform::cuda
