// Writes streams of APV for tests: any coefficients, any header, and as many faults as a test
// wants.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/apv/encoder.h"

#include <algorithm>
#include <cstdlib>

namespace cudatransform::test {

namespace {

constexpr int kScan[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                           12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                           35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                           58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// g++ 12 sees reads beyond an end in insert(), where there are none.
void append(ApvBytes* to, const ApvBytes& bytes) {
  for (const uint8_t byte : bytes) to->push_back(byte);
}

void append_number(ApvBytes* to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to->push_back(static_cast<uint8_t>(value >> shift));
}

// The blocks of a component in a tile, in coding order.
std::vector<std::vector<int16_t>> blocks_of(const ApvPictureToWrite& picture, int component,
                                            uint32_t mb_x, uint32_t mb_y) {
  const ApvFrameInfo info = picture.info();
  const uint32_t mb_width = info.mb_blocks_across(component);
  const uint32_t across = info.mbs_across() * mb_width;
  std::vector<std::vector<int16_t>> blocks;
  for (uint32_t y = mb_y; y < std::min(mb_y + picture.tile_mbs_down, info.mbs_down()); ++y) {
    for (uint32_t x = mb_x; x < std::min(mb_x + picture.tile_mbs_across, info.mbs_across()); ++x) {
      for (uint32_t i = 0; i < 2 * mb_width; ++i) {
        const size_t at =
            size_t{64} * ((2 * y + i / mb_width) * across + x * mb_width + i % mb_width);
        std::vector<int16_t> block(64);
        if (at + 64 <= picture.coefs[component].size())
          std::copy_n(picture.coefs[component].begin() + static_cast<ptrdiff_t>(at), 64,
                      block.begin());
        blocks.push_back(std::move(block));
      }
    }
  }
  return blocks;
}

ApvBytes encode_tile(const ApvPictureToWrite& picture, uint32_t index, uint32_t mb_x,
                     uint32_t mb_y) {
  const auto components = static_cast<uint32_t>(picture.info().components());
  std::vector<ApvBytes> chains;
  for (uint32_t c = 0; c < components; ++c)
    chains.push_back(encode_apv_chain(blocks_of(picture, static_cast<int>(c), mb_x, mb_y)));
  ApvBytes tile;
  const uint32_t header = 5 + 5 * components;
  append_number(&tile, header << 16 | index);
  for (const ApvBytes& chain : chains) append_number(&tile, static_cast<uint32_t>(chain.size()));
  tile.insert(tile.end(), components, static_cast<uint8_t>(picture.qp));
  tile.push_back(0);
  for (const ApvBytes& chain : chains) append(&tile, chain);
  ApvBytes sized;
  append_number(&sized, static_cast<uint32_t>(tile.size()));
  append(&sized, tile);
  return sized;
}

}  // namespace

void ApvBitWriter::put_value(uint32_t value, int k) {
  if (value < 1u << k) return put(1u << k | value, 1 + k);
  if (value < 2u << k) return put(value - (1u << k), 2 + k);
  int n = 0;
  while (value - (((1u << n) + 1) << k) >= 1u << (k + n)) ++n;
  put(1, 2);
  put(1, n + 1);
  put(value - (((1u << n) + 1) << k), k + n);
}

ApvBytes encode_apv_chain(const std::vector<std::vector<int16_t>>& blocks) {
  ApvBitWriter writer;
  int last_dc = 0, difference = 20, first = 0;
  for (const std::vector<int16_t>& block : blocks) {
    const int signed_difference = block[0] - last_dc;
    writer.put_value(static_cast<uint32_t>(std::abs(signed_difference)),
                     std::min(difference / 2, 5));
    if (signed_difference != 0) writer.put(signed_difference < 0, 1);
    difference = std::abs(signed_difference);
    last_dc = block[0];
    int last_run = 0, level = first;
    bool is_first = true;
    for (int at = 1; at < 64; ++at) {
      int run = 0;
      while (at + run < 64 && block[static_cast<size_t>(kScan[at + run])] == 0) ++run;
      writer.put_value(static_cast<uint32_t>(run), std::min(last_run / 4, 2));
      last_run = run;
      at += run;
      if (at == 64) break;
      const int coef = block[static_cast<size_t>(kScan[at])];
      writer.put_value(static_cast<uint32_t>(std::abs(coef) - 1), std::min(level / 4, 4));
      writer.put(coef < 0, 1);
      level = std::abs(coef);
      if (is_first) first = level;
      is_first = false;
    }
  }
  return writer.bytes();
}

ApvFrameInfo ApvPictureToWrite::info() const {
  ApvFrameInfo info;
  info.width = width;
  info.height = height;
  info.chroma = chroma;
  info.depth = depth;
  return info;
}

ApvPictureToWrite random_apv_picture(std::mt19937& random, ApvChroma chroma, int depth,
                                     uint32_t width, uint32_t height, uint32_t density) {
  ApvPictureToWrite picture;
  picture.width = width;
  picture.height = height;
  picture.chroma = chroma;
  picture.depth = depth;
  const ApvFrameInfo info = picture.info();
  for (int c = 0; c < info.components(); ++c) {
    picture.coefs[c].resize(64 * info.blocks(c));
    for (size_t i = 0; i < picture.coefs[c].size(); ++i) {
      if (random() % 64 >= density) continue;
      // Mostly small, sometimes of any size.
      const uint32_t bits = random() % 8 == 0 ? random() % 16 : random() % 5;
      const auto size = static_cast<int32_t>(random() % (1u << bits)) + 1;
      picture.coefs[c][i] = static_cast<int16_t>(random() % 2 == 0 ? size - 1 : -size);
    }
  }
  return picture;
}

ApvBytes encode_apv_frame(const ApvPictureToWrite& picture) {
  const ApvFrameInfo info = picture.info();
  ApvBitWriter header;
  header.put(33, 8);
  header.put(123, 8);
  header.put(2 << 5, 8);
  header.put(picture.width, 24);
  header.put(picture.height, 24);
  header.put(static_cast<uint64_t>(picture.chroma), 4);
  header.put(static_cast<uint64_t>(picture.depth - 8), 4);
  header.put(0, 8 + 8 + 8);
  const bool has_color = picture.color != ApvColor();
  header.put(has_color, 1);
  if (has_color) {
    for (const uint8_t code :
         {picture.color.primaries, picture.color.transfer, picture.color.matrix})
      header.put(code, 8);
    header.put(picture.color.full_range, 1);
  }
  header.put(!picture.matrix.empty(), 1);
  for (int c = 0; c < info.components(); ++c)
    for (const uint8_t entry : picture.matrix) header.put(entry, 8);
  header.put(picture.tile_mbs_across, 20);
  header.put(picture.tile_mbs_down, 20);
  header.put(0, 1 + 8);
  header.align();
  ApvBytes payload = header.bytes();
  uint32_t index = 0;
  for (uint32_t y = 0; y < info.mbs_down(); y += picture.tile_mbs_down)
    for (uint32_t x = 0; x < info.mbs_across(); x += picture.tile_mbs_across)
      append(&payload, encode_tile(picture, index++, x, y));
  return payload;
}

ApvBytes apv_unit(uint8_t type, const ApvBytes& payload, uint16_t group) {
  ApvBytes unit;
  append_number(&unit, static_cast<uint32_t>(payload.size() + 4));
  append_number(&unit, uint32_t{type} << 24 | uint32_t{group} << 8);
  append(&unit, payload);
  return unit;
}

ApvBytes apv_access_unit(const std::vector<ApvBytes>& units) {
  ApvBytes body = {'a', 'P', 'v', '1'};
  for (const ApvBytes& unit : units) append(&body, unit);
  ApvBytes sized;
  append_number(&sized, static_cast<uint32_t>(body.size()));
  append(&sized, body);
  return sized;
}

}  // namespace cudatransform::test
