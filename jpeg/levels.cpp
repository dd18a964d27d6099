// Whether levels are what 8-bit JPEG can hold; libjpeg-turbo's vector code does not look.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/levels.h"

#include <string>

namespace cudatransform {
namespace {

constexpr int kPlainDc = 1023;

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

// The error about the first level of the row that is out of range.
Status describe(const int16_t* row, uint32_t blocks, int component, uint32_t block_row) {
  for (size_t i = 0; i < 64 * size_t(blocks); i++) {
    const bool dc = i % 64 == 0;
    const int lowest = dc ? -kJpegMaxDc - 1 : -kJpegMaxAc;
    const int highest = dc ? kJpegMaxDc : kJpegMaxAc;
    if (row[i] >= lowest && row[i] <= highest) continue;
    return Status::error(
        StatusCode::kInvalidArgument,
        "level " + std::to_string(row[i]) + " of coefficient (" + std::to_string(i % 8) + ", " +
            std::to_string(i / 8 % 8) + ") of block (" + std::to_string(i / 64) + ", " +
            std::to_string(block_row) + ") of component " + std::to_string(component) +
            ", expected " + std::to_string(lowest) + " to " + std::to_string(highest));
  }
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
    if (ac > kJpegMaxAc || all.dc > kJpegMaxDc) return describe(row, levels.blocks_w, component, r);
    if (all.dc > kPlainDc) *plain_dc = false;
  }
  return {};
}

}  // namespace cudatransform
