// Huffman-coded scans of JPEG files, sequential and progressive, of any depth.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/scan_writer.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "jpeg/bounds.h"
#include "jpeg/encode_bits.h"
#include "jpeg/huffman_tables.h"
#include "jpeg/stuffing.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform {
namespace {

// A scan of whole blocks. Others have DC or AC coefficients alone.
bool is_sequential(const jpeg_scan_info& scan) { return scan.Ss == 0 && scan.Se > 0; }
// The later bits of DC have no codes.
bool has_dc_codes(const jpeg_scan_info& scan) { return scan.Ss == 0 && scan.Ah == 0; }
bool has_ac_codes(const jpeg_scan_info& scan) { return scan.Se > 0; }

std::span<const int> components_of(const jpeg_scan_info& scan) {
  return {scan.component_index, static_cast<size_t>(scan.comps_in_scan)};
}

// The number of the pair of tables.
uint32_t pair_of(const JpegPicture& picture, int c) { return is_chroma(picture.color, c) ? 1 : 0; }

uint32_t divide_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

// Calls `with(component, block)` for all blocks of the scan, null for one that only fills an MCU,
// and `restart(number)` between segments.
template <typename Function, typename Restart>
void for_blocks(const JpegPicture& picture, const jpeg_scan_info& scan, uint32_t interval,
                const Function& with, const Restart& restart) {
  const JpegSampling& sampling = picture.sampling;
  // An MCU of one component is a block.
  const JpegQcoefs& first = picture.qcoefs[scan.component_index[0]];
  const bool is_one = scan.comps_in_scan == 1;
  const uint32_t mcus_w = is_one ? first.blocks_w : divide_up(picture.width, 8 * sampling.max_h());
  const uint32_t mcus_h = is_one ? first.blocks_h : divide_up(picture.height, 8 * sampling.max_v());
  uint32_t mcus = 0, restarts = 0;
  const auto take_block = [&](int c, uint32_t x, uint32_t y) {
    const JpegQcoefs& qcoefs = picture.qcoefs[c];
    const bool is_there = x < qcoefs.blocks_w && y < qcoefs.blocks_h;
    with(c, is_there ? qcoefs.row(y) + size_t{64} * x : nullptr);
  };
  for (uint32_t mcu_y = 0; mcu_y < mcus_h; ++mcu_y) {
    for (uint32_t mcu_x = 0; mcu_x < mcus_w; ++mcu_x) {
      if (interval != 0 && mcus == interval) {
        restart(restarts++ % 8);
        mcus = 0;
      }
      ++mcus;
      for (const int c : components_of(scan)) {
        const uint32_t own_h = is_one ? 1 : sampling.h[c], own_v = is_one ? 1 : sampling.v[c];
        for (uint32_t i = 0; i < own_h * own_v; ++i)
          take_block(c, mcu_x * own_h + i % own_h, mcu_y * own_v + i / own_h);
      }
    }
  }
}

// ---- Blocks to symbols ----
//
// Coders give a Sink symbols by their number in JpegCodes, with `size` bits after the code, and
// bits without a code. Blocks that only fill an MCU have the DC coefficient of the block before
// them, and no others.

template <typename Sink>
void put(Sink& to, uint32_t pair, const JpegSymbol& symbol) {
  to.symbol(pair, symbol.index, symbol.extra, symbol.index % 16);
}

// T.81, F.1.2.
template <typename Sink>
class SequentialCoder {
 public:
  SequentialCoder(const JpegPicture& picture, const jpeg_scan_info&, Sink& to)
      : picture_(picture), to_(to) {}

  void code(int c, const int16_t* block) {
    const int32_t before = dc_[c];
    if (block != nullptr) dc_[c] = block[0];
    const uint32_t pair = pair_of(picture_, c), depth = picture_.depth;
    put(to_, pair, jpeg_symbol(kJpegDcSymbols, dc_[c] - before, jpeg_dc_bits(depth)));
    uint32_t last = 0;
    for (uint32_t k = 1; k < 64 && block != nullptr; ++k) {
      const int32_t qcoef = block[kNaturalOfZigzag[k]];
      if (qcoef == 0) continue;
      uint32_t run = k - last - 1;
      for (; run > 15; run -= 16) to_.symbol(pair, kJpegLongRun, 0, 0);
      put(to_, pair, jpeg_symbol(run << 4, qcoef, jpeg_ac_bits(depth)));
      last = k;
    }
    if (last < 63) to_.symbol(pair, kJpegEndOfBlock, 0, 0);
  }
  void end_segment() { std::fill(std::begin(dc_), std::end(dc_), 0); }

