// The vector code of each method, compiled side by side: that takes longer than all the rest.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Each file is compiled once for every instruction set: Highway includes it anew for each. The
// declarations below are included once. simd_targets.h comes before Highway.
#include <algorithm>
#include <utility>

#include "transform/dct8x8/adapters.h"
#include "transform/dct8x8/constants.h"
#include "transform/dct8x8/quantizer.h"
#include "transform/dct8x8/rows.h"
#include "transform/dct8x8/scaled.h"

namespace cudatransform {

// For the CPU at hand, or null where only the portable one exists. The job's method is the
// function's; islow and float have scale 2 and 4, too.
RowFunction simd_islow_row_function(const Dct8x8Job& job);
RowFunction simd_ifast_row_function(const Dct8x8Job& job);
RowFunction simd_float_row_function(const Dct8x8Job& job);

}  // namespace cudatransform
