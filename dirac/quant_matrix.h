// The default quantisation matrices of slice pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dwt/bands.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

// Writes an entry for each band, in the order of bands.h. False where there is no default for these
// filters and levels (SMPTE ST 2042-1, annex D).
bool dirac_default_matrix(Wavelet wavelet, Wavelet wavelet_ho, DwtLevels levels,
                          uint8_t matrix[kMaxDwtBands]);

}  // namespace cudatransform
