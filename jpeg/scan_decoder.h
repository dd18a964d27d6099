// Sequential decoding of Huffman-coded JPEG scans on the CPU, faster than libjpeg-turbo's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "jpeg/huffman_steps.h"
#include "jpeg/scans.h"
#include "jpeg/stuffing.h"

namespace cudatransform {

struct JpegBlockRows;

// A code and the value after it, as far as a lookup of the next bits shows, in fields that shifts
// extract. Either all of it: how many bits that are, `advance` of the index of the coefficient, and
// the value. Or, with no bits, the code alone: its length, the value's size, and `advance`. Or
// nothing: the code is longer than a lookup, or there is none.
struct HuffmanLookupEntry {
  uint32_t fields = 0;

  static constexpr HuffmanLookupEntry whole(uint32_t bits, uint32_t advance, int32_t value) {
    return {bits | advance << 8 | static_cast<uint32_t>(value) << 16};
  }
  static constexpr HuffmanLookupEntry code(uint32_t length, uint32_t size, uint32_t advance) {
    return {advance << 8 | length << 16 | size << 24};
  }

  constexpr uint32_t bits() const { return fields & 0xff; }
  constexpr uint32_t advance() const { return fields >> 8 & 0xff; }
  constexpr int16_t value() const { return static_cast<int16_t>(fields >> 16); }
  constexpr uint32_t length() const { return fields >> 16 & 0xff; }
  constexpr uint32_t size() const { return fields >> 24; }
};

// The codes of a component. The index are the next bits.
struct HuffmanLookup {
  static constexpr uint32_t kDcBits = 9, kAcBits = 10;

  HuffmanLookupEntry dc[1u << kDcBits];  // advances by 0, never whole
  HuffmanLookupEntry
      ac[1u << kAcBits];  // by 1 for each zero and the value after, by 64 at the block's end
  HuffmanSet codes;       // for codes longer than a lookup
};

void make_lookup(const HuffmanSet& codes, HuffmanLookup* lookup);

// Decodes one picture after another. One thread at a time.
//
// Like the parallel decoders it takes only baseline and extended sequential files of which nothing
// is missing. It refuses all that may be damage, which libjpeg then reports.
class JpegScanDecoder final : private JpegScanParser {
 public:
  // `qcoefs` are of `components` components, of the header's sizes. True: all of them, or of those
  // rows if `rows` is not null, and `*tables` are what libjpeg gives, and every row is plain (see
  // row_is_plain()). False: libjpeg has to decode the file, and quantized coefficients may be
  // anything. Returns soon if `interrupt` is not null and becomes other than 0.
  bool decode(std::span<const uint8_t> file, const JpegQcoefs* qcoefs, int components,
              const JpegBlockRows* rows, const std::atomic<unsigned>* interrupt,
              JpegTables* tables);
  // The same verdict without quantized coefficients and tables.
  bool check(std::span<const uint8_t> file, const std::atomic<unsigned>* interrupt);
  // If the last verdict was true: bits of jpeg/errors.h.
  uint32_t irregular() const { return irregular_; }
  // If it was false: whether a quantized coefficient is beyond the end of its block, which libjpeg
  // does not report.
  bool goes_beyond_block() const { return goes_beyond_block_; }

 private:
  struct Bits;
  struct McuRows {
    uint32_t first, end;
  };
  struct Restarts {
    uint32_t remaining;  // MCUs up to the next
    uint32_t count;      // so far
  };
  // A block of the MCU: its place, in the next MCU.
  struct Target {
    int16_t* qcoefs;
    ptrdiff_t step;  // from MCU to MCU
    const HuffmanLookup* lookup;
    uint32_t component;
  };

  void make_set(const Set& set) override { make_lookup(set.codes, &lookups_[set.slot]); }
  bool take_bits(const JpegScanPlan& plan) override;
  McuRows wanted_rows(const JpegScanPlan& plan) const;
  bool take_row(const JpegScanPlan& plan, uint32_t mcu_x, Restarts* restarts, Bits* bits);
  void aim(const JpegScanPlan& plan, uint32_t mcu_x, uint32_t mcu_y);
  void aim_at_last(const JpegScanPlan& plan, uint32_t mcu_x);
  bool decode_mcus(uint32_t count, uint32_t blocks, Bits* bits);
  bool begin_segment(const uint8_t* from, Bits* bits);
  bool end_segment(const JpegScanPlan& plan, const Bits& bits);
  bool skip_trailing_bytes(const JpegScanPlan& plan, const Bits& bits);
  bool is_interrupted() const {
    return interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed) != 0;
  }

  const JpegQcoefs* qcoefs_ = nullptr;   // null: not wanted
  const JpegBlockRows* rows_ = nullptr;  // null: all
  const std::atomic<unsigned>* interrupt_ = nullptr;
  bool goes_beyond_block_ = false;
  ScanWindow window_;
  HuffmanLookup lookups_[kMaxSets];
  Target targets_[kMaxMcuBlocks] = {};
  int32_t dc_[kJpegMaxComponents] = {};
  alignas(16) int16_t dummy_[64] = {};  // blocks that only fill an MCU
};

}  // namespace cudatransform
