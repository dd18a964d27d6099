// The scans of a JPEG file as a plain job for parallel decoding, on either side of the bus.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "jpeg/coef_arrays.h"
#include "jpeg/errors.h"
#include "jpeg/huffman_tables.h"
#include "jpeg/huffman_write.h"
#include "jpeg/tables.h"

namespace cudatransform {

// Words that are zero before a device begins: its result, and two for each part.
inline constexpr size_t kResultWords = 4;
constexpr size_t zero_words(size_t subsequences) {
  return kResultWords + 2 * (subsequences / kPartSubsequences + kMaxScans);
}

// A picture's scans. Their bits and tables are in one block of memory, at these offsets; the words
// have the file's bits without stuffing and markers.
struct JpegScans {
  int count = 0;
  JpegScanPlan scans[kMaxScans] = {};
  int sets = 0;
  uint32_t max_sets = 0;  // that one scan uses
  uint32_t subsequences = 0, tiles = 0;
  uint32_t segments = 0;
  int components = 0;
  uint32_t blocks_w[kJpegMaxComponents] = {}, blocks_h[kJpegMaxComponents] = {};
  size_t infos_at = 0;  // uint32_t of each subsequence, and one that begins a segment
  size_t words_at = 0;
  size_t sets_at = 0;      // HuffmanSet of each
  size_t runs_at = 0;      // HuffmanRuns of each
  size_t zeros_at = 0;     // zero_words() of them
  size_t bytes = 0;        // of all
  JpegTables tables;       // as JpegReader::read_coefficients() gives them
  uint32_t irregular = 0;  // bits of jpeg/errors.h, as far as markers show
};

// Reads the markers of one picture after another, and determines which scans are decoded with which
// tables. A class that inherits from it takes the bits. One thread at a time.
//
// It reads sequential Huffman-coded files, sound or irregular. "No" means that libjpeg
// has to decide: the file may be damaged, of another kind, or unusual.
class JpegScanParser {
 protected:
  struct Component {
    uint32_t id = 0, h = 0, v = 0, quant = 0;
    bool seen = false;
    int set = 0;
  };
  struct Set {
    JpegHuffmanTable dc, ac;
    HuffmanSet codes = {};
    bool made = false;
    int slot = 0;  // of kMaxSets, for others' tables of the codes; it stays with them
  };

  JpegScanParser();
  virtual ~JpegScanParser() = default;

  // Up to the first scan.
  bool begin(std::span<const uint8_t> file);
  // After begin(): the scans, which cover every component once, and the end.
  bool read_scans();

  // The codes of a set are new.
  virtual void make_set(const Set& set) = 0;
  // From at_ on: takes the bits of a scan, and moves at_ to the marker after them, or at the end.
  virtual bool take_bits(const JpegScanPlan& plan) = 0;

  // The quantizers of the components.
  JpegTables unique_tables() const;
  static uint32_t parts(uint64_t size, uint64_t part) {  // rounded up
    return static_cast<uint32_t>((size + part - 1) / part);
  }

  const uint8_t* data_ = nullptr;
  size_t size_ = 0, at_ = 0;
  uint32_t width_ = 0, height_ = 0, max_h_ = 1, max_v_ = 1;
  uint32_t depth_ = 8;
  int components_ = 0;
  Component component_[kJpegMaxComponents];
  uint32_t blocks_w_[kJpegMaxComponents] = {}, blocks_h_[kJpegMaxComponents] = {};
  uint32_t interval_ = 0;
  int scan_ = 0;        // that is read, or how many there were
  Set sets_[kMaxSets];  // those of the picture first; kept, since most pictures have the same
  int used_sets_ = 0;
  uint32_t irregular_ = 0;  // bits of jpeg/errors.h
  bool ended_ = false;      // nothing more is read

 private:
  bool read_markers(bool up_to_scan);
  bool find_marker();
  bool next_marker(uint32_t* code, std::span<const uint8_t>* segment);
  bool take(uint32_t code, std::span<const uint8_t> segment);
  bool take_frame(std::span<const uint8_t> segment, uint32_t max_depth);
  bool take_huffman(std::span<const uint8_t> segment);
  bool take_quantizers(std::span<const uint8_t> segment);
  bool take_scan(std::span<const uint8_t> segment);
  bool plan_scan(const int* components, int count, JpegScanPlan* plan) const;
  bool use_tables(Component* component, uint32_t selectors);
  bool latch_quantizer(int component);

  JpegHuffmanTable tables_[2][4];  // DC, AC
  bool has_table_[2][4] = {};
  QuantTable quantizers_[4];
  bool has_quantizer_[4] = {};
  QuantTable latched_[kJpegMaxComponents];
  bool after_restart_ = false;  // RSTn was the last marker
};

// Reads the scans of one picture after another, for those that decode them in parallel.
class JpegScanReader final : private JpegScanParser {
 public:
  // The number of bytes that read() needs for this file at most; 0: no.
  size_t measure(std::span<const uint8_t> file);
  // After a measure() of the same file: fills `block`, which has that many bytes and is aligned to
  // 16, and describes it. False: no.
  bool read(uint8_t* block, JpegScans* scans);

 private:
  void make_set(const Set& set) override { make_runs(set.codes, &runs_[set.slot]); }
  bool take_bits(const JpegScanPlan& plan) override;
  bool take_segment(uint32_t segment, const uint8_t** marker);
  void finish();
  uint64_t max_segments() const;
  size_t plan_room(uint64_t segments);

  uint8_t* block_ = nullptr;
  uint32_t* infos_ = nullptr;
  size_t words_at_ = 0, used_ = 0, end_ = 0;  // of words, in block_
  HuffmanRuns runs_[kMaxSets] = {};
  JpegScans* scans_ = nullptr;
};

}  // namespace cudatransform
