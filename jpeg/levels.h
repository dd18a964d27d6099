// Whether JPEG files of a depth can hold levels; libjpeg-turbo's vector code does not check.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "jpeg/coef_arrays.h"
#include "jpeg/depth.h"
#include "transform/device/status.h"

namespace cudatransform {

// kInvalidArgument if levels of `component` are more than JPEG of `depth` bits can hold, for any
// order of blocks and any restarts in the file: an AC level beyond jpeg_max_ac(), a DC level beyond
// jpeg_max_dc_step(), or two DC levels further apart than that. Those of samples never are.
Status check_levels(const JpegLevels& levels, int component, uint32_t depth);

// Whether the levels of `blocks` blocks in a row are beyond doubt: AC levels to jpeg_max_ac(), DC
// levels plain. A component whose rows all are passes check_levels().
bool row_is_plain(const int16_t* row, uint32_t blocks, uint32_t depth);

// Moves levels that are out of range into it, so that rows are plain.
void clamp_levels(const JpegLevels& levels, uint32_t depth);

}  // namespace cudatransform
