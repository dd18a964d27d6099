// The lifting steps of every wavelet, as data that host and device share.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A line of 2N values is split into even ones e[n] = v[2n], the low band, and odd ones o[n] =
// v[2n+1], the high band. Synthesis makes each step over the whole line before the next:
//
//   e[n] -= (sum of taps[k] o[n + first + k] + rounding) >> shift      updates_odd false
//   o[n] += (sum of taps[k] e[n + first + k] + rounding) >> shift      updates_odd true
//
// with the sign of `subtract` and an arithmetic shift. An index outside of 0..N-1 is clamped to it.
// Analysis makes the same steps backwards, with the opposite signs.
//
// In two dimensions, synthesis transforms columns, then rows, and analysis rows, then columns;
// JPEG 2000's filter has the other order. Where shift_between_levels() is 1, analysis of a level
// begins with v << 1 and synthesis ends with (v + 1) >> 1. Filters: SMPTE ST 2042-1; kJ2k53: ITU-T
// T.800, annex F.
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

struct LiftingStep {
  bool updates_odd;
  bool subtract;  // in synthesis
  int first;      // index of the first tap, relative to the updated value's
  int count;
  int taps[8];
  int rounding;
  int shift;
};

struct Lifting {
  const char* name;  // of the wavelet property and of caps
  int count;
  LiftingStep steps[4];  // in the order of synthesis
  int shift_between_levels;
  bool rows_first;         // synthesis: JPEG 2000's order
  bool has_wide_products;  // the products need 64 bits for values of 32
  // kS16: values are taken modulo 2^16 after the last step of a line, not after each. Steps and
  // sums stay within 32 bits for any values.
  bool wraps_at_end = false;
};

// Indexed by the value of Wavelet.
inline constexpr Lifting kLiftings[kWaveletCount] = {
    {"dd97",
     2,
     {{false, true, -1, 2, {1, 1}, 2, 2}, {true, false, -1, 4, {-1, 9, 9, -1}, 8, 4}},
     1,
     false,
     false},
    {"legall53",
     2,
     {{false, true, -1, 2, {1, 1}, 2, 2}, {true, false, 0, 2, {1, 1}, 1, 1}},
     1,
     false,
     false},
    {"dd137",
     2,
     {{false, true, -2, 4, {-1, 9, 9, -1}, 16, 5}, {true, false, -1, 4, {-1, 9, 9, -1}, 8, 4}},
     1,
     false,
     false},
    {"haar", 2, {{false, true, 0, 1, {1}, 1, 1}, {true, false, 0, 1, {1}, 0, 0}}, 0, false, false},
    {"haar-shift",
     2,
     {{false, true, 0, 1, {1}, 1, 1}, {true, false, 0, 1, {1}, 0, 0}},
     1,
     false,
     false},
    {"fidelity",
     2,
     {{true, false, -3, 8, {-2, 10, -25, 81, 81, -25, 10, -2}, 128, 8},
      {false, true, -4, 8, {-8, 21, -46, 161, 161, -46, 21, -8}, 128, 8}},
     0,
     false,
     true},
    {"daub97",
     4,
     {{false, true, -1, 2, {1817, 1817}, 2048, 12},
      {true, true, 0, 2, {3616, 3616}, 2048, 12},
      {false, false, -1, 2, {217, 217}, 2048, 12},
      {true, false, 0, 2, {6497, 6497}, 2048, 12}},
     1,
     false,
     true,
     true},
    {"j2k53",
     2,
     {{false, true, -1, 2, {1, 1}, 2, 2}, {true, false, 0, 2, {1, 1}, 0, 1}},
     0,
     true,
     false},
};

static_assert(kLiftings[kWaveletCount - 1].name != nullptr);

CT_HD constexpr const Lifting& lifting(Wavelet wavelet) {
  return kLiftings[static_cast<int>(wavelet)];
}

}  // namespace cudatransform