 private:
  const JpegPicture& picture_;
  Sink& to_;
  int32_t dc_[kJpegMaxComponents] = {};
};

// T.81, G.1.2: a part of the coefficients without their lowest bits, or the next bit of them.
template <typename Sink>
class ProgressiveCoder {
 public:
  ProgressiveCoder(const JpegPicture& picture, const jpeg_scan_info& scan, Sink& to)
      : picture_(picture), scan_(scan), pair_(pair_of(picture, scan.component_index[0])), to_(to) {}

  void code(int c, const int16_t* block) {
    if (scan_.Ss == 0)
      code_dc(c, block);
    else if (scan_.Ah == 0)
      code_band(block);
    else
      refine_band(block);
  }
  void end_segment() {
    end_run();
    std::fill(std::begin(dc_), std::end(dc_), 0);
  }

 private:
  // libjpeg ends a run with these, though the standard would allow more corrections.
  static constexpr uint32_t kMaxRun = 0x7fff, kMaxCorrections = 1000 - 64 + 1;

  int32_t magnitude(int16_t qcoef) const { return std::abs(int32_t{qcoef}) >> scan_.Al; }

  void code_dc(int c, const int16_t* block) {
    const int32_t before = dc_[c];
    if (block != nullptr) dc_[c] = block[0] >> scan_.Al;
    if (scan_.Ah == 0)
      put(to_, pair_of(picture_, c),
          jpeg_symbol(kJpegDcSymbols, dc_[c] - before, jpeg_dc_bits(picture_.depth)));
    else
      to_.bits(static_cast<uint32_t>(dc_[c]) & 1, 1);
  }

  void code_band(const int16_t* block) {
    uint32_t run = 0;
    for (int k = scan_.Ss; k <= scan_.Se; ++k) {
      const int16_t qcoef = block[kNaturalOfZigzag[k]];
      const int32_t value = magnitude(qcoef);
      if (value == 0) {
        ++run;
        continue;
      }
      end_run();
      for (; run > 15; run -= 16) to_.symbol(pair_, kJpegLongRun, 0, 0);
      put(to_, pair_,
          jpeg_symbol(run << 4, qcoef < 0 ? -value : value, jpeg_ac_bits(picture_.depth)));
      run = 0;
    }
    if (run > 0) add_to_run(0);
  }

  // The next bit of coefficients that had one before follows the symbol after them: of the next
  // coefficient that is new, of a long run of others, or of the end of the band.
  void refine_band(const int16_t* block) {
    int last = 0;  // coefficient that is new
    for (int k = scan_.Ss; k <= scan_.Se; ++k)
      if (magnitude(block[kNaturalOfZigzag[k]]) == 1) last = k;
    uint32_t run = 0, corrections = 0;
    const auto put_own = [&](uint32_t symbol, uint32_t extra, uint32_t size) {
      end_run();
      to_.symbol(pair_, symbol, extra, size);
      put_corrections(own_, corrections);
      corrections = 0;
    };
    for (int k = scan_.Ss; k <= scan_.Se; ++k) {
      const int16_t qcoef = block[kNaturalOfZigzag[k]];
      const int32_t value = magnitude(qcoef);
      if (value == 0) {
        ++run;
        continue;
      }
      for (; run > 15 && k <= last; run -= 16) put_own(kJpegLongRun, 0, 0);
      if (value > 1) {
        own_[corrections++] = static_cast<uint8_t>(value & 1);
        continue;
      }
      put_own(run << 4 | 1, qcoef < 0 ? 0 : 1, 1);
      run = 0;
    }
    if (run > 0 || corrections > 0) add_to_run(corrections);
  }

  // A block that ends here, like those before it; `corrections` of own_ go with it.
  void add_to_run(uint32_t corrections) {
    std::copy_n(own_, corrections, run_corrections_ + corrections_);
    corrections_ += corrections;
    if (++run_ == kMaxRun || corrections_ > kMaxCorrections) end_run();
  }
  void end_run() {
    if (run_ == 0) return;
    const uint32_t size = jpeg_bit_width(run_) - 1;
    to_.symbol(pair_, size << 4, run_ & ((1u << size) - 1), size);
    put_corrections(run_corrections_, corrections_);
    run_ = corrections_ = 0;
  }
  void put_corrections(const uint8_t* bits, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) to_.bits(bits[i], 1);
  }

