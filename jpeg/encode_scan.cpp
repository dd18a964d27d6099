// Parallel Huffman coding on the host, a tile after the other, as the CUDA engine's kernels do it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jpeg/encode_scan.h"

#include <algorithm>
#include <new>
#include <vector>

#include "jpeg/encode_bits.h"

namespace cudatransform {
namespace {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kTileWords = kJpegMaxTileBits / 32 + 3;  // bits may reach into one more

Status invalid(const char* what) { return Status::error(StatusCode::kInvalidArgument, what); }

// A block in zigzag order, with the difference of DC quantized coefficients in front.
struct Block {
  uint32_t table_pair;
  int32_t qcoefs[64] = {};
};

class Scan {
 public:
  explicit Scan(const JpegEncodeJob& job) : job_(job), layout_(job.layout) {}

  uint32_t faults() const { return faults_; }

  Block block(uint32_t number) {
    const JpegBlockPlace place = jpeg_block_place(layout_, number);
    Block block;
    block.table_pair = layout_.table_pair[place.component];
    if (place.is_dummy) return block;
    const int16_t* qcoefs = at(place.component, place.x, place.y);
    for (uint32_t k = 1; k < 64; ++k)
      block.qcoefs[k] = plain(qcoefs[jpeg_natural_index(k)], -kJpegPlainAc, kJpegPlainAc);
    block.qcoefs[0] = plain_dc(qcoefs[0]);
    if (place.has_before)
      block.qcoefs[0] -= plain_dc(at(place.component, place.before_x, place.before_y)[0]);
    return block;
  }

  // Calls `function` with each lane's symbols.
  template <typename Function>
  static void for_lanes(const Block& block, const Function& function) {
    uint32_t evens = 0, odds = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      evens |= uint32_t{block.qcoefs[2 * lane] != 0} << lane;
      odds |= uint32_t{block.qcoefs[2 * lane + 1] != 0} << lane;
    }
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      function(jpeg_lane_symbols(lane, block.qcoefs[2 * lane], block.qcoefs[2 * lane + 1], evens,
                                 odds, kJpegDcSymbols));
  }

  // Appends the words of a tile to `*words`: its code in the first bits, then zeros.
  JpegTile code(const JpegTilePlace& place, std::vector<uint32_t>* words) {
    const size_t at = words->size();
    JpegTile tile = {};
    tile.words_at = static_cast<uint32_t>(at);
    words->resize(at + kTileWords);
    uint32_t* const to = words->data() + at;
    const auto put = [&](uint32_t code, uint32_t extra) {
      const uint32_t length = jpeg_code_length(code);
      if (length == 0) {
        faults_ |= kJpegNoCode;
        return;
      }
      jpeg_put_bits(tile.bits, jpeg_code_bits(code) | extra, length,
                    [&](uint32_t i, uint32_t word) { to[i] |= word; });
      tile.bits += length;
    };
    for (uint32_t i = 0; i < place.count; ++i) {
      const Block own = block(place.first + i);
      const uint32_t* codes = job_.codes->of[own.table_pair];
      for_lanes(own, [&](const JpegLaneSymbols& lane) {
        for (uint32_t n = 0; n < lane.long_runs; ++n) put(codes[kJpegLongRun], 0);
        for (int s = 0; s < 2; ++s)
          if (lane.has[s]) put(codes[lane.symbols[s].index], lane.symbols[s].extra);
      });
    }
    describe(to, &tile);
    words->resize(at + tile.bits / 32 + 2);
    return tile;
  }

 private:
  const int16_t* at(uint32_t component, uint32_t x, uint32_t y) const {
    const JpegEncodePlane& plane = job_.qcoefs[component];
    const auto* row = reinterpret_cast<const uint8_t*>(plane.data) + ptrdiff_t{y} * plane.stride;
    return reinterpret_cast<const int16_t*>(row) + size_t{x} * 64;
  }
  int32_t plain(int32_t qcoef, int32_t least, int32_t most) {
    if (qcoef < least || qcoef > most) faults_ |= kJpegQcoefsNotPlain;
    return std::clamp(qcoef, least, most);
  }
  int32_t plain_dc(int32_t qcoef) { return plain(qcoef, -kJpegPlainDc - 1, kJpegPlainDc); }
  static void describe(const uint32_t* words, JpegTile* tile) {
    const uint32_t last = tile->bits / 32;
    for (uint32_t i = 0; i <= last; ++i) {
      const uint32_t ones = jpeg_ones_in_a_row(words[i], i < last ? words[i + 1] : 0);
      for (uint32_t bit = 0; bit < 32; ++bit) tile->ones[bit % 8] += ones >> (31 - bit) & 1;
    }
    tile->head = jpeg_tile_head(words[0], tile->bits);
    tile->tail = jpeg_tile_tail(last > 0 ? words[last - 1] : 0, words[last], tile->bits);
  }

