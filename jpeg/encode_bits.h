// The arithmetic of parallel Huffman coding, step by step; for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ITU-T T.81, F.1.2. A lane codes two quantized coefficients that follow each other in zigzag
// order, 32 lanes a block. Which symbols they make depends on the other quantized coefficients only
// by which of them are zero, so lanes only exchange two words of bits (of quantized coefficients at
// even and at odd positions). Everything is counted in bits from the beginning of the tile, until
// the lengths of all tiles are known; bits are written into 32-bit words, the first into the
// highest.
#pragma once

#include <bit>
#include <cstdint>

#include "jpeg/encode_layout.h"

namespace cudatransform {

// ---- Quantized coefficients to symbols ----

inline constexpr int kJpegPlainAc = 1023;  // magnitude
inline constexpr int kJpegPlainDc =
    1023;  // of the quantized coefficient or, if it is negative, of its complement

// The index in a block in natural order of position `k` in zigzag order (T.81, figure 5).
constexpr uint64_t jpeg_zigzag_row(uint32_t eighth) {
  uint64_t indices = 0;
  uint32_t k = 0;
  for (uint32_t diagonal = 0; diagonal < 15; ++diagonal) {
    for (uint32_t step = 0; step <= diagonal; ++step) {
      const uint32_t u = diagonal % 2 == 0 ? step : diagonal - step;
      const uint32_t v = diagonal - u;
      if (u > 7 || v > 7) continue;
      if (k / 8 == eighth) indices |= uint64_t{8 * v + u} << (8 * (k % 8));
      ++k;
    }
  }
  return indices;
}
CT_HD uint32_t jpeg_natural_index(uint32_t k) {
  static constexpr uint64_t kIndices[8] = {
      jpeg_zigzag_row(0), jpeg_zigzag_row(1), jpeg_zigzag_row(2), jpeg_zigzag_row(3),
      jpeg_zigzag_row(4), jpeg_zigzag_row(5), jpeg_zigzag_row(6), jpeg_zigzag_row(7)};
  return static_cast<uint32_t>(kIndices[k / 8] >> (8 * (k % 8))) & 63;
}

// The bits of a number without leading zeros.
CT_HD uint32_t jpeg_bit_width(uint32_t word) {
#ifdef __CUDA_ARCH__
  return 32 - static_cast<uint32_t>(__clz(static_cast<int>(word)));
#else
  return static_cast<uint32_t>(std::bit_width(word));
#endif
}

inline constexpr uint32_t kJpegAcSizes = 10, kJpegDcSizes = 11;  // the most bits after a code

struct JpegSymbol {
  uint32_t index;  // in JpegCodes
  uint32_t extra;  // the bits after the code
};

// A quantized coefficient, or a difference of DC quantized coefficients, of no more than `most`
// bits, after `before`: the run of zeros in front of it in bits 4 to 7, or kJpegDcSymbols.
CT_HD JpegSymbol jpeg_symbol(uint32_t before, int32_t value, uint32_t most) {
  const uint32_t width = jpeg_bit_width(static_cast<uint32_t>(value < 0 ? -value : value));
  const uint32_t size = width < most ? width : most;
  JpegSymbol symbol;
  symbol.index = before + size;
  symbol.extra = static_cast<uint32_t>(value + (value >> 31)) & ((1u << size) - 1);
  return symbol;
}

// The symbols of a lane: up to three runs of 16 zeros (ZRL), then up to two others.
struct JpegLaneSymbols {
  uint32_t long_runs;
  bool has[2];
  JpegSymbol symbols[2];
};
inline constexpr uint32_t kJpegLongRun = 0xf0, kJpegEndOfBlock = 0;

// The symbols of lane `lane`, whose quantized coefficients are `even` and `odd`; lane 0 has the
// difference of DC quantized coefficients for an even one. Bit i of `evens` and `odds`: lane i has
// one that is not zero. The end of the block is lane 31's, which has no other symbol at its last
// position then.
CT_HD JpegLaneSymbols jpeg_lane_symbols(uint32_t lane, int32_t even, int32_t odd, uint32_t evens,
                                        uint32_t odds, uint32_t dc_symbols) {
  const uint32_t below = (1u << lane) - 1;
  const uint32_t evens_before = (evens | 1) & below, odds_before = odds & below;
  // The zeros between the last quantized coefficient before this lane and the lane's first.
  uint32_t last = 0;
  if (lane > 0) {
    last = 2 * jpeg_bit_width(evens_before) - 2;
    const uint32_t after_odd = 2 * jpeg_bit_width(odds_before);
    if (after_odd > last) last = after_odd - 1;
  }
  const uint32_t run = lane == 0 ? 0 : 2 * lane - last - 1;
  const bool codes_even = lane == 0 || even != 0;
  const uint32_t odd_run = codes_even ? 0 : run + 1;
  JpegLaneSymbols all;
  all.has[0] = codes_even;
  all.has[1] = odd != 0 || lane == 31;
  all.symbols[0] = jpeg_symbol(lane == 0 ? dc_symbols : (run & 15) << 4, even,
                               lane == 0 ? kJpegDcSizes : kJpegAcSizes);
  all.symbols[1] = jpeg_symbol(odd == 0 ? kJpegEndOfBlock : (odd_run & 15) << 4, odd, kJpegAcSizes);
  const uint32_t first_run = codes_even ? run : odd_run;
  all.long_runs = codes_even || odd != 0 ? first_run >> 4 : 0;
  return all;
}

// ---- Symbols to bits ----

// A code of `length` bits as it is in JpegCodes: shifted to make room for `size` extra bits, above
// the number of all bits.
CT_HD uint32_t jpeg_code(uint32_t code, uint32_t length, uint32_t size) {
  return code << (size + 5) | (length + size);
}
CT_HD uint32_t jpeg_code_length(uint32_t code) { return code & 31; }
CT_HD uint32_t jpeg_code_bits(uint32_t code) { return code >> 5; }

inline constexpr uint32_t kJpegMaxDcBits = 16 + kJpegDcSizes;
inline constexpr uint32_t kJpegMaxAcBits = 16 + kJpegAcSizes;
inline constexpr uint32_t kJpegMaxBlockBits = kJpegMaxDcBits + 63 * kJpegMaxAcBits;
inline constexpr uint32_t kJpegMaxTileBits = kJpegTileBlocks * kJpegMaxBlockBits;

// ORs `length` bits, 1 to 32, into words that were zero there, from bit `at` on: `put(i, bits)` is
// called for the words that receive any.
template <typename Put>
CT_HD void jpeg_put_bits(uint32_t at, uint32_t bits, uint32_t length, const Put& put) {
  const uint32_t top = bits << (32 - length);
  const uint32_t word = at / 32, shift = at % 32;
  put(word, top >> shift);
  if (shift + length > 32) put(word + 1, top << (32 - shift));
}

// ---- Tiles to bytes ----

// FF bytes are followed by a zero. Which bytes there will be depends on where the tile begins; so
// it counts eight ones in a row for each of the eight alignments. For the 32 positions from the
// beginning of `word` on: the highest bit is the first position.
CT_HD uint32_t jpeg_ones_in_a_row(uint32_t word, uint32_t next) {
  uint64_t ones = uint64_t{word} << 32 | next;
  ones &= ones << 1;
  ones &= ones << 2;
  ones &= ones << 4;
  return static_cast<uint32_t>(ones >> 32);
}

// The results of a tile.
struct JpegTile {
  uint32_t bits;
  uint32_t words_at;    // where its words are
  uint32_t head, tail;  // its first 8 bits, followed by ones if it has fewer; its last 8
  uint16_t ones[8];     // eight ones in a row, by their position modulo 8
  uint32_t position;    // in the file without stuffing: bits
  uint32_t stuffed;     // bytes that are stuffed before it
};

// The first 8 bits of `bits` that begin with `word`.
CT_HD uint32_t jpeg_tile_head(uint32_t word, uint32_t bits) {
  return word >> 24 | (bits < 8 ? 0xffu >> bits : 0);
}
// The last 8 of `bits` whose last words are `word` and, where they reach into it, `last`: that of
// number bits / 32.
CT_HD uint32_t jpeg_tile_tail(uint32_t word, uint32_t last, uint32_t bits) {
  return static_cast<uint32_t>((uint64_t{word} << 32 | last) >> (32 - bits % 32)) & 0xff;
}

// How positions grow over a number of tiles: by bits; and at the end of a segment to a byte's
// beginning, and by a marker.
struct JpegSpan {
  uint32_t open;    // bits up to the first end of a segment
  uint32_t closed;  // bits after it
  bool closes;      // whether there is one
};
inline constexpr uint32_t kJpegMarkerBits = 16;

CT_HD uint32_t jpeg_whole_bytes(uint32_t bits) { return (bits + 7) & ~7u; }
CT_HD JpegSpan jpeg_tile_span(uint32_t bits, bool closes) {
  return {bits, closes ? kJpegMarkerBits : 0, closes};
}
CT_HD uint32_t jpeg_advance(uint32_t position, const JpegSpan& span) {
  const uint32_t end = position + span.open;
  return span.closes ? jpeg_whole_bytes(end) + span.closed : end;
}
// First `a`, then `b`.
CT_HD JpegSpan jpeg_join(const JpegSpan& a, const JpegSpan& b) {
  if (!a.closes) return {a.open + b.open, b.closed, b.closes};
  return {a.open, jpeg_advance(a.closed, b), true};
}

// Bytes that begin in `bits` bits from `position` on.
CT_HD uint32_t jpeg_tile_bytes(uint32_t position, uint32_t bits) {
  return (position + bits + 7) / 8 - (position + 7) / 8;
}
// The bit of the tile at which its first byte begins.
CT_HD uint32_t jpeg_first_byte(uint32_t position) { return (8 - position % 8) % 8; }

// FF bytes among those that begin in `tile`, which begins at `position`. The last of them may need
// bits of the next tile, whose head is `next`; at the end of a segment they are ones: `next` is ff.
CT_HD uint32_t jpeg_tile_ff_bytes(const JpegTile& tile, uint32_t position, uint32_t next) {
  const uint32_t within = tile.ones[jpeg_first_byte(position)];
  const uint32_t own = (position + tile.bits) % 8;  // bits of the last byte that are this tile's
  if (own == 0 || own > tile.bits) return within;
  const uint32_t ours = (1u << own) - 1;
  return within + ((tile.tail & ours) == ours && (next >> own) == (0xffu >> own) ? 1 : 0);
}

}  // namespace cudatransform
