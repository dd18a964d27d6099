// The arithmetic of motion compensation that engines share: half-sample filter, windows, weights.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"

namespace cudatransform {

// Taps of the half-sample filter, from the two samples next to the position outwards; they sum to
// half of 2^kObmcFilterShift.
inline constexpr int kObmcFilterTaps[4] = {21, -7, 3, -1};
inline constexpr int kObmcFilterShift = 5;
inline constexpr int32_t kObmcFilterRounding = 1 << (kObmcFilterShift - 1);

// Windows weigh in eighths on each axis, so that the products of a sample's blocks sum to 64.
inline constexpr int kObmcWindowWhole = 8;
inline constexpr int kObmcWindowShift = 6;

// One axis of the block grid of a component.
struct ObmcAxis {
  int32_t blocks;
  int32_t length;
  int32_t separation;

  CT_HD constexpr int32_t overlap() const { return (length - separation) / 2; }
  // The beginning of block `index`, inside or outside of the picture.
  CT_HD constexpr int32_t begin(int32_t index) const { return index * separation - overlap(); }
  // The first and the last block over position `at`.
  CT_HD constexpr int32_t first_over(int32_t at) const {
    const int32_t index = at < overlap() ? 0 : (at - overlap()) / separation;
    return index < blocks ? index : blocks - 1;
  }
  CT_HD constexpr int32_t last_over(int32_t at) const {
    const int32_t index = (at + overlap()) / separation;
    return index < blocks ? index : blocks - 1;
  }
};

// The weight of position `t` in a ramp of 2 * overlap. divided(n) is n / (2 * overlap - 1).
template <typename Divided>
CT_HD constexpr int obmc_ramp(int32_t overlap, int32_t t, const Divided& divided) {
  if (overlap == 1) return t == 0 ? 3 : 5;
  return 1 + divided(6 * t + overlap - 1);
}

// The weight of position `t` in block `index`. The grid's first and last block have no outer ramp.
template <typename Divided>
CT_HD constexpr int obmc_window(const ObmcAxis& axis, int32_t index, int32_t t,
                                const Divided& divided) {
  const bool falls = t >= 2 * axis.overlap();
  if (falls ? t < axis.separation || index == axis.blocks - 1 : index == 0) return kObmcWindowWhole;
  const int weight = obmc_ramp(axis.overlap(), falls ? t - axis.separation : t, divided);
  return falls ? kObmcWindowWhole - weight : weight;
}
CT_HD constexpr int obmc_window(const ObmcAxis& axis, int32_t index, int32_t t) {
  return obmc_window(axis, index, t, [&](int32_t n) { return int(n / (2 * axis.overlap() - 1)); });
}

}  // namespace cudatransform
