// Quantized coefficients from the Huffman codes of a JPEG scan, a row of bits at a time, and the
// damage found on the way, for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/bounds.h"
#include "jpeg/huffman_steps.h"

namespace cudatransform {

// The evidence against a picture. Zero means that libjpeg finds none either; it may find less.
inline constexpr uint32_t kJpegNoSuchCode = 1, kJpegBeyondBlock = 2, kJpegTooLarge = 4,
                          kJpegWrongEnd = 8, kJpegNotSynchronized = 16, kJpegMoreMcus = 32;
// No evidence: all blocks are complete, and a byte or more follows them.
inline constexpr uint32_t kJpegLeftOver = 64;

// The rest of a segment after its last block is either nothing of the picture's, or blocks that
// the picture has no place for: then the segment was misread, or the header is wrong. Blocks are
// recognized by their end: in whole MCUs up to less than a byte of ones, as encoders end a segment
// (T.81, F.1.2.3). Zeros fill up buffers, and fewer bits than these may be MCUs by chance.
inline constexpr uint32_t kFewLeftOverBits = 64;
struct JpegLeftOver {
  uint32_t position;      // bit
  uint32_t index, block;  // coefficient, block of the segment
  bool is_valid = true;   // there were such codes, and they have stayed in their blocks
  bool are_mcus = false;  // if the walk has come to the end of the segment
};

// Decodes all codes that begin before bit `end`, even beyond the segment's blocks, which end at
// `blocks`.
template <typename Words, typename Tables>
CT_HD void walk_left_over(const Words& words, const Tables& tables, const JpegScanPlan& scan,
                          uint32_t blocks, uint32_t end, JpegLeftOver* left) {
  HuffmanBits<Words> bits(words, left->position);
  const uint32_t last_byte = end < 8 ? 0 : words[(end - 8) / 32] >> (24 - (end - 8) % 32) & 255;
  uint32_t index = left->index, block = left->block;
  while (true) {
    const uint32_t at = bits.position(), window = bits.window();
    const uint32_t in_mcu = block % scan.blocks_in_mcu;
    if (index == 0 && in_mcu == 0 && block > blocks && at <= end && end - at < 8 &&
        last_byte != 0 && (at == end || ~window >> (32 - (end - at)) == 0))
      left->are_mcus = true;
    if (at >= end || left->are_mcus) break;
    const uint32_t is_ac = index != 0 ? 1 : 0;
    const uint32_t entry = find_entry(tables.sets[scan.set[in_mcu]].codes[is_ac], window);
    const uint32_t size = size_of(entry);
    bits.skip(length_of(entry) + size);
    index += advance_of(entry);
    left->is_valid = left->is_valid && advance_of(entry) != kNoCode &&
                     size <= jpeg_dc_bits(scan.depth) - is_ac && (size == 0 || index <= kBlockEnd);
    if (index < kBlockEnd) continue;
    index = 0;
    ++block;
  }
  left->position = bits.position();
  left->index = index;
  left->block = block;
}

// The beginning of a row.
struct JpegRow {
  uint32_t state;
  uint32_t bits;          // that it has
  uint32_t segment_bits;  // from its beginning to the segment's end, as far as the next subsequence
  uint32_t segment;
  uint32_t block;                  // of the segment
  int32_t dc[kJpegMaxComponents];  // quantized coefficients of the blocks before
};

// A block's place in its component, stepping through a scan.
class JpegScanPlace {
 public:
  CT_HD JpegScanPlace(const JpegScanPlan& scan, uint32_t segment, uint32_t block)
      : scan_(scan), block_(block % scan.blocks_in_mcu) {
    const uint32_t mcu = segment * scan.interval + block / scan.blocks_in_mcu;
    mcu_x_ = mcu % scan.mcus_w;
    mcu_y_ = mcu / scan.mcus_w;
  }
  CT_HD void advance() {
    if (++block_ != scan_.blocks_in_mcu) return;
    block_ = 0;
    if (++mcu_x_ != scan_.mcus_w) return;
    mcu_x_ = 0;
    ++mcu_y_;
  }
  CT_HD uint32_t block() const { return block_; }
  CT_HD uint32_t component() const { return scan_.component[block_]; }
  CT_HD uint32_t x() const { return mcu_x_ * scan_.mcu_w[component()] + scan_.x[block_]; }
  CT_HD uint32_t y() const { return mcu_y_ * scan_.mcu_h[component()] + scan_.y[block_]; }

