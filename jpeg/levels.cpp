// Whether 8-bit JPEG can hold levels; libjpeg-turbo's vector code does not check.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/levels.h"

#include <algorithm>
#include <string>

namespace cudatransform {
namespace {

// DC levels from -1024 to 1023 are never too far apart.
constexpr int16_t kPlainDc = 1023;

// All magnitudes of one row of blocks ORed together: a bit from 2^10 on is set if and only if some
// level is as large. The compiler makes vectors of the loop over a block.
struct Magnitudes {
  uint16_t ac[64] = {};  // [0] is that of DC levels, and not used
  uint16_t dc = 0;       // of ones' complements, so that -1024 counts as 1023

  unsigned largest_ac() const {
    unsigned all = 0;
    for (int k = 1; k < 64; k++) all |= ac[k];
    return all;
  }
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
Status describe_ac(const int16_t* row, uint32_t blocks, int component, uint32_t block_row) {
  for (size_t i = 0; i < 64 * size_t(blocks); i++) {
    if (i % 64 == 0 || (row[i] >= -kJpegMaxAc && row[i] <= kJpegMaxAc)) continue;
    return out_of_range(
        "level " + std::to_string(row[i]) + " of coefficient (" + std::to_string(i % 8) + ", " +
            std::to_string(i / 8 % 8) + ") of block (" + std::to_string(i / 64) + ", " +
            std::to_string(block_row) + ")",
        component, std::to_string(-kJpegMaxAc) + " to " + std::to_string(kJpegMaxAc));
  }
  return {};
}

Status check_dc(const JpegLevels& levels, int component) {
  int least = 0, most = 0;  // a file's first difference is to 0
  for (uint32_t r = 0; r < levels.blocks_h; r++)
    for (uint32_t b = 0; b < levels.blocks_w; b++) {
      const int dc = levels.row(r)[size_t(b) * 64];
      least = std::min(least, dc);
      most = std::max(most, dc);
    }
  if (most - least <= kJpegMaxDcStep) return {};
  return out_of_range(
      "DC levels from " + std::to_string(least) + " to " + std::to_string(most), component,
      "at most " + std::to_string(kJpegMaxDcStep) + " between any two, and between any and 0");
}

}  // namespace

bool row_is_plain(const int16_t* row, uint32_t blocks) {
  Magnitudes all;
  add_row(row, blocks, &all);
  return all.largest_ac() <= kJpegMaxAc && all.dc <= kPlainDc;
}

Status check_levels(const JpegLevels& levels, int component) {
  bool plain_dc = true;
  for (uint32_t r = 0; r < levels.blocks_h; r++) {
    const int16_t* row = levels.row(r);
    Magnitudes all;
    add_row(row, levels.blocks_w, &all);
    if (all.largest_ac() > kJpegMaxAc) return describe_ac(row, levels.blocks_w, component, r);
    plain_dc = plain_dc && all.dc <= kPlainDc;
  }
  return plain_dc ? Status() : check_dc(levels, component);
}

void clamp_levels(const JpegLevels& levels) {
  constexpr int16_t kMaxAc = kJpegMaxAc, kMinAc = -kJpegMaxAc, kMinDc = -kPlainDc - 1;
  for (uint32_t r = 0; r < levels.blocks_h; r++) {
    int16_t* row = levels.row(r);
    for (size_t i = 0; i < 64 * size_t(levels.blocks_w); i++)
      row[i] =
          i % 64 == 0 ? std::clamp(row[i], kMinDc, kPlainDc) : std::clamp(row[i], kMinAc, kMaxAc);
  }
}

}  // namespace cudatransform
