// Steps through the Huffman codes of a JPEG scan from any bit on, for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ITU-T T.81, annex F. Codes synchronize by themselves: a decoder that begins anywhere soon reaches
// the state of one from the beginning (Klein and Wiseman, "Parallel Huffman decoding with
// applications to JPEG files", The Computer Journal 46, 2003; Weissenberger and Schmidt,
// "Accelerating JPEG decompression on GPUs", arXiv 2111.09219, 2021).
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/bounds.h"
#include "transform/device/host_device_macros.h"

namespace cudatransform {

// ---- Tables ----

inline constexpr uint32_t kHuffmanFirstBits = 10;
inline constexpr uint32_t kHuffmanRunBits = 11;
inline constexpr uint32_t kLongCodes = 6;  // lengths from 11 to 16
// Coefficient 64 ends a block. A code that does not exist ends it, too, and takes all of 16 bits,
// so that every step advances.
inline constexpr uint32_t kBlockEnd = 64, kNoCode = 127;

// An entry for a code: its length, the bits after it, and by how much the index of the coefficient
// advances with it.
CT_HD constexpr uint16_t huffman_entry(uint32_t length, uint32_t size, uint32_t advance) {
  return static_cast<uint16_t>(length | size << 5 | advance << 9);
}
CT_HD constexpr uint32_t length_of(uint32_t entry) { return entry & 31; }
CT_HD constexpr uint32_t size_of(uint32_t entry) { return entry >> 5 & 15; }
CT_HD constexpr uint32_t advance_of(uint32_t entry) { return entry >> 9; }

// A table of codes. A zero in `first` means codes that are longer than kHuffmanFirstBits; they are
// after all others. Those of length 11 + i are below long_end[i], as numbers of 16 bits.
struct HuffmanCodes {
  uint16_t first[1u << kHuffmanFirstBits];
  uint16_t long_end[kLongCodes];
  uint16_t long_from[kLongCodes];  // modulo 2^16: with a code added, its place in long_entry
  uint16_t long_entry[256];
  uint16_t unused[4];  // to a multiple of 16 bytes
};
// The tables of a component: DC, AC.
struct HuffmanSet {
  HuffmanCodes codes[2];
};
// Several codes in one lookup: the bits that they take with those after them (0: none are known),
// by how much they advance, and whether they end the block. At a DC code, at an AC code.
struct HuffmanRuns {
  uint16_t runs[2][1u << kHuffmanRunBits];
};
static_assert(sizeof(HuffmanSet) % 16 == 0 && sizeof(HuffmanRuns) % 16 == 0);
static_assert(sizeof(HuffmanSet) == 2 * sizeof(HuffmanCodes));

CT_HD constexpr uint16_t huffman_run(uint32_t bits, uint32_t advance, bool ends) {
  return static_cast<uint16_t>(bits | advance << 5 | (ends ? 1u : 0u) << 11);
}
CT_HD constexpr uint32_t run_bits(uint32_t run) { return run & 31; }
CT_HD constexpr uint32_t run_advance(uint32_t run) { return run >> 5 & 63; }
CT_HD constexpr uint32_t run_ends(uint32_t run) { return run >> 11; }

CT_HD uint32_t find_entry(const HuffmanCodes& codes, uint32_t window) {
  const uint32_t entry = codes.first[window >> (32 - kHuffmanFirstBits)];
  if (entry != 0) return entry;
  const uint32_t code = window >> 16;
  uint32_t i = 0;
  for (uint32_t j = 0; j < kLongCodes; ++j) i += code >= codes.long_end[j] ? 1 : 0;
  if (i == kLongCodes) return huffman_entry(16, 0, kNoCode);
  return codes.long_entry[((code >> (5 - i)) + codes.long_from[i]) & 255];
}

// ---- A scan ----

inline constexpr int kMaxScans = kJpegMaxComponents;  // one for each
inline constexpr int kMaxSets = 3;
inline constexpr uint32_t kMaxMcuBlocks = 10;

// A scan's bits are in segments, from restart to restart, that begin at multiples of
// kSubsequenceBits. Rows are parts of subsequences. A tile is decoded together with the kWarmUp
// subsequences before it, so that a decoder from there has synchronized at its beginning.
inline constexpr uint32_t kSubsequenceBits = 1024, kRowBits = 256;
inline constexpr uint32_t kRowsInSubsequence = kSubsequenceBits / kRowBits;
inline constexpr uint32_t kWarmUp = 16, kTileSubsequences = 112;
// Tiles of small pictures are divided.
inline constexpr uint32_t kPartSubsequences = 7;

// A subsequence: the bits that it has, the segment, and whether that begins here.
inline constexpr uint32_t kMaxSegments = 1u << 20;
CT_HD constexpr uint32_t subsequence_info(uint32_t bits, uint32_t segment, bool begins) {
  return bits | segment << 11 | (begins ? 1u : 0u) << 31;
}
CT_HD constexpr uint32_t bits_of(uint32_t info) { return info & 0x7ff; }
CT_HD constexpr uint32_t segment_of(uint32_t info) { return info >> 11 & (kMaxSegments - 1); }
CT_HD constexpr bool begins_segment(uint32_t info) { return info >> 31 != 0; }

// Fields of two bits, one for each block of an MCU.
struct McuFields {
  uint32_t bits;
  CT_HD uint32_t operator[](uint32_t block) const { return bits >> (2 * block) & 3; }
};

// A scan to be decoded: plain numbers.
struct JpegScanPlan {
  uint32_t first_subsequence, subsequences;
  uint32_t first_tile, tiles;
  uint32_t mcus_w, mcus;
  uint32_t interval;       // MCUs in a segment; mcus where nothing restarts
  uint32_t blocks_in_mcu;  // 1 to kMaxMcuBlocks
  uint32_t depth;          // bits of a sample
  // The phase of a block is its number in the MCU. But where all have the same tables bits do not
  // determine it: the period is 1 then, and it follows from the count of blocks alone.
  uint32_t period;
  // DC differences are added up by class: the component or, where phases are not known, the number
  // of the block modulo blocks_in_mcu, counted from the segment's or the tile's beginning.
  uint32_t classes;
  McuFields set, component, x, y;                                 // by block of the MCU
  uint32_t mcu_w[kJpegMaxComponents], mcu_h[kJpegMaxComponents];  // in blocks

