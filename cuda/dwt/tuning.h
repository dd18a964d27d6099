// Numbers of the wavelet kernels that are measured, not derived: CTAs that an SM should hold, rows
// that a warp walks down, and sizes of levels at which another kernel is faster.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measured on H100 and H200 (sm_90) unless an architecture is named.
#pragma once

#include <cstdint>

#include "transform/dwt/lifting.h"

namespace cudatransform::cuda {

inline constexpr unsigned kDwtThreads = 128;  // in a CTA
inline constexpr unsigned kDwtWarps = kDwtThreads / 32;

// ---- CTAs that an SM should hold ----

// Of the fast kernels, by filter; as are the numbers of rows that a level processes per iteration
// and has in flight. No choice may need local memory, and on other GPUs than Hopper's some filters
// would with more.
struct FastCtas {
  int forward, inverse;
  int two_levels;  // inverse
};
constexpr FastCtas fast_ctas(Wavelet wavelet) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
  switch (wavelet) {
    case Wavelet::kDd97:
      return {6, 5, 5};
    case Wavelet::kDd137:
      return {5, 4, 6};
    case Wavelet::kHaar:
      return {6, 7, 5};
    case Wavelet::kFidelity:
      return {3, 3, 6};
    case Wavelet::kDaub97:
      return {4, 1, 6};
    case Wavelet::kJ2k53:
      return {6, 5, 6};
    default:
      return {6, 7, 6};
  }
#else
  switch (wavelet) {
    case Wavelet::kDd97:
      return {6, 6, 5};
    case Wavelet::kDd137:
      return {6, 5, 6};
    case Wavelet::kFidelity:
      return {3, 3, 6};
    case Wavelet::kDaub97:
      return {4, 1, 6};
    default:
      return {6, 7, 6};
  }
#endif
}

// ---- Sizes of levels ----

// Pairs of a level up to which its warps may take their places while the level before still runs. A
// large level's warps would take the places of other pictures' warps.
inline constexpr int64_t kMaxWaitingPairs = 1 << 20;
// With fewer samples, launches of two levels would have too few warps in flight.
inline constexpr int64_t kMinTwoLevelSamples = 8 << 20;

// ---- Walks ----

// Streaming multiprocessors of the H200 that these numbers were measured on. Other devices get the
// same walks.
inline constexpr int64_t kSms = 132;

// Warps of a large machine: with fewer than `needed` most of it idles, with `wanted` its schedulers
// have enough to choose from.
struct WarpCount {
  int64_t needed, wanted;
  int32_t longest_run;  // pairs of rows
};
// 6 and 16 for each SM.
inline constexpr WarpCount kWarps = {kSms * 6, kSms * 16, 32};

// Kernels that read many rows around their own prefer fewer and longer walks: those of eight taps
// 16 pairs, those of two levels some of both. Measured.
constexpr WarpCount warps_of(Wavelet wavelet, bool fast, bool two_levels) {
  if (two_levels) return {kSms * 4, kSms * 6, wavelet == Wavelet::kDd97 ? 64 : 48};
  if (fast && wavelet == Wavelet::kFidelity) return {kSms * 4, kSms * 8, 64};
  return kWarps;
}

// Pairs of a walk: long ones read less for their neighbors, short ones are more. Where a level has
// little to do, up to twice as much is read for neighbors as for the walk itself.
constexpr int32_t run_length(int64_t warps_a_row, int32_t pairs, int halo, const WarpCount& count) {
  int32_t run = count.longest_run;
  const auto warps = [&] { return warps_a_row * ((pairs + run - 1) / run); };
  while (run > 2 * halo && run > 2 && warps() < count.wanted) run /= 2;
  while (run > halo / 2 && run > 2 && warps() < count.needed) run /= 2;
  return run;
}

}  // namespace cudatransform::cuda
