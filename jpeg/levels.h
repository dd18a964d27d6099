// Whether 8-bit JPEG can hold levels; libjpeg-turbo's vector code does not check.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "jpeg/coef_arrays.h"
#include "transform/device/status.h"

namespace cudatransform {

// ITU-T T.81, F.1.2.1.1 and F.1.2.2.1: the largest magnitudes of an AC level and of a difference of
// DC levels at 8 bits.
inline constexpr int kJpegMaxAc = 1023;
inline constexpr int kJpegMaxDcStep = 2047;

// kInvalidArgument if levels of `component` are more than 8-bit JPEG can hold, for any order of
// blocks and any restarts in the file: an AC level beyond kJpegMaxAc, a DC level beyond
// kJpegMaxDcStep, or two DC levels further apart than that. Those of 8-bit samples, from -1024 to
// 1016, never are.
Status check_levels(const JpegLevels& levels, int component);

// Whether the levels of `blocks` blocks in a row are beyond doubt: AC levels to kJpegMaxAc, DC
// levels from -1024 to 1023, which are never too far apart. A component whose rows all are passes
// check_levels().
bool row_is_plain(const int16_t* row, uint32_t blocks);

// Moves levels that are out of range into it, DC levels to -1024 to 1023.
void clamp_levels(const JpegLevels& levels);

}  // namespace cudatransform
