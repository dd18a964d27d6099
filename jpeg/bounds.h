// What pictures of JPEG files may have: components, bits of a sample, quantized coefficients; for
// host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"

namespace cudatransform {

// Of a picture, and so of a scan (ITU-T T.81, table B.3). Raw video has three at most:
// kMaxComponents in transform/picture.h.
inline constexpr int kJpegMaxComponents = 4;

// The bits of a sample that files with a DCT may have (table B.2).
CT_HD constexpr bool is_jpeg_depth(uint32_t depth) { return depth == 8 || depth == 12; }
inline constexpr uint32_t kMaxJpegDepth = 12;

// The bits of the largest AC quantized coefficient and of the largest difference of DC quantized
// coefficients (F.1.2.1.1 and F.1.2.2.1): this many at most follow a Huffman code.
CT_HD constexpr uint32_t jpeg_ac_bits(uint32_t depth) { return depth + 2; }
CT_HD constexpr uint32_t jpeg_dc_bits(uint32_t depth) { return depth + 3; }

// The largest magnitudes of these. DC quantized coefficients from -jpeg_max_ac() - 1 to
// jpeg_max_ac(), as samples have them, are never too far apart.
CT_HD constexpr int32_t jpeg_max_ac(uint32_t depth) { return (1 << jpeg_ac_bits(depth)) - 1; }
CT_HD constexpr int32_t jpeg_max_dc_step(uint32_t depth) { return (1 << jpeg_dc_bits(depth)) - 1; }

// Whether a DC quantized coefficient, which may be any number, is one of those.
CT_HD constexpr bool is_plain_dc(int32_t qcoef, uint32_t depth) {
  return (qcoef ^ (qcoef >> 31)) <= jpeg_max_ac(depth);
}

}  // namespace cudatransform
