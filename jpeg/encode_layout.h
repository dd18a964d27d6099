// The places of a sequential scan's blocks, and its division into tiles; for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ITU-T T.81, A.2: blocks are coded MCU by MCU. Dummy blocks without AC quantized coefficients fill
// up MCUs at the right and at the bottom; they have the DC quantized coefficient of the block coded
// before.
#pragma once

#include <cstdint>

#include "jpeg/bounds.h"
#include "transform/device/host_device_macros.h"
#include "transform/device/status.h"

namespace cudatransform {

inline constexpr uint32_t kJpegTablePairs = 2;   // a DC table and an AC table each
inline constexpr uint32_t kJpegTileBlocks = 64;  // of a tile, or fewer at the end of a segment

// Division of numbers below 2^22 by one that is the same for many: exact for divisors up to 2^16,
// as the product of the rounded-up inverse is less than 1 / divisor too large.
struct JpegDivisor {
  uint64_t inverse = 0;  // in units of 2^-42; 0: of something that is larger than all numbers

  static constexpr uint32_t kMaxDivided = 1u << 22;
  static constexpr uint32_t kMax = 1u << 16;

  JpegDivisor() = default;
  explicit JpegDivisor(uint32_t divisor) : inverse(((uint64_t{1} << 42) + divisor - 1) / divisor) {}
  CT_HD uint32_t quotient(uint32_t number) const {
    return static_cast<uint32_t>(number * inverse >> 42);
  }
};

// The sampling factors of a picture's components, without a common divisor.
struct JpegFactors {
  uint32_t components;
  uint32_t h[kJpegMaxComponents] = {1, 1, 1, 1}, v[kJpegMaxComponents] = {1, 1, 1, 1};
};

// A scan of all components of a picture.
struct JpegScanLayout {
  uint32_t components = 0;
  // The blocks of a component in an MCU, and the number of the first one among all.
  uint32_t mcu_w[kJpegMaxComponents] = {}, mcu_h[kJpegMaxComponents] = {};
  uint32_t mcu_first[kJpegMaxComponents] = {};
  uint32_t blocks_w[kJpegMaxComponents] = {}, blocks_h[kJpegMaxComponents] = {};
  uint32_t table_pair[kJpegMaxComponents] = {};
  uint32_t mcus_w = 0, mcu_blocks = 0;
  uint32_t blocks = 0;  // of the scan, dummy ones included
  // A segment ends at a restart marker or at the end of the scan.
  uint32_t segment_mcus = 0, segments = 0, segment_tiles = 0, tiles = 0;
  // Their names state what they divide by. With one segment, the last two give 0.
  JpegDivisor by_mcu_blocks, by_mcus_w, by_segment_mcus, by_segment_tiles;
  JpegDivisor by_mcu_w[kJpegMaxComponents];
};

// For a picture of `width` x `height` samples, with a marker after every `restart_interval` MCUs
// (0: none). The table pairs are all 0. kUnsupported for a scan that may have 2^32 bits or more.
Status make_jpeg_scan_layout(uint32_t width, uint32_t height, const JpegFactors& factors,
                             uint32_t restart_interval, JpegScanLayout* layout);

struct JpegTilePlace {
  uint32_t segment;
  uint32_t first, count;  // blocks, in the order of the scan
  bool closes;            // the last one of its segment
};

CT_HD JpegTilePlace jpeg_tile_place(const JpegScanLayout& scan, uint32_t tile) {
  JpegTilePlace place;
  place.segment = scan.by_segment_tiles.quotient(tile);
  const uint32_t part = tile - place.segment * scan.segment_tiles;
  const uint32_t first = place.segment * scan.segment_mcus * scan.mcu_blocks;
  const uint32_t all = scan.segment_mcus * scan.mcu_blocks;
  const uint32_t left = scan.blocks - first;
  const uint32_t own = all < left ? all : left;  // of the segment
  const uint32_t before = part * kJpegTileBlocks;
  place.first = first + before;
  // The last segment may have fewer tiles than the others; those that it has not are after it.
  place.count = own - before < kJpegTileBlocks ? own - before : kJpegTileBlocks;
  place.closes = before + place.count == own;
  return place;
}

// A block, and the one whose DC quantized coefficient is subtracted from its own: of the same
// component.
struct JpegBlockPlace {
  uint32_t component;
  uint32_t x, y;
  uint32_t before_x, before_y;
  bool is_dummy;
  bool has_before;  // else the DC quantized coefficient is coded as it is
};

CT_HD JpegBlockPlace jpeg_block_place(const JpegScanLayout& scan, uint32_t number) {
  const uint32_t mcu = scan.by_mcu_blocks.quotient(number);
  const uint32_t part = number - mcu * scan.mcu_blocks;
  const uint32_t mcu_y = scan.by_mcus_w.quotient(mcu);
  const uint32_t mcu_x = mcu - mcu_y * scan.mcus_w;
  // The MCU before this one.
  const uint32_t last_x = mcu_x > 0 ? mcu_x - 1 : scan.mcus_w - 1;
  const uint32_t last_y = mcu_x > 0 ? mcu_y : mcu_y - 1;
  JpegBlockPlace place;
  place.is_dummy = false;
  place.has_before = mcu != scan.by_segment_mcus.quotient(mcu) * scan.segment_mcus;
  uint32_t c = scan.components - 1;
  while (part < scan.mcu_first[c]) --c;
  place.component = c;
  const uint32_t w = scan.mcu_w[c], h = scan.mcu_h[c];
  if (w * h == 1) {
    place.x = mcu_x;
    place.y = mcu_y;
    place.before_x = last_x;
    place.before_y = last_y;
    return place;
  }
  const auto least = [](uint32_t a, uint32_t b) { return a < b ? a : b; };
  const uint32_t own = part - scan.mcu_first[c];  // of the component's in the MCU
  const uint32_t y = scan.by_mcu_w[c].quotient(own);
  const uint32_t x = own - y * w;
  // Columns and rows of this MCU that are in the picture: at least one.
  const uint32_t columns = least(w, scan.blocks_w[c] - mcu_x * w);
  const uint32_t rows = least(h, scan.blocks_h[c] - mcu_y * h);
  place.x = mcu_x * w + x;
  place.y = mcu_y * h + y;
  place.is_dummy = x >= columns || y >= rows;
  if (x > 0) {
    place.before_x = place.x - 1;
    place.before_y = place.y;
  } else if (y > 0) {
    place.before_x = mcu_x * w + columns - 1;
    place.before_y = place.y - 1;
  } else {
    place.before_x = last_x * w + least(w, scan.blocks_w[c] - last_x * w) - 1;
    place.before_y = last_y * h + least(h, scan.blocks_h[c] - last_y * h) - 1;
  }
  place.has_before = place.has_before || own > 0;
  return place;
}

}  // namespace cudatransform
