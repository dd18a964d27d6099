// Sequential decoding of Huffman-coded JPEG scans on the CPU, faster than libjpeg-turbo's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "jpeg/huffman_lookup.h"
#include "jpeg/scan_window.h"
#include "jpeg/scans.h"

namespace cudatransform {

// Decodes one picture after another. One thread at a time.
//
// Like those who decode in parallel it takes sound baseline and extended sequential files of 8
// bits, and no others: what libjpeg would warn of, or read in a way of its own, is a "no". So what
// is said about a picture that is not sound is said by libjpeg alone.
class JpegScanDecoder final : private JpegScanParser {
 public:
  // `levels` are of `components` components, of the header's sizes. True: all of them and `*tables`
  // are what libjpeg gives, which has nothing to say against the file, and every row is plain (see
  // row_is_plain()). False: somebody else has to look at the file, and levels may be anything;
  // soon, where `interrupt` is there and not 0 any more.
  bool decode(const uint8_t* data, size_t size, const JpegLevels* levels, int components,
              const std::atomic<unsigned>* interrupt, JpegTables* tables);

 private:
  struct Bits;
  // A block of the MCU: where it lies, in the MCU that is next.
  struct Target {
    int16_t* levels;
    ptrdiff_t step;  // from MCU to MCU
    const HuffmanLookup* lookup;
    uint32_t component;
  };

  void make_set(const Set& set) override { make_lookup(set.codes, &lookups_[set.slot]); }
  bool take_bits(const JpegScanPlan& plan) override;
  void aim(const JpegScanPlan& plan, uint32_t mcu_y);
  void aim_at_last(const JpegScanPlan& plan, uint32_t mcu_x);
  bool decode_mcus(uint32_t count, uint32_t blocks, Bits* bits);
  bool begin_segment(const uint8_t* from, Bits* bits);
  bool end_segment(const Bits& bits) const;

  const JpegLevels* levels_ = nullptr;
  const std::atomic<unsigned>* interrupt_ = nullptr;
  ScanWindow window_;
  HuffmanLookup lookups_[kMostSets];
  Target targets_[kMostMcuBlocks] = {};
  int32_t dc_[kJpegMaxComponents] = {};
  alignas(16) int16_t dummy_[64] = {};  // what only fills an MCU
};

}  // namespace cudatransform
