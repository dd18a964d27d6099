// How many rows a warp of the wavelet kernels walks down.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dwt/lifting.h"

namespace cudatransform::cuda {

// Warps of a large machine: with fewer than `needed` most of it idles, with `wanted` it has enough
// to choose from.
struct WarpCount {
  int64_t needed, wanted;
  int32_t longest_run;  // pairs of rows
};
// 6 and 16 for each SM.
inline constexpr WarpCount kWarps = {132 * 6, 132 * 16, 32};

// Kernels that read many rows beside their own are better off with fewer and longer walks: those of
// eight taps 16 pairs, those of two levels some of both. Measured.
constexpr WarpCount warps_of(Wavelet wavelet, bool fast, bool two_levels) {
  if (two_levels) return {132 * 4, 132 * 6, wavelet == Wavelet::kDd97 ? 64 : 48};
  if (fast && wavelet == Wavelet::kFidelity) return {132 * 4, 132 * 8, 64};
  return kWarps;
}

// Pairs of a walk: long ones read less for their neighbours, short ones are more. Where a level has
// little to do, up to twice as much is read for neighbours as for the walk itself.
constexpr int32_t run_length(int64_t warps_a_row, int32_t pairs, int halo, const WarpCount& count) {
  int32_t run = count.longest_run;
  const auto warps = [&] { return warps_a_row * ((pairs + run - 1) / run); };
  while (run > 2 * halo && run > 2 && warps() < count.wanted) run /= 2;
  while (run > halo / 2 && run > 2 && warps() < count.needed) run /= 2;
  return run;
}

}  // namespace cudatransform::cuda
