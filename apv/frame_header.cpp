// The header of an APV frame, and what follows from it: components, macroblocks, tiles.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/frame_header.h"

#include <algorithm>
#include <string>

#include "apv/bits.h"

namespace cudatransform {

namespace {

Status damaged(const std::string& message) {
  return Status::error(StatusCode::kInvalidArgument, "frame header: " + message);
}

Status read_info(ApvFields& fields, ApvFrameInfo* info) {
  info->profile = static_cast<uint8_t>(fields.number(8));
  info->level = static_cast<uint8_t>(fields.number(8));
  info->band = static_cast<uint8_t>(fields.number(3));
  fields.zeros(5);
  info->width = fields.number(24);
  info->height = fields.number(24);
  const uint32_t chroma = fields.number(4);
  info->depth = 8 + static_cast<int>(fields.number(4));
  (void)fields.number(8);  // capture_time_distance
  fields.zeros(8);
  if (info->width == 0 || info->height == 0) {
    return damaged("size " + std::to_string(info->width) + "x" + std::to_string(info->height) +
                   ", expected at least 1x1");
  }
  if (chroma == 1 || chroma > 4)
    return damaged("chroma format " + std::to_string(chroma) + ", expected 0, 2, 3 or 4");
  info->chroma = static_cast<ApvChroma>(chroma);
  if (info->depth < kMinApvDepth || info->depth > kMaxApvDepth) {
    return damaged(std::to_string(info->depth) + " bits, expected " + std::to_string(kMinApvDepth) +
                   " to " + std::to_string(kMaxApvDepth));
  }
  if (info->chroma == ApvChroma::k422 && info->width % 2 != 0)
    return damaged("width " + std::to_string(info->width) + " of 4:2:2, expected an even one");
  return {};
}

void read_color(ApvFields& fields, ApvColor* color) {
  if (!fields.flag()) return;
  color->primaries = static_cast<uint8_t>(fields.number(8));
  color->transfer = static_cast<uint8_t>(fields.number(8));
  color->matrix = static_cast<uint8_t>(fields.number(8));
  color->full_range = fields.flag();
}

Status read_matrices(ApvFields& fields, ApvFrameHeader* header) {
  constexpr uint8_t kFlat = 16;
  for (auto& matrix : header->matrix) std::fill(std::begin(matrix), std::end(matrix), kFlat);
  if (!fields.flag()) return {};
  for (int c = 0; c < header->info.components(); ++c) {
    for (uint8_t& entry : header->matrix[c]) {
      entry = static_cast<uint8_t>(fields.number(8));
      if (entry == 0) return damaged("entry 0 of a quantization matrix");
    }
  }
  return {};
}

Status read_tiles(ApvFields& fields, ApvFrameHeader* header) {
  const uint32_t across = fields.number(20), down = fields.number(20);
  CT_RETURN_IF_ERROR(header->set_tiles(across, down));
  // The same sizes precede the tiles.
  if (fields.flag())
    for (int i = 0; i < header->tiles(); ++i) (void)fields.number(32);
  return {};
}

}  // namespace

Status ApvFrameHeader::set_tiles(uint32_t across, uint32_t down) {
  if (across == 0 || down == 0) {
    return damaged("tiles of " + std::to_string(across) + "x" + std::to_string(down) +
                   " macroblocks");
  }
  const uint64_t columns = (uint64_t{info.mbs_across()} + across - 1) / across;
  const uint64_t rows = (uint64_t{info.mbs_down()} + down - 1) / down;
  if (columns > kMaxApvTiles || rows > kMaxApvTiles) {
    return damaged(std::to_string(columns) + "x" + std::to_string(rows) +
                   " tiles, expected up to " + std::to_string(kMaxApvTiles) + " per dimension");
  }
  tile_mbs_across = across;
  tile_mbs_down = down;
  tile_columns = static_cast<int>(columns);
  tile_rows = static_cast<int>(rows);
  return {};
}

ApvTileArea ApvFrameHeader::area(int tile) const {
  ApvTileArea area;
  area.mb_x = static_cast<uint32_t>(tile % tile_columns) * tile_mbs_across;
  area.mb_y = static_cast<uint32_t>(tile / tile_columns) * tile_mbs_down;
  area.mbs_across = std::min(tile_mbs_across, info.mbs_across() - area.mb_x);
  area.mbs_down = std::min(tile_mbs_down, info.mbs_down() - area.mb_y);
  return area;
}

Status read_apv_header(std::span<const uint8_t> payload, ApvFrameHeader* header) {
  *header = {};
  ApvFields fields(payload);
  CT_RETURN_IF_ERROR(read_info(fields, &header->info));
  fields.zeros(8);
  read_color(fields, &header->color);
  CT_RETURN_IF_ERROR(read_matrices(fields, header));
  CT_RETURN_IF_ERROR(read_tiles(fields, header));
  fields.zeros(8);
  fields.align();
  if (fields.overran()) return damaged("incomplete");
  if (fields.has_reserved()) return damaged("reserved bits are not zero");
  header->bytes = fields.bytes();
  return {};
}

}  // namespace cudatransform