  const JpegPicture& picture_;
  const jpeg_scan_info& scan_;
  const uint32_t pair_;  // of AC, which has a scan for each component
  Sink& to_;
  int32_t dc_[kJpegMaxComponents] = {};
  uint32_t run_ = 0, corrections_ = 0;  // blocks, and bits of theirs
  uint8_t own_[64], run_corrections_[kMaxCorrections + 64];
};

template <typename Coder, typename Sink>
void code_with(Coder coder, const JpegPicture& picture, const jpeg_scan_info& scan,
               uint32_t interval, Sink& to) {
  for_blocks(
      picture, scan, interval, [&](int c, const int16_t* block) { coder.code(c, block); },
      [&](uint32_t number) {
        coder.end_segment();
        to.restart(number);
      });
  coder.end_segment();
}

template <typename Sink>
void code_scan(const JpegPicture& picture, const jpeg_scan_info& scan, uint32_t interval,
               Sink& to) {
  if (is_sequential(scan))
    code_with(SequentialCoder<Sink>(picture, scan, to), picture, scan, interval, to);
  else
    code_with(ProgressiveCoder<Sink>(picture, scan, to), picture, scan, interval, to);
}

// ---- Symbols to tables and bytes ----

class SymbolCounter {
 public:
  const JpegSymbolCounts& counts() const { return counts_; }
  void symbol(uint32_t pair, uint32_t index, uint32_t, uint32_t) {
    // Only pictures of tens of gigabytes have so many.
    uint32_t& count = counts_.of[pair][index];
    if (count != UINT32_MAX) ++count;
  }
  void bits(uint32_t, uint32_t) {}
  void restart(uint32_t) {}

 private:
  JpegSymbolCounts counts_ = {};
};

struct Code {
  uint16_t bits = 0;
  uint8_t length = 0;
};

// `codes` have places for that many symbols.
bool make_scan_codes(const JpegHuffmanTable& table, uint32_t symbols, Code* codes) {
  return for_each_code_length(
      table, [&](uint32_t length, uint32_t code, uint32_t place, uint32_t count) {
        for (; count > 0; --count, ++code) {
          const uint32_t symbol = table.symbols[place++];
          if (symbol >= symbols) return false;
          codes[symbol] = {static_cast<uint16_t>(code), static_cast<uint8_t>(length)};
        }
        return true;
      });
}

// Bytes of a scan, stuffed.
class ScanBytes {
 public:
  explicit ScanBytes(JpegBytes* to) : to_(to) {}

  bool use(const JpegHuffmanTables& tables) {
    for (uint32_t pair = 0; pair < kJpegTablePairs; ++pair)
      if (!make_scan_codes(tables.ac[pair], kJpegDcSymbols, codes_[pair]) ||
          !make_scan_codes(tables.dc[pair], kJpegSymbols - kJpegDcSymbols,
                           codes_[pair] + kJpegDcSymbols))
        return false;
    return true;
  }
  bool has_memory() const { return has_memory_; }
  bool has_codes() const { return has_codes_; }
  void symbol(uint32_t pair, uint32_t index, uint32_t extra, uint32_t size) {
    const Code& code = codes_[pair][index];
    has_codes_ = has_codes_ && code.length > 0;
    bits(uint32_t{code.bits} << size | extra, code.length + size);
  }
  void bits(uint32_t bits, uint32_t count) {  // up to 31
    word_ = word_ << count | bits;
    for (count_ += count; count_ >= 8; count_ -= 8) {
      const auto byte = static_cast<uint8_t>(word_ >> (count_ - 8));
      add(byte);
      if (byte == 0xff) add(0);
    }
  }
  void restart(uint32_t number) {
    fill_byte();
    add(0xff);
    add(static_cast<uint8_t>(kRst0 + number));
  }
  void finish() {
    fill_byte();
    flush();
  }

 private:
  void fill_byte() {  // with ones
    if (count_ > 0) bits(0xffu >> count_, 8 - count_);
  }
  void flush() {
    has_memory_ = has_memory_ && to_->append(buffer_, used_);
    used_ = 0;
  }
  void add(uint8_t byte) {
    buffer_[used_++] = byte;
    if (used_ == sizeof buffer_) flush();
  }

  JpegBytes* to_;
  bool has_memory_ = true, has_codes_ = true;
  uint64_t word_ = 0;  // its lowest count_ bits are to be written
  uint32_t count_ = 0;
  size_t used_ = 0;
  uint8_t buffer_[4096];
  Code codes_[kJpegTablePairs][kJpegSymbols];
};

