// Sequential Huffman coding of whole scans on the CPU, of any depth.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jpeg/scan_coder.h"

#include <algorithm>
#include <string>

#include "jpeg/depth.h"
#include "jpeg/encode_bits.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform {
namespace {

uint32_t divide_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

// Calls `with(symbol)` for the symbols of a block (T.81, F.1.2), numbered as in JpegCodes. Null
// `levels`: a block that only fills an MCU.
template <typename Function>
void for_symbols(const int16_t* levels, int32_t dc_difference, uint32_t depth,
                 const Function& with) {
  with(jpeg_symbol(kJpegDcSymbols, dc_difference, jpeg_dc_bits(depth)));
  uint32_t last = 0;
  for (uint32_t k = 1; k < 64 && levels != nullptr; ++k) {
    const int32_t level = levels[kNaturalOfZigzag[k]];
    if (level == 0) continue;
    uint32_t run = k - last - 1;
    for (; run > 15; run -= 16) with(JpegSymbol{kJpegLongRun, 0});
    with(jpeg_symbol(run << 4, level, jpeg_ac_bits(depth)));
    last = k;
  }
  if (last < 63) with(JpegSymbol{kJpegEndOfBlock, 0});
}

// Calls `with(pair, symbol)` for all symbols of the scan, with the number of their pair of tables,
// and `restart(number)` between segments.
template <typename Function, typename Restart>
void for_scan(const JpegPicture& picture, uint32_t interval, const Function& with,
              const Restart& restart) {
  const uint32_t h = picture.h_samp, v = picture.v_samp;
  const uint32_t mcus_w = divide_up(picture.width, 8 * h);
  const uint32_t mcus_h = divide_up(picture.height, 8 * v);
  int32_t dc[kJpegMaxComponents] = {};
  uint32_t mcus = 0, restarts = 0;
  const auto code_block = [&](int c, uint32_t x, uint32_t y) {
    const JpegLevels& levels = picture.levels[c];
    // Dummy blocks have the DC level of the block before them.
    const bool is_there = x < levels.blocks_w && y < levels.blocks_h;
    const int16_t* block = is_there ? levels.row(y) + size_t{64} * x : nullptr;
    const int32_t before = dc[c];
    if (is_there) dc[c] = block[0];
    const uint32_t pair = is_chroma(picture.color, c) ? 1 : 0;
    for_symbols(block, dc[c] - before, picture.depth,
                [&](const JpegSymbol& symbol) { with(pair, symbol); });
  };
  for (uint32_t mcu_y = 0; mcu_y < mcus_h; ++mcu_y) {
    for (uint32_t mcu_x = 0; mcu_x < mcus_w; ++mcu_x) {
      if (interval != 0 && mcus == interval) {
        restart(restarts++ % 8);
        std::fill(std::begin(dc), std::end(dc), 0);
        mcus = 0;
      }
      ++mcus;
      for (int c = 0; c < picture.components(); ++c) {
        const bool is_small = is_chroma(picture.color, c);
        const uint32_t own_h = is_small ? 1 : h, own_v = is_small ? 1 : v;
        for (uint32_t i = 0; i < own_h * own_v; ++i)
          code_block(c, mcu_x * own_h + i % own_h, mcu_y * own_v + i / own_h);
      }
    }
  }
}

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

  bool ok() const { return ok_; }
  void put(uint32_t bits, uint32_t count) {  // up to 31
    word_ = word_ << count | bits;
    for (count_ += count; count_ >= 8; count_ -= 8) {
      const auto byte = static_cast<uint8_t>(word_ >> (count_ - 8));
      add(byte);
      if (byte == 0xff) add(0);
    }
  }
  // Ones fill up the last byte.
  void put_marker(uint8_t code) {
    if (count_ > 0) put(0xffu >> count_, 8 - count_);
    add(0xff);
    add(code);
  }
  void flush() {
    ok_ = ok_ && to_->append(buffer_, used_);
    used_ = 0;
  }

 private:
  void add(uint8_t byte) {
    buffer_[used_++] = byte;
    if (used_ == sizeof buffer_) flush();
  }

  JpegBytes* to_;
  bool ok_ = true;
  uint64_t word_ = 0;  // its lowest count_ bits are to be written
  uint32_t count_ = 0;
  size_t used_ = 0;
  uint8_t buffer_[4096];
};

}  // namespace

Status find_scan_tables(const JpegPicture& picture, uint32_t restart_interval,
                        JpegHuffmanTables* tables) {
  JpegSymbolCounts counts = {};
  for_scan(
      picture, restart_interval,
      [&](uint32_t pair, const JpegSymbol& symbol) {
        // Only pictures of tens of gigabytes have so many.
        uint32_t& count = counts.of[pair][symbol.index];
        if (count != UINT32_MAX) ++count;
      },
      [](uint32_t) {});
  return make_optimal_jpeg_tables(counts, has_chroma(picture.color) ? 2 : 1, tables);
}

Status append_scan(const JpegPicture& picture, uint32_t restart_interval,
                   const JpegHuffmanTables& tables, JpegBytes* bytes) {
  constexpr uint8_t kRst0 = 0xd0, kEoi = 0xd9;
  Code codes[kJpegTablePairs][kJpegSymbols];
  for (uint32_t pair = 0; pair < kJpegTablePairs; ++pair)
    if (!make_scan_codes(tables.ac[pair], kJpegDcSymbols, codes[pair]) ||
        !make_scan_codes(tables.dc[pair], kJpegSymbols - kJpegDcSymbols,
                         codes[pair] + kJpegDcSymbols))
      return Status::error(StatusCode::kInvalidArgument, "not a Huffman table");
  ScanBytes to(bytes);
  bool has_codes = true;
  for_scan(
      picture, restart_interval,
      [&](uint32_t pair, const JpegSymbol& symbol) {
        const Code& code = codes[pair][symbol.index];
        const uint32_t size = symbol.index % 16;
        has_codes = has_codes && code.length > 0;
        to.put(uint32_t{code.bits} << size | symbol.extra, code.length + size);
      },
      [&](uint32_t number) { to.put_marker(static_cast<uint8_t>(kRst0 + number)); });
  to.put_marker(kEoi);
  to.flush();
  if (!has_codes) return Status::error(StatusCode::kInvalidArgument, "a symbol has no code");
  if (to.ok()) return {};
  return Status::error(StatusCode::kOutOfMemory, "no memory for a JPEG file of more than " +
                                                     std::to_string(bytes->size()) + " bytes");
}

}  // namespace cudatransform
