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

bool are_valid(const JpegFactors& factors) {
  const uint32_t count = factors.components;
  if (count < 1 || count > kJpegMaxComponents) return false;
  uint32_t blocks = 0;
  for (uint32_t c = 0; c < count; ++c) {
    const uint32_t h = factors.h[c], v = factors.v[c];
    if (h < 1 || h > 4 || v < 1 || v > 4) return false;
    blocks += h * v;
  }
  // An MCU of one component is a block, for any factors.
  return blocks <= (count == 1 ? 1 : kMaxMcuBlocks);
}

}  // namespace

Status make_jpeg_scan_layout(uint32_t width, uint32_t height, const JpegFactors& factors,
                             uint32_t restart_interval, JpegScanLayout* layout) {
  if (width < 1 || height < 1 || width > kMaxSize || height > kMaxSize || !are_valid(factors) ||
      restart_interval > kMaxInterval)
    return Status::error(StatusCode::kInvalidArgument, "invalid JPEG scan");
  JpegScanLayout& scan = *layout;
  scan = {};
  scan.components = factors.components;
  const uint32_t max_h = *std::max_element(factors.h, factors.h + factors.components);
  const uint32_t max_v = *std::max_element(factors.v, factors.v + factors.components);
  for (uint32_t c = 0; c < factors.components; ++c) {
    scan.mcu_w[c] = factors.h[c];
    scan.mcu_h[c] = factors.v[c];
    scan.mcu_first[c] = scan.mcu_blocks;
    scan.mcu_blocks += factors.h[c] * factors.v[c];
    scan.blocks_w[c] = divide_up(width * factors.h[c], 8 * max_h);
    scan.blocks_h[c] = divide_up(height * factors.v[c], 8 * max_v);
    scan.by_mcu_w[c] = JpegDivisor(factors.h[c]);
  }
  scan.mcus_w = divide_up(width, 8 * max_h);
  const uint32_t mcus = scan.mcus_w * divide_up(height, 8 * max_v);
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
  if (scan.segments > 1) {
    scan.by_segment_mcus = JpegDivisor(scan.segment_mcus);
    scan.by_segment_tiles = JpegDivisor(scan.segment_tiles);
  }
  return {};
}

}  // namespace cudatransform
