// JPEG files of kinds that no encoder makes: tables of any shape, any quantized coefficients, any
// order of scans.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/jpeg/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "jpeg/bounds.h"
#include "jpeg/errors.h"

namespace cudatransform::test {
namespace {

using Random = std::mt19937;

// Codes of a table, as T.81, annex C, has them.
struct Coder {
  struct Code {
    uint32_t code, length, symbol;
  };
  std::vector<Code> codes;
  JpegHuffmanTable table;

  explicit Coder(const JpegHuffmanTable& of) : table(of) {
    uint32_t code = 0, place = 0;
    for (uint32_t length = 1; length <= 16; ++length, code <<= 1) {
      for (uint32_t i = 0; i < of.counts[length]; ++i)
        codes.push_back({code++, length, of.symbols[place++]});
    }
  }
};

JpegHuffmanTable define(std::vector<uint8_t> symbols, TableShape shape, Random& random) {
  JpegHuffmanTable table;
  std::shuffle(symbols.begin(), symbols.end(), random);
  size_t left = symbols.size();
  uint32_t space = 1;  // free codes of this length
  for (uint32_t length = 1; length <= 16; ++length) {
    space *= 2;
    size_t count = 0;
    // One code must stay free, the one of all ones, and enough for the remaining symbols.
    const size_t most = std::min<size_t>(left, space - 1);
    const auto fits = [&](size_t taken) {
      return left - taken <= ((uint64_t{space} - taken) << (16 - length)) - 1;
    };
    if (shape == TableShape::kEqual)
      count = length == 8 ? std::min(left, most) : 0;
    else if (shape == TableShape::kLongest)
      count = length == 16 ? left : 0;
    else if (shape == TableShape::kUnary)
      count = 1;
    else
      count = random() % 3 == 0 ? random() % (most / 2 + 1) : 0;
    count = std::min(count, most);
    if (length == 16) count = left;
    while (count > 0 && !fits(count)) --count;
    table.counts[length] = static_cast<uint8_t>(count);
    left -= count;
    space -= static_cast<uint32_t>(count);
  }
  std::copy(symbols.begin(), symbols.end(), table.symbols);
  return table;
}

JpegHuffmanTable define(bool is_ac, const StreamKind& kind, int set, Random& random) {
  const TableShape shape = kind.shape;
  if (shape == TableShape::kAnnexK) {
    const JpegHuffmanTables* standard = nullptr;
    EXPECT_TRUE(standard_jpeg_tables(&standard).ok());
    return (is_ac ? standard->ac : standard->dc)[set > 0 ? 1 : 0];
  }
  if (shape == TableShape::kFewSymbols) {
    JpegHuffmanTable table;
    table.counts[1] = 1;
    return table;
  }
  std::vector<uint8_t> symbols;
  const uint32_t most = is_ac ? jpeg_ac_bits(kind.depth) : jpeg_dc_bits(kind.depth);
  for (uint32_t size = 0; size <= most; ++size) {
    for (uint32_t zeros = 0; zeros < (is_ac ? 16u : 1u); ++zeros) {
      const bool is_used = size != 0 || zeros == 0 || zeros == 15;
      if (is_used) symbols.push_back(static_cast<uint8_t>(zeros << 4 | size));
    }
  }
  // A unary code has sixteen lengths.
  if (shape == TableShape::kUnary && is_ac) symbols = {0x00, 0x01, 0x02, 0x11, 0xf0, 0x05, 0x21};
  return define(std::move(symbols), shape, random);
}

class Bits {
 public:
  explicit Bits(std::vector<uint8_t>* file) : file_(*file) {}
  void put(uint32_t value, uint32_t count) {
    for (uint32_t i = count; i-- > 0;) {
      byte_ = byte_ << 1 | (value >> i & 1);
      if (++used_ == 8) flush();
    }
  }
  void pad() {
    while (used_ != 0) put(1, 1);
  }

 private:
  void flush() {
    file_.push_back(static_cast<uint8_t>(byte_));
    if (file_.back() == 0xff) file_.push_back(0);
    byte_ = used_ = 0;
  }
  std::vector<uint8_t>& file_;
  uint32_t byte_ = 0, used_ = 0;
};

class Writer {
 public:
  explicit Writer(const StreamKind& kind) : kind_(kind), random_(kind.seed) {
    for (int set = 0; set < kind.sets; ++set) {
      dc_.emplace_back(define(false, kind, set, random_));
      ac_.emplace_back(define(true, kind, set, random_));
    }
  }

