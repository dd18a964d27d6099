// What the fuzz targets share that feed coefficients: geometries and metas of any kind.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/coef.h>
#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// Coefficients of a small picture, of any format, layout, order and depth; five bytes of the input.
// False where these do not go together.
bool dct_info_of(Input* input, GstDctInfo* info);

// A meta that describes `info` in its default layout; divisors, where there are any, are `divisor`.
GstDctMeta* add_sound_meta(GstBuffer* buffer, const GstDctInfo& info, guint16 divisor);

}  // namespace fuzzing
