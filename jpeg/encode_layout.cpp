// The numbers of a scan: MCUs, segments, tiles.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jpeg/encode_layout.h"

#include <algorithm>

#include "jpeg/encode_bits.h"
#include "jpeg/huffman_steps.h"

namespace cudatransform {
namespace {

uint32_t divide_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

constexpr uint32_t kMaxSize = 65535;      // of a picture
constexpr uint32_t kMaxInterval = 65535;  // MCUs

uint32_t mcu_blocks(uint32_t components, uint32_t h, uint32_t v) {
  return components < 4 ? h * v + components - 1 : 2 * h * v + 2;
}

}  // namespace

Status make_jpeg_scan_layout(uint32_t width, uint32_t height, uint32_t components, uint32_t h,
                             uint32_t v, uint32_t restart_interval, JpegScanLayout* layout) {
  const bool one = components == 1;
  if (width < 1 || height < 1 || width > kMaxSize || height > kMaxSize ||
      (!one && components != 3 && components != 4) || h < 1 || v < 1 || h > 4 || v > 4 ||
      (one && h * v > 1) || mcu_blocks(components, h, v) > kMaxMcuBlocks ||
      restart_interval > kMaxInterval)
    return Status::error(StatusCode::kInvalidArgument, "invalid JPEG scan");
  JpegScanLayout& scan = *layout;
  scan = {};
  scan.components = components;
  scan.h = h;
  scan.v = v;
  for (uint32_t c = 0; c < components; ++c) {
    const bool is_full = c == 0 || c == 3;
    scan.blocks_w[c] = divide_up(width, 8 * (is_full ? 1 : h));
    scan.blocks_h[c] = divide_up(height, 8 * (is_full ? 1 : v));
  }
  scan.mcus_w = divide_up(width, 8 * h);
  scan.mcu_blocks = mcu_blocks(components, h, v);
  const uint32_t mcus = scan.mcus_w * divide_up(height, 8 * v);
  scan.segment_mcus = restart_interval == 0 ? mcus : std::min(mcus, restart_interval);
  scan.segments = divide_up(mcus, scan.segment_mcus);
  const uint64_t blocks = uint64_t{mcus} * scan.mcu_blocks;
  // A segment's padding and marker, the end of the last byte, and room for sums.
  const uint64_t max_bits = blocks * kJpegMaxBlockBits + uint64_t{scan.segments} * 32 + 64;
  if (max_bits >= uint64_t{1} << 32)
    return Status::error(StatusCode::kUnsupported,
                         "a scan of " + std::to_string(blocks) + " blocks is too large");
  scan.blocks = static_cast<uint32_t>(blocks);
  const uint32_t segment_blocks = scan.segment_mcus * scan.mcu_blocks;
  scan.segment_tiles = divide_up(segment_blocks, kJpegTileBlocks);
  scan.tiles = (scan.segments - 1) * scan.segment_tiles +
               divide_up(scan.blocks - (scan.segments - 1) * segment_blocks, kJpegTileBlocks);
  static_assert(uint64_t{1} << 32 < uint64_t{JpegDivisor::kMaxDivided} * kJpegMaxBlockBits);
  static_assert(kMaxInterval <= JpegDivisor::kMax && kMaxSize <= JpegDivisor::kMax);
  scan.by_mcu_blocks = JpegDivisor(scan.mcu_blocks);
  scan.by_mcus_w = JpegDivisor(scan.mcus_w);
  scan.by_h = JpegDivisor(h);
  if (scan.segments > 1) {
    scan.by_segment_mcus = JpegDivisor(scan.segment_mcus);
    scan.by_segment_tiles = JpegDivisor(scan.segment_tiles);
  }
  return {};
}

}  // namespace cudatransform
