// The walk of a warp down its strip: which rows it loads, and which it takes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/lift.cuh"

namespace cudatransform::cuda {

// What a walk does where rows would be loaded ahead from beyond the last one. Two copies to the
// same place (ring.cuh) must not be in flight together, so they are left out. A check in the
// fast loop costs instructions (inverse), ending it earlier costs registers (forward).
enum class Beyond { kLoadsLastAgain, kChecks, kEndsFastLoop };

// Walks down a strip, kUnroll rows at a time. Where a line begins or ends it goes row by row: less
// code. A level that knows its rows' phase (floats.cuh) is passed the next one, such that the
// first of several rows has phase 0.
template <typename Level>
__device__ __forceinline__ void walk_strip(Level& level) {
  using Window = typename Level::Window;
  constexpr int kAhead = Level::kRowsAhead;
  constexpr bool kCopies = Level::kBeyond != Beyond::kLoadsLastAgain;
  constexpr bool kChecks = Level::kBeyond == Beyond::kChecks;
  const int32_t pairs = level.tile.pairs_y;
  const int32_t end = level.place.end + Window::kLag;
  int32_t inside = min(end, kCopies && !kChecks ? pairs - kAhead : pairs);
  if constexpr (Level::kUnroll > 1) keep_in_register(inside);
  int32_t begin = max(level.place.first - Window::kSteps.before, 0);
  // Rather a row more than a single one at the end. Nor is such a row taken for the beginning of a
  // line.
  if (begin > 0) begin -= (inside - begin) & (Level::kUnroll - 1);
  if (Level::kUnroll > 1 && begin <= Window::kLag) begin = 0;
  typename Level::Raw ahead[kAhead];
  const auto exists = [&](int32_t n) { return !kCopies || n < pairs; };
  const auto row = [&](int32_t n) { return kCopies ? n : min(n, pairs - 1); };
#pragma unroll
  for (int a = 0; a < kAhead; ++a)
    if (exists(begin + a)) level.load_early(row(begin + a), &ahead[a]);
  wait_for_predecessor();
#pragma unroll
  for (int a = 0; a < kAhead; ++a) {
    if (exists(begin + a)) level.load_late(row(begin + a), &ahead[a]);
    if constexpr (kCopies) end_group_of_copies();
  }
  const auto next = [&](int32_t n, bool checks) {
    const typename Level::Raw raw = ahead[0];
#pragma unroll
    for (int a = 0; a + 1 < kAhead; ++a) ahead[a] = ahead[a + 1];
    if (!checks || exists(n + kAhead)) {
      level.load_early(row(n + kAhead), &ahead[kAhead - 1]);
      level.load_late(row(n + kAhead), &ahead[kAhead - 1]);
    }
    if constexpr (kCopies) end_group_of_copies();
    return raw;
  };
  int32_t n = begin, edge = begin;
  if (begin == 0)
    edge = min(end, Window::kLag + 1 + max(inside - Window::kLag - 1, 0) % Level::kUnroll);
  if constexpr (Level::kKnowsPhase) level.next_is((edge - begin) % 2);
  for (;;) {
#pragma unroll 1
    for (; n < edge; ++n) level.template take<true>(n, next(n, true));
#pragma unroll 1
    for (; n + Level::kUnroll <= inside; n += Level::kUnroll)
      for_each_step<Level::kUnroll>([&](auto number) {
        constexpr int kNumber = decltype(number)::value;
        level.template take<false, kNumber>(n + kNumber, next(n + kNumber, kChecks));
      });
    if (n >= end) return;
    if constexpr (Level::kKnowsPhase) level.next_is(0);
    edge = end;
  }
}

}  // namespace cudatransform::cuda
