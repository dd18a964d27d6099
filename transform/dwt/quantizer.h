// The quantizer of Dirac and VC-2: a factor of four steps to the octave, with a dead zone.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Index q has the factor qf(q), about 4 x 2^(q/4). A value c becomes the level sign(c) (4 |c| //
// qf); a level l becomes the value sign(l) ((|l| qf + qo + 2) // 4), where qo(q) puts it about the
// middle of the values that became l. Index 0 loses nothing.
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"
#include "transform/dwt/bands.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

// Above it 4 x 2^(q/4), as the tables have it, exceeds 31 bits.
inline constexpr int kMaxQuantIndex = 115;

CT_HD constexpr uint32_t dwt_quant_factor(int index) {
  const uint64_t octave = uint64_t{1} << (index / 4);
  switch (index % 4) {
    case 0:
      return static_cast<uint32_t>(4 * octave);
    case 1:
      return static_cast<uint32_t>((503829 * octave + 52958) / 105917);
    case 2:
      return static_cast<uint32_t>((665857 * octave + 58854) / 117708);
    default:
      return static_cast<uint32_t>((440253 * octave + 32722) / 65444);
  }
}

// For pictures that are not predicted from others.
CT_HD constexpr uint32_t dwt_quant_offset(int index) {
  if (index == 0) return 1;
  return index == 1 ? 2 : (dwt_quant_factor(index) + 1) / 2;
}

// ---- Quantization matrices of VC-2: how much finer each band is quantized than the picture ----
//
// A band's quantizer index is the picture's less the band's entry, and at least 0. Entries weigh
// bands by the gain of their filter. Streams without their own matrix use these (SMPTE ST 2042-1,
// annex D).

// Fills the dwt_band_count() entries; without any level the only one is 0. False where VC-2 has no
// matrix: for j2k53, for more than four levels, more than five with the horizontal-only ones, and
// for two filters but haar with legall53 horizontally.
bool default_matrix(Wavelet wavelet, Wavelet wavelet_ho, DwtLevels levels,
                    uint8_t matrix[kMaxDwtBands]);

}  // namespace cudatransform
