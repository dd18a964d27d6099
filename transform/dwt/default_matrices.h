// The quantisation matrices of VC-2: how much finer each band is quantised than the picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A band's quantiser index is the picture's less the band's entry, and at least 0. Entries weigh
// bands by the gain of their filter. Streams without a matrix of their own use these (SMPTE ST
// 2042-1, annex D).
#pragma once

#include "transform/dwt/bands.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

// Fills the dwt_band_count() entries; without any level the only one is 0. False where VC-2 has no
// matrix: for j2k53, for more than four levels, more than five with the horizontal-only ones, and
// for two filters but haar with legall53 horizontally.
bool default_matrix(Wavelet wavelet, Wavelet wavelet_ho, DwtLevels levels,
                    uint8_t matrix[kMaxDwtBands]);

}  // namespace cudatransform