  CT_HD bool knows_phases() const { return period == blocks_in_mcu; }
  CT_HD uint32_t segment_blocks(uint32_t segment) const {
    const uint32_t first = segment * interval;
    const uint32_t left = first < mcus ? mcus - first : 0;
    return (left < interval ? left : interval) * blocks_in_mcu;
  }
  // The component of a class, where the blocks are counted from block `base` on.
  CT_HD uint32_t component_of_class(uint32_t index, uint32_t base) const {
    return knows_phases() ? index : component[(base + index) % blocks_in_mcu];
  }
};

// The position of a decoder: its bit, counted from the beginning of a subsequence or row; the index
// of the next coefficient; the phase of the block.
CT_HD constexpr uint32_t huffman_state(uint32_t bit, uint32_t index, uint32_t phase) {
  return bit | index << 8 | phase << 16;
}
CT_HD constexpr uint32_t bit_of(uint32_t state) { return state & 255; }
CT_HD constexpr uint32_t index_of(uint32_t state) { return state >> 8 & 255; }
CT_HD constexpr uint32_t phase_of(uint32_t state) { return state >> 16; }

// ---- Bits ----

// `Words` has words[i], 32 bits each, the first bit of the stream on top.
template <typename Words>
class HuffmanBits {
 public:
  CT_HD HuffmanBits(const Words& words, uint32_t position)
      : words_(words),
        position_(position),
        high_(words[position / 32]),
        low_(words[position / 32 + 1]),
        next_(words[position / 32 + 2]) {}

  CT_HD uint32_t position() const { return position_; }
  // The next 32.
  CT_HD uint32_t window() const {
#if defined(__CUDA_ARCH__)
    return __funnelshift_l(low_, high_, position_);
#else
    return static_cast<uint32_t>(
        ((static_cast<uint64_t>(high_) << 32 | low_) << (position_ % 32)) >> 32);
#endif
  }
  // No branch, and the word that is read is not needed before the next step.
  CT_HD void skip(uint32_t count) {  // up to 31
    const uint32_t before = position_;
    position_ += count;
    const bool crosses = (before ^ position_) >= 32;
    high_ = crosses ? low_ : high_;
    low_ = crosses ? next_ : low_;
    next_ = words_[position_ / 32 + 2];
  }

