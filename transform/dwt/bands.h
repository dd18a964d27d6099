// The bands of a wavelet transform: how many there are, and where each is in its component.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The pyramid is numbered as in a bitstream of VC-2 (SMPTE ST 2042-1): level 0 is the coarsest, one
// band, LL (L where there are horizontal-only levels); each horizontal-only level adds one band, H;
// each other level adds HL, LH and HH, in this order. HL is high-pass horizontally. Band 0 is level
// 0; the others follow, level by level.
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"

namespace cudatransform {

inline constexpr int kMaxDwtLevels = 6;
inline constexpr int kMaxDwtLevelsHo = 4;
inline constexpr int kMaxDwtBands = 1 + kMaxDwtLevelsHo + 3 * kMaxDwtLevels;

// `both` levels in both directions, and below those `horizontal` in rows alone.
struct DwtLevels {
  int both = 4;        // 0 to kMaxDwtLevels
  int horizontal = 0;  // 0 to kMaxDwtLevelsHo; the sum is at least 1
};

struct DwtBand {
  int32_t x, y;           // in the pyramid, of the first coefficient
  int32_t width, height;  // in coefficients
};

CT_HD constexpr int dwt_band_count(DwtLevels levels) {
  return 1 + levels.horizontal + 3 * levels.both;
}

// The next multiple of 2^halvings, the size to which a component is padded.
CT_HD constexpr int32_t dwt_padded(int32_t size, int halvings) {
  const int32_t unit = int32_t{1} << halvings;
  return (size + unit - 1) & -unit;
}
CT_HD constexpr int32_t dwt_padded_width(int32_t width, DwtLevels levels) {
  return dwt_padded(width, levels.both + levels.horizontal);
}
CT_HD constexpr int32_t dwt_padded_height(int32_t height, DwtLevels levels) {
  return dwt_padded(height, levels.both);
}

// Band `index` of a component of padded_width x padded_height.
CT_HD constexpr DwtBand dwt_band(DwtLevels levels, int32_t padded_width, int32_t padded_height,
                                 int index) {
  const int32_t low_height = padded_height >> levels.both;
  if (index <= levels.horizontal) {
    const int level = index == 0 ? 1 : index;
    const int32_t width = padded_width >> (levels.both + levels.horizontal - level + 1);
    if (levels.horizontal == 0) return {0, 0, padded_width >> levels.both, low_height};
    return {index == 0 ? 0 : width, 0, width, low_height};
  }
  const int level = (index - levels.horizontal - 1) / 3;  // 0 is the coarsest in both directions
  const int kind = (index - levels.horizontal - 1) % 3;   // HL, LH, HH
  const int32_t width = padded_width >> (levels.both - level);
  const int32_t height = padded_height >> (levels.both - level);
  return {kind == 1 ? 0 : width, kind == 0 ? 0 : height, width, height};
}

}  // namespace cudatransform