  std::vector<uint8_t> write() {
    put({0xff, 0xd8});
    if (kind_.components == 4)  // YCCK: without the marker it would be CMYK
      put({0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 2});
    if (kind_.depth == 8) {
      put({0xff, 0xdb, 0, 67, 0});
      for (int i = 0; i < 64; ++i) put({static_cast<uint8_t>(i + 1)});
    } else {
      put({0xff, 0xdb, 0, 131, 0x10});
      for (int i = 0; i < 64; ++i) put_16(1000 * i + 1);
    }
    write_frame();
    for (int set = 0; set < kind_.sets; ++set) {
      write_table(set, dc_[static_cast<size_t>(set)].table);
      write_table(0x10 | set, ac_[static_cast<size_t>(set)].table);
    }
    if (kind_.restart_interval > 0) {
      put({0xff, 0xdd, 0, 4});
      put_16(kind_.restart_interval);
    }
    std::vector<int> all;
    for (int c = 0; c < kind_.components; ++c) all.push_back(c);
    if (kind_.scans == 1) {
      write_scan(all);
    } else if (kind_.scans == 2) {
      const auto second = all.begin() + kind_.in_first;
      write_scan({all.begin(), second});
      write_scan({second, all.end()});
    } else {
      for (const int c : all) write_scan({c});
    }
    put({0xff, 0xd9});
    return std::move(file_);
  }

 private:
  void put(std::initializer_list<uint8_t> bytes) {
    file_.insert(file_.end(), bytes.begin(), bytes.end());
  }
  void put_16(int value) { put({static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)}); }
  int set_of(int c) const { return std::min(c, kind_.sets - 1); }
  int h_of(int c) const { return c == 0 || c == 3 ? kind_.h : 1; }
  int v_of(int c) const { return c == 0 || c == 3 ? kind_.v : 1; }

  void write_frame() {
    put({0xff, static_cast<uint8_t>(kind_.extended || kind_.depth != 8 ? 0xc1 : 0xc0)});
    put_16(8 + 3 * kind_.components);
    put({static_cast<uint8_t>(kind_.depth)});
    put_16(kind_.height);
    put_16(kind_.width);
    put({static_cast<uint8_t>(kind_.components)});
    for (int c = 0; c < kind_.components; ++c)
      put({static_cast<uint8_t>(c + 1), static_cast<uint8_t>(h_of(c) << 4 | v_of(c)), 0});
  }
  void write_table(int selector, const JpegHuffmanTable& table) {
    int symbols = 0;
    for (int length = 1; length <= 16; ++length)
      symbols += table.counts[static_cast<size_t>(length)];
    put({0xff, 0xc4});
    put_16(2 + 17 + symbols);
    put({static_cast<uint8_t>(selector)});
    file_.insert(file_.end(), table.counts + 1, std::end(table.counts));
    file_.insert(file_.end(), table.symbols, table.symbols + symbols);
  }

  void write_scan(const std::vector<int>& components) {
    const auto count = static_cast<int>(components.size());
    put({0xff, 0xda});
    put_16(6 + 2 * count);
    put({static_cast<uint8_t>(count)});
    for (const int c : components)
      put({static_cast<uint8_t>(c + 1), static_cast<uint8_t>(set_of(c) * 0x11)});
    put({0, 63, 0});
    const int max_h = kind_.components > 1 ? kind_.h : h_of(0);
    const int max_v = kind_.components > 1 ? kind_.v : v_of(0);
    const auto parts = [](int size, int part) { return (size + part - 1) / part; };
    const int only = components[0];
    const int mcus = count > 1 ? parts(kind_.width, 8 * max_h) * parts(kind_.height, 8 * max_v)
                               : parts(kind_.width * h_of(only), 8 * max_h) *
                                     parts(kind_.height * v_of(only), 8 * max_v);
    Bits bits(&file_);
    int dc[kJpegMaxComponents] = {}, restarts = 0;
    for (int mcu = 0; mcu < mcus; ++mcu) {
      if (kind_.restart_interval > 0 && mcu > 0 && mcu % kind_.restart_interval == 0) {
        bits.pad();
        put({0xff, static_cast<uint8_t>(0xd0 + restarts++ % 8)});
        std::fill(std::begin(dc), std::end(dc), 0);
      }
      for (const int c : components) {
        const int blocks = count > 1 ? h_of(c) * v_of(c) : 1;
        for (int i = 0; i < blocks; ++i) write_block(c, &dc[c], &bits);
      }
    }
    bits.pad();
  }

