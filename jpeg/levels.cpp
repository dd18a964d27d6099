// Whether levels are what 8-bit JPEG can hold; libjpeg-turbo's vector code does not look.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/levels.h"

#include <cstdlib>
#include <string>

namespace cudatransform {
namespace {

// All magnitudes of one row of blocks ORed together: a bit from 2^10 on is set if and only if some
// level is as large. The compiler makes vectors of the loop over a block.
struct Magnitudes {
  uint16_t ac[64] = {};  // [0] is that of DC levels, and not used
  uint16_t dc = 0;       // of ones' complements, so that -1024 counts as 1023
};

void add_row(const int16_t* block, uint32_t blocks, Magnitudes* all) {
  for (const int16_t* end = block + size_t(blocks) * 64; block < end; block += 64) {
    for (int k = 0; k < 64; k++) {
      const int sign = block[k] >> 15;
      all->ac[k] |= uint16_t((block[k] + sign) ^ sign);
    }
    all->dc |= uint16_t(block[0] ^ (block[0] >> 15));
  }
}

const int16_t* row_of(const JpegLevels& levels, uint32_t row) {
  return reinterpret_cast<const int16_t*>(reinterpret_cast<const uint8_t*>(levels.data) +
                                          ptrdiff_t(row) * levels.stride);
}

Status describe(const int16_t* row, uint32_t blocks, int component, uint32_t block_row) {
  for (uint32_t b = 0; b < blocks; b++)
    for (int k = 1; k < 64; k++)
      if (const int level = row[64 * size_t(b) + k]; std::abs(level) > kJpegMaxAc)
        return Status::error(
            StatusCode::kInvalidArgument,
            "level " + std::to_string(level) + " of coefficient (" + std::to_string(k % 8) + ", " +
                std::to_string(k / 8) + ") of block (" + std::to_string(b) + ", " +
                std::to_string(block_row) + ") of component " + std::to_string(component) +
                ", expected -" + std::to_string(kJpegMaxAc) + " to " + std::to_string(kJpegMaxAc));
  return {};
}

}  // namespace

Status check_levels(const JpegLevels& levels, int component, bool* plain_dc) {
  for (uint32_t r = 0; r < levels.blocks_h; r++) {
    const int16_t* row = row_of(levels, r);
    Magnitudes all;
    add_row(row, levels.blocks_w, &all);
    unsigned ac = 0;
    for (int k = 1; k < 64; k++) ac |= all.ac[k];
    if (ac > kJpegMaxAc) return describe(row, levels.blocks_w, component, r);
    if (all.dc > kJpegMaxAc) *plain_dc = false;
  }
  return {};
}

}  // namespace cudatransform
