// The vector code of each method, compiled in parallel: that takes longer than all the rest.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Each file is compiled once for every instruction set: Highway re-includes it for each.
// simd_targets.h comes before Highway.
#include <algorithm>
#include <utility>

#include "transform/dct8x8/adapters.h"
#include "transform/dct8x8/constants.h"
#include "transform/dct8x8/quantizer.h"
#include "transform/dct8x8/rows.h"
#include "transform/dct8x8/scaled.h"