Status no_memory_after(const JpegBytes& bytes) {
  return Status::error(StatusCode::kOutOfMemory, "no memory for a JPEG file of more than " +
                                                     std::to_string(bytes.size()) + " bytes");
}

// The markers in front of a scan, in libjpeg's order.
class ScanHeader {
 public:
  void add_table(const JpegHuffmanTable& table, int number) {
    const auto symbols = std::accumulate(std::begin(table.counts), std::end(table.counts), 0);
    const int length = 2 + 1 + 16 + symbols;
    add(std::array{0xff, int{kDht}, length >> 8, length & 0xff, number});
    add(std::span(table.counts).last(16));
    add(std::span(table.symbols).first(static_cast<size_t>(symbols)));
  }
  void add_interval(uint32_t interval) {
    const int mcus = static_cast<int>(interval);
    add(std::array{0xff, int{kDri}, 0, 4, mcus >> 8, mcus & 0xff});
  }
  void add_scan(const jpeg_scan_info& scan, const jpeg_component_info* components) {
    add(std::array{0xff, int{kSos}, 0, 6 + 2 * scan.comps_in_scan, scan.comps_in_scan});
    for (const int c : components_of(scan)) {
      const int dc = has_dc_codes(scan) ? components[c].dc_tbl_no : 0;
      const int ac = has_ac_codes(scan) ? components[c].ac_tbl_no : 0;
      add(std::array{components[c].component_id, dc << 4 | ac});
    }
    add(std::array{scan.Ss, scan.Se, scan.Ah << 4 | scan.Al});
  }
  bool append_to(JpegBytes* bytes) const { return bytes->append(bytes_, size_); }

 private:
  template <typename Values>
  void add(const Values& values) {
    for (const auto& value : values) bytes_[size_++] = static_cast<uint8_t>(value);
  }

  static constexpr size_t kMaxTableBytes = 5 + 16 + 256, kMaxRest = 6 + 8 + 2 * kJpegMaxComponents;
  uint8_t bytes_[2 * kJpegTablePairs * kMaxTableBytes + kMaxRest];
  size_t size_ = 0;
};

void add_tables(const JpegHuffmanTables& tables, const jpeg_scan_info& scan,
                const jpeg_component_info* components, ScanHeader* header) {
  bool has_dc[kJpegTablePairs] = {}, has_ac[kJpegTablePairs] = {};
  for (const int c : components_of(scan)) {
    const int dc = components[c].dc_tbl_no, ac = components[c].ac_tbl_no;
    if (has_dc_codes(scan) && !std::exchange(has_dc[dc], true))
      header->add_table(tables.dc[dc], dc);
    if (has_ac_codes(scan) && !std::exchange(has_ac[ac], true))
      header->add_table(tables.ac[ac], 0x10 | ac);
  }
}

}  // namespace

Status append_jpeg_scan(const JpegPicture& picture, const jpeg_scan_info& scan,
                        const JpegScanContext& context, JpegBytes* bytes) {
  JpegHuffmanTables tables;
  if (has_dc_codes(scan) || has_ac_codes(scan)) {
    SymbolCounter counter;
    code_scan(picture, scan, context.restart_interval, counter);
    CT_RETURN_IF_ERROR(
        make_optimal_jpeg_tables(counter.counts(), has_chroma(picture.color) ? 2 : 1, &tables));
  }
  ScanHeader header;
  add_tables(tables, scan, context.components, &header);
  if (context.is_first && context.restart_interval != 0)
    header.add_interval(context.restart_interval);
  header.add_scan(scan, context.components);
  if (!header.append_to(bytes)) return no_memory_after(*bytes);
  ScanBytes to(bytes);
  if (!to.use(tables)) return Status::error(StatusCode::kInvalidArgument, "invalid Huffman table");
  code_scan(picture, scan, context.restart_interval, to);
  to.finish();
  if (!to.has_codes())
    return Status::error(StatusCode::kInvalidArgument, "Missing Huffman code table entry");
  return to.has_memory() ? Status() : no_memory_after(*bytes);
}

Status append_jpeg_end(JpegBytes* bytes) {
  const uint8_t marker[] = {0xff, kEoi};
  return bytes->append(marker, sizeof marker) ? Status() : no_memory_after(*bytes);
}

}  // namespace cudatransform