  void write_block(int c, int* dc, Bits* bits) {
    const auto set = static_cast<size_t>(set_of(c));
    write_difference(dc_[set], dc, bits);
    const Coder& coder = ac_[set];
    for (int index = 1; index < 64;) {
      const Coder::Code& code = next_ac(coder);
      const int zeros = static_cast<int>(code.symbol >> 4);
      const uint32_t size = code.symbol & 15;
      const int next = size != 0 || zeros == 15 ? index + zeros + 1 : 64;
      if (next > 64) continue;
      bits->put(code.code, code.length);
      if (size != 0) bits->put(random_() & ((1u << size) - 1), size);
      index = next;
    }
  }
  const Coder::Code& next_ac(const Coder& coder) {
    if (kind_.sparse && random_() % 6 == 0)
      for (const Coder::Code& code : coder.codes)
        if (code.symbol == 0) return code;
    return coder.codes[random_() % coder.codes.size()];
  }
  // A difference that leaves the quantized coefficient within bounds.
  void write_difference(const Coder& coder, int* dc, Bits* bits) {
    for (;;) {
      const Coder::Code& code = coder.codes[random_() % coder.codes.size()];
      const uint32_t size = code.symbol, value = random_() & ((1u << size) - 1);
      const int half = size != 0 ? 1 << (size - 1) : 0;
      const int difference =
          static_cast<int>(value) - (static_cast<int>(value) < half ? 2 * half - 1 : 0);
      if (!is_plain_dc(*dc + difference, kind_.depth)) continue;
      *dc += difference;
      bits->put(code.code, code.length);
      if (size != 0) bits->put(value, size);
      return;
    }
  }

  const StreamKind kind_;
  Random random_;
  std::vector<Coder> dc_, ac_;
  std::vector<uint8_t> file_;
};

}  // namespace

std::string StreamKind::text() const {
  return std::to_string(width) + "x" + std::to_string(height) + ", " + std::to_string(components) +
         " components, " + std::to_string(h) + "x" + std::to_string(v) + ", shape " +
         std::to_string(static_cast<int>(shape)) + ", " + std::to_string(sets) +
         " sets, restarts " + std::to_string(restart_interval) + ", " + std::to_string(scans) +
         " scans, " + std::to_string(in_first) + " in the first, " + std::to_string(depth) +
         (sparse ? " bits, sparse, seed " : " bits, seed ") + std::to_string(seed);
}

std::vector<uint8_t> make_stream(const StreamKind& kind) { return Writer(kind).write(); }

std::vector<size_t> markers_of(const std::vector<uint8_t>& file, uint8_t first, uint8_t last) {
  std::vector<size_t> found;
  for (size_t at = 0; at + 1 < file.size(); ++at)
    if (file[at] == 0xff && file[at + 1] >= first && file[at + 1] <= last) found.push_back(at);
  return found;
}

namespace {

// Bytes that are no marker.
std::vector<uint8_t> junk(std::mt19937& random, size_t size) {
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() % 255);
  return bytes;
}

void insert(std::vector<uint8_t>* file, size_t at, const std::vector<uint8_t>& bytes) {
  file->insert(file->begin() + static_cast<ptrdiff_t>(at), bytes.begin(), bytes.end());
}

}  // namespace

uint32_t add_oddity(std::vector<uint8_t>* file, Oddity oddity, std::mt19937& random) {
  switch (oddity) {
    case Oddity::kBeforeRestart: {
      const auto restarts = markers_of(*file, 0xd0, 0xd7);
      for (size_t i = restarts.size(); i-- > 0;)
        insert(file, restarts[i], junk(random, 1 + random() % 3));
      return restarts.empty() ? 0 : kJpegTrailingBytes;
    }
    case Oddity::kBeforeEnd:
      insert(file, file->size() - 2, junk(random, 1 + random() % 300));
      return kJpegTrailingBytes;
    case Oddity::kNoEnd:
      file->erase(file->end() - 2, file->end());
      return kJpegMissingEoi;
    case Oddity::kParameters: {
      const size_t sos = markers_of(*file, 0xda, 0xda).front();
      const size_t count = (*file)[sos + 4];
      (*file)[sos + 5 + 2 * count + random() % 3] = static_cast<uint8_t>(1 + random() % 60);
      return kJpegScanParameters;
    }
    case Oddity::kStray:
      insert(file, markers_of(*file, 0xda, 0xda).front(), junk(random, 1 + random() % 40));
      return kJpegExtraneousBytes;
    case Oddity::kRestartAtEnd:
      insert(file, file->size() - 2, {0xff, static_cast<uint8_t>(0xd0 + random() % 8)});
      return kJpegUnexpectedMarker;
  }
  return 0;
}

}  // namespace cudatransform::test
