// Whether levels are what 8-bit JPEG can hold; libjpeg-turbo's vector code does not look.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "jpeg/coef_arrays.h"
#include "transform/status.h"

namespace cudatransform {

// ITU-T T.81, F.1.2.2.1: the largest magnitude of an AC level at 8 bits.
inline constexpr int kJpegMaxAc = 1023;
// No two DC levels from -kJpegMaxDc - 1 to it are further apart than the 2^15 that libjpeg's
// arithmetic decoder believes.
inline constexpr int kJpegMaxDc = 16383;

// kInvalidArgument, with the place of the first such level, where a level of `component` is out of
// these ranges. `*plain_dc` stays true only if all DC levels are from -1024 to 1023, as those of
// 8-bit samples are: then no two of them are more than 2047 apart, Huffman's limit.
Status check_levels(const JpegLevels& levels, int component, bool* plain_dc);

}  // namespace cudatransform