 private:
  const Words& words_;
  uint32_t position_, high_, low_, next_;
};

// Words of bytes on the host.
struct ByteWords {
  const uint8_t* bytes;
  uint32_t operator[](uint32_t i) const {
    const uint8_t* const at = bytes + size_t{4} * i;
    return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
  }
};

// The bits beyond the end of a subsequence that its last code can have, and the bits that are read
// ahead of them.
inline constexpr uint32_t kWordsBehind = 4;

// ---- Steps ----

// `Tables` has the scan's sets[], and runs[] where kRuns.

// From `state` on through all codes that begin before bit `end`, at most kSubsequenceBits after
// `begin`; adds to `*blocks` those that end. `difference(window, entry, phase, blocks)` is called
// for every DC difference with the number of blocks before it, if it accepts that. Returns the
// state afterwards, whose bit is counted from `end`.
//
// Threads that go through different codes stay together: a step selects values and has no branches.
template <bool kRuns, typename Words, typename Tables, typename Difference>
CT_HD uint32_t walk(const Words& words, const Tables& tables, const JpegScanPlan& scan,
                    uint32_t state, uint32_t begin, uint32_t end, uint32_t* blocks,
                    const Difference& difference) {
  HuffmanBits<Words> bits(words, begin + bit_of(state));
  uint32_t index = index_of(state), phase = phase_of(state), ended = *blocks;
  // A set's tables of DC and AC codes are one after the other. Which the next step needs is what it
  // waits for, so that of the next block is known beforehand.
  const auto* const codes = reinterpret_cast<const HuffmanCodes*>(&tables.sets[0]);
  uint32_t table = 2 * scan.set[phase] + (index != 0 ? 1 : 0);
  while (bits.position() < end) {
    const uint32_t window = bits.window();
    const uint32_t phase_behind = phase + 1 == scan.period ? 0 : phase + 1;
    const uint32_t table_behind = 2 * scan.set[phase_behind];
    const bool is_ac = index != 0;
    const uint32_t entry = find_entry(codes[table], window);
    uint32_t taken = length_of(entry) + size_of(entry), next = index + advance_of(entry);
    if constexpr (kRuns) {
      const auto* const runs = reinterpret_cast<const uint16_t*>(&tables.runs[0]);
      const uint32_t run = runs[(table << kHuffmanRunBits) + (window >> (32 - kHuffmanRunBits))];
      const uint32_t behind = index + run_advance(run);
      // Up to the end code by code, so that where a walk ends does not depend on where it began.
      const bool fits = bits.position() + kHuffmanRunBits <= end &&
                        !(Difference::kWanted && !is_ac) && run_bits(run) != 0 &&
                        behind < kBlockEnd;
      taken = fits ? run_bits(run) : taken;
      next = fits ? behind + run_ends(run) * kBlockEnd : next;
    }
    if constexpr (Difference::kWanted) {
      if (!is_ac) difference(window, entry, phase, ended);
    }
    bits.skip(taken);
    const bool ends = next >= kBlockEnd;
    table = ends ? table_behind : table | 1;
    index = ends ? 0 : next;
    phase = ends ? phase_behind : phase;
    ended += ends ? 1 : 0;
  }
  *blocks = ended;
  return huffman_state(bits.position() - end, index, phase);
}

struct NoDifference {
  static constexpr bool kWanted = false;
  CT_HD void operator()(uint32_t, uint32_t, uint32_t, uint32_t) const {}
};

// The value of the `size` bits after a code of `length` (T.81, figure F.12).
CT_HD int32_t value_of(uint32_t window, uint32_t length, uint32_t size) {
  if (size == 0) return 0;
  const uint32_t bits = window << length >> (32 - size);
  const uint32_t half = 1u << (size - 1);
  return static_cast<int32_t>(bits) - (bits < half ? static_cast<int32_t>(2 * half - 1) : 0);
}

}  // namespace cudatransform
