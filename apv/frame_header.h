// The header of an APV frame, and what follows from it: components, macroblocks, tiles.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RFC 9924, frame_info and frame_header; H.273 has the color codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transform/apv/apv.h"
#include "transform/device/status.h"

namespace cudatransform {

enum class ApvChroma : uint8_t { k400 = 0, k422 = 2, k444 = 3, k4444 = 4 };

struct ApvColor {
  uint8_t primaries = 2, transfer = 2, matrix = 2;  // 2: unspecified
  bool full_range = false;

  bool operator==(const ApvColor&) const = default;
};

struct ApvFrameInfo {
  uint8_t profile = 0, level = 0, band = 0;  // what the stream claims
  uint32_t width = 0, height = 0;
  ApvChroma chroma = ApvChroma::k422;
  int depth = 10;  // 10 to 16

  int components() const {
    return chroma == ApvChroma::k400 ? 1 : chroma == ApvChroma::k4444 ? 4 : 3;
  }
  bool is_narrow(int component) const { return chroma == ApvChroma::k422 && component > 0; }
  // Macroblocks of 16x16 luma samples.
  uint32_t mbs_across() const { return (width + 15) / 16; }
  uint32_t mbs_down() const { return (height + 15) / 16; }
  // Of a component: visible samples, and blocks of a macroblock.
  uint32_t width_of(int component) const { return is_narrow(component) ? width / 2 : width; }
  uint32_t mb_blocks_across(int component) const { return is_narrow(component) ? 1 : 2; }
  static constexpr uint32_t kMbBlocksDown = 2;
  // Of the macroblocks that cover the frame.
  uint64_t blocks(int component) const {
    return uint64_t{mbs_across()} * mbs_down() * mb_blocks_across(component) * kMbBlocksDown;
  }
  uint64_t blocks() const {
    uint64_t sum = 0;
    for (int c = 0; c < components(); ++c) sum += blocks(c);
    return sum;
  }
  uint64_t samples() const {
    uint64_t sum = 0;
    for (int c = 0; c < components(); ++c) sum += uint64_t{width_of(c)} * height;
    return sum;
  }
};

// Macroblocks of a tile.
struct ApvTileArea {
  uint32_t mb_x, mb_y, mbs_across, mbs_down;
};

struct ApvFrameHeader {
  ApvFrameInfo info;
  ApvColor color;
  uint8_t matrix[kMaxApvComponents][64];  // row by row
  uint32_t tile_mbs_across = 0, tile_mbs_down = 0;
  int tile_columns = 0, tile_rows = 0;  // up to kMaxApvTiles each
  size_t bytes = 0;                     // of the header in the payload

  int tiles() const { return tile_columns * tile_rows; }
  ApvTileArea area(int tile) const;
  // The size of tiles, and their numbers. kInvalidArgument: too many, or empty.
  Status set_tiles(uint32_t mbs_across, uint32_t mbs_down);
};

// kInvalidArgument: damaged. The message names the field.
Status read_apv_header(std::span<const uint8_t> payload, ApvFrameHeader* header);

}  // namespace cudatransform