 private:
  const JpegScanPlan& scan_;
  uint32_t block_, mcu_x_, mcu_y_;
};

// Examines the bits after the segment's last block, in the row in which the segment ends. It may
// report more than JpegScanDecoder does, which sees all of the rest.
template <typename Words, typename Tables>
CT_HD uint32_t left_over_damage(const Words& words, const Tables& tables, const JpegScanPlan& scan,
                                const JpegRow& row, uint32_t begin, JpegLeftOver left) {
  if (row.segment_bits != row.bits) return 0;  // it goes on in another
  walk_left_over(words, tables, scan, scan.segment_blocks(row.segment), begin + row.bits, &left);
  return left.are_mcus ? kJpegMoreMcus : 0;
}

// The end of a row: before that block of its segment, or inside of it.
struct JpegRowEnd {
  uint32_t block;
  bool is_inside;
};

// Decodes a row that is not empty. `target(component, x, y, block)` gives the 64 quantized
// coefficients of a block, zero so far, or null for those that only fill an MCU; natural(i) the
// place of coefficient i in it. Returns the evidence against it, and adds to `*segments` if it ends
// one as it should.
template <typename Words, typename Tables, typename Target, typename Natural>
CT_HD uint32_t write_row(const Words& words, const Tables& tables, const JpegScanPlan& scan,
                         const JpegRow& row, uint32_t begin, const Target& target,
                         const Natural& natural, uint32_t* segments, JpegRowEnd* row_end) {
  const uint32_t blocks = scan.segment_blocks(row.segment);
  uint32_t block = row.block, index = index_of(row.state), damage = 0;
  *row_end = {block, false};
  const uint32_t from = begin + bit_of(row.state);
  if (block >= blocks)
    return left_over_damage(words, tables, scan, row, begin, {from, index, block});
  HuffmanBits<Words> bits(words, from);
  JpegScanPlace place(scan, row.segment, block);
  int16_t* qcoefs = target(place.component(), place.x(), place.y(), block);
  int32_t dc[kJpegMaxComponents];
  CT_UNROLL
  for (uint32_t i = 0; i < kJpegMaxComponents; ++i) dc[i] = row.dc[i];
  const uint32_t end = begin + row.bits;
  while (bits.position() < end) {
    const uint32_t window = bits.window();
    const bool is_ac = index != 0;
    const uint32_t entry =
        find_entry(tables.sets[scan.set[place.block()]].codes[is_ac ? 1 : 0], window);
    const uint32_t size = size_of(entry);
    bits.skip(length_of(entry) + size);
    if (advance_of(entry) == kNoCode) damage |= kJpegNoSuchCode;
    const int32_t value = value_of(window, length_of(entry), size);
    index += advance_of(entry);
    if (!is_ac) {
      const uint32_t c = place.component();
      int32_t qcoef = value;
      CT_UNROLL
      for (uint32_t i = 0; i < kJpegMaxComponents; ++i) {
        if (i != c) continue;
        // Modulo 2^32: damaged bits may add up to anything.
        qcoef = static_cast<int32_t>(static_cast<uint32_t>(qcoef) + static_cast<uint32_t>(dc[i]));
        dc[i] = qcoef;
      }
      if (size > jpeg_dc_bits(scan.depth) || !is_plain_dc(qcoef, scan.depth))
        damage |= kJpegTooLarge;
      if (qcoefs != nullptr) qcoefs[0] = static_cast<int16_t>(qcoef);
    } else if (size != 0) {
      if (size > jpeg_ac_bits(scan.depth)) damage |= kJpegTooLarge;
      if (index > kBlockEnd)
        damage |= kJpegBeyondBlock;
      else if (qcoefs != nullptr)
        qcoefs[natural(index - 1)] = static_cast<int16_t>(value);
    }
    if (index < kBlockEnd) continue;
    index = 0;
    if (++block == blocks) {
      const uint32_t at = bits.position() - begin;
      if (at > row.segment_bits) {
        damage |= kJpegWrongEnd;
        break;
      }
      *segments += 1;
      // Less than a byte fills the last one.
      if (row.segment_bits - at > 7) damage |= kJpegLeftOver;
      if (row.segment_bits - at >= kFewLeftOverBits)
        damage |= left_over_damage(words, tables, scan, row, begin, {bits.position(), 0, block});
      break;
    }
    place.advance();
    qcoefs = target(place.component(), place.x(), place.y(), block);
  }
  *row_end = {block, index != 0};
  return damage;
}

}  // namespace cudatransform