  const JpegEncodeJob& job_;
  const JpegScanLayout& layout_;
  uint32_t faults_ = 0;
};

// Assigns tiles their positions. Returns the size of the scan with its end marker.
uint32_t place_tiles(const JpegScanLayout& layout, std::vector<JpegTile>* tiles) {
  uint32_t position = 0, stuffed = 0;
  for (uint32_t t = 0; t < layout.tiles; ++t) {
    JpegTile& tile = (*tiles)[t];
    const bool closes = jpeg_tile_place(layout, t).closes;
    tile.position = position;
    tile.stuffed = stuffed;
    stuffed += jpeg_tile_ff_bytes(tile, position, closes ? 0xff : (*tiles)[t + 1].head);
    position = jpeg_advance(position, jpeg_tile_span(tile.bits, closes));
  }
  return position / 8 + stuffed;
}

// Bytes that begin in a tile, stuffed, and the marker after it.
void write_tile(const JpegScanLayout& layout, uint32_t number, const std::vector<JpegTile>& tiles,
                const uint32_t* words, uint8_t* output) {
  const JpegTile& tile = tiles[number];
  const JpegTilePlace place = jpeg_tile_place(layout, number);
  const uint32_t next = place.closes ? 0xff : tiles[number + 1].head;
  uint8_t* to = output + (tile.position + 7) / 8 + tile.stuffed;
  const uint32_t count = jpeg_tile_bytes(tile.position, tile.bits);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t bit = jpeg_first_byte(tile.position) + 8 * i;
    const uint32_t* word = words + tile.words_at + bit / 32;
    const uint64_t two = uint64_t{word[0]} << 32 | (bit % 32 > 24 ? word[1] : 0);
    uint32_t byte = static_cast<uint32_t>(two >> (56 - bit % 32)) & 0xff;
    if (bit + 8 > tile.bits) byte |= next >> (tile.bits - bit);
    *to++ = static_cast<uint8_t>(byte);
    if (byte == 0xff) *to++ = 0;
  }
  if (!place.closes) return;
  *to++ = 0xff;
  *to = static_cast<uint8_t>(number + 1 == layout.tiles ? 0xd9 : 0xd0 + place.segment % 8);
}

Status out_of_memory() {
  return Status::error(StatusCode::kOutOfMemory, "no memory for the codes of a JPEG scan");
}

}  // namespace

Status validate(const JpegEncodeJob& job, bool counts) {
  const JpegScanLayout& scan = job.layout;
  if (scan.tiles == 0 || scan.segment_tiles == 0 || scan.blocks == 0)
    return invalid("empty scan layout");
  for (uint32_t c = 0; c < scan.components; ++c) {
    const JpegEncodePlane& plane = job.qcoefs[c];
    const auto row_bytes = static_cast<ptrdiff_t>(scan.blocks_w[c] * 64 * sizeof(int16_t));
    if (plane.data == nullptr || reinterpret_cast<uintptr_t>(plane.data) % sizeof(int16_t) != 0 ||
        plane.stride % static_cast<ptrdiff_t>(sizeof(int16_t)) != 0 || plane.stride < row_bytes)
      return invalid("null or unaligned coefficients, or overlapping rows");
    if (scan.table_pair[c] >= kJpegTablePairs) return invalid("component without Huffman tables");
  }
  if (counts) return job.counts != nullptr ? Status{} : invalid("null counts");
  if (job.codes == nullptr || job.output == nullptr || job.result == nullptr)
    return invalid("null codes, output or result");
  for (const auto& codes : job.codes->of)
    for (uint32_t i = 0; i < kJpegSymbols; ++i) {
      const uint32_t length = jpeg_code_length(codes[i]), size = i % 16;
      const bool used = size <= (i < kJpegDcSymbols ? kJpegAcSizes : kJpegDcSizes);
      if (length > (used ? 16 + size : 0) || uint64_t{jpeg_code_bits(codes[i])} >> length != 0)
        return invalid("Huffman code longer than 16 bits");
    }
  return {};
}

Status encode_jpeg_scan(const JpegEncodeJob& job) {
  Scan scan(job);
  std::vector<uint32_t> words;
  std::vector<JpegTile> tiles;
  try {
    for (uint32_t t = 0; t < job.layout.tiles; ++t)
      tiles.push_back(scan.code(jpeg_tile_place(job.layout, t), &words));
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
  job.result->size = place_tiles(job.layout, &tiles);
  job.result->faults =
      scan.faults() | (job.result->size > job.capacity ? uint32_t{kJpegNoRoom} : 0);
  if (job.result->faults != 0) return {};
  for (uint32_t t = 0; t < job.layout.tiles; ++t)
    write_tile(job.layout, t, tiles, words.data(), job.output);
  return {};
}

void count_jpeg_symbols(const JpegEncodeJob& job) {
  Scan scan(job);
  *job.counts = {};
  for (uint32_t i = 0; i < job.layout.blocks; ++i) {
    const Block block = scan.block(i);
    uint32_t* counts = job.counts->of[block.table_pair];
    Scan::for_lanes(block, [&](const JpegLaneSymbols& lane) {
      counts[kJpegLongRun] += lane.long_runs;
      for (int s = 0; s < 2; ++s)
        if (lane.has[s]) ++counts[lane.symbols[s].index];
    });
  }
}

}  // namespace cudatransform
