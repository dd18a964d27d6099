// Whether JPEG files of a depth can hold levels; libjpeg-turbo's vector code does not check.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/levels.h"

#include <algorithm>
#include <string>

namespace cudatransform {
namespace {

// All magnitudes of one row of blocks ORed together: a bit is set if some level is as large, and
// the limits are one less than powers of two. The compiler makes vectors of the loop over a block.
struct Magnitudes {
  uint16_t ac[64] = {};  // [0] is that of DC levels, and not used
  uint16_t dc = 0;       // of ones' complements, so that -1024 counts as 1023

  bool has_plain_ac(uint32_t depth) const {
    int all = 0;
    for (int k = 1; k < 64; k++) all |= ac[k];
    return all <= jpeg_max_ac(depth);
  }
  bool has_plain_dc(uint32_t depth) const { return dc <= jpeg_max_ac(depth); }
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

Status out_of_range(const std::string& what, int component, const std::string& expected) {
  return Status::error(
      StatusCode::kInvalidArgument,
      what + " of component " + std::to_string(component) + ", expected " + expected);
}

// The error about the first AC level of the row that is out of range.
Status describe_ac(const int16_t* row, uint32_t blocks, int component, uint32_t block_row,
                   uint32_t depth) {
  const int most = jpeg_max_ac(depth);
  for (size_t i = 0; i < 64 * size_t(blocks); i++) {
    if (i % 64 == 0 || (row[i] >= -most && row[i] <= most)) continue;
    return out_of_range("level " + std::to_string(row[i]) + " of coefficient (" +
                            std::to_string(i % 8) + ", " + std::to_string(i / 8 % 8) +
                            ") of block (" + std::to_string(i / 64) + ", " +
                            std::to_string(block_row) + ")",
                        component, std::to_string(-most) + " to " + std::to_string(most));
  }
  return {};
}

Status check_dc(const JpegLevels& levels, int component, uint32_t depth) {
  int least = 0, most = 0;  // a file's first difference is to 0
  for (uint32_t r = 0; r < levels.blocks_h; r++)
    for (uint32_t b = 0; b < levels.blocks_w; b++) {
      const int dc = levels.row(r)[size_t(b) * 64];
      least = std::min(least, dc);
      most = std::max(most, dc);
    }
  if (most - least <= jpeg_max_dc_step(depth)) return {};
  return out_of_range("DC levels from " + std::to_string(least) + " to " + std::to_string(most),
                      component,
                      "at most " + std::to_string(jpeg_max_dc_step(depth)) +
                          " between any two, and between any and 0");
}

}  // namespace

bool row_is_plain(const int16_t* row, uint32_t blocks, uint32_t depth) {
  Magnitudes all;
  add_row(row, blocks, &all);
  return all.has_plain_ac(depth) && all.has_plain_dc(depth);
}

Status check_levels(const JpegLevels& levels, int component, uint32_t depth) {
  bool plain_dc = true;
  for (uint32_t r = 0; r < levels.blocks_h; r++) {
    const int16_t* row = levels.row(r);
    Magnitudes all;
    add_row(row, levels.blocks_w, &all);
    if (!all.has_plain_ac(depth)) return describe_ac(row, levels.blocks_w, component, r, depth);
    plain_dc = plain_dc && all.has_plain_dc(depth);
  }
  return plain_dc ? Status() : check_dc(levels, component, depth);
}

void clamp_levels(const JpegLevels& levels, uint32_t depth) {
  const auto most = static_cast<int16_t>(jpeg_max_ac(depth));
  const auto least_ac = static_cast<int16_t>(-most), least_dc = static_cast<int16_t>(-most - 1);
  for (uint32_t r = 0; r < levels.blocks_h; r++) {
    int16_t* row = levels.row(r);
    for (size_t i = 0; i < 64 * size_t(levels.blocks_w); i++)
      row[i] = std::clamp(row[i], i % 64 == 0 ? least_dc : least_ac, most);
  }
}

}  // namespace cudatransform
