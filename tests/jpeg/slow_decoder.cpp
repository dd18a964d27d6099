// Sequential Huffman-coded JPEG files of any depth, read bit by bit.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ITU-T T.81, annexes A, B, C and F.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "tests/jpeg/slow_order.h"

namespace cudatransform::test {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error("slow_decode: " + what);
}

// Huffman codes, by (length, code).
struct Table {
  struct Code {
    int length, code, symbol;
  };
  std::vector<Code> codes;
};

class Decoder {
 public:
  explicit Decoder(const std::vector<uint8_t>& file) : file_(file) {}

  SlowPicture decode() {
    if (byte() != 0xff || byte() != 0xd8) refuse("no SOI");
    for (;;) {
      if (byte() != 0xff) refuse("no marker");
      const int code = byte();
      if (code == 0xd9) return picture_;
      const size_t end = at_ + 2;
      const int length = word();
      segment_end_ = end - 2 + length;
      take(code);
      if (code != 0xda) at_ = segment_end_;
    }
  }

 private:
  int byte() {
    if (at_ >= file_.size()) refuse("the file ends");
    return file_[at_++];
  }
  int word() {
    const int high = byte();
    return high << 8 | byte();
  }

  void take(int code) {
    if (code == 0xc0 || code == 0xc1)
      take_frame(code);
    else if (code == 0xc4)
      take_codes();
    else if (code == 0xdb)
      take_divisors();
    else if (code == 0xdd)
      picture_.restart_interval = word();
    else if (code == 0xda)
      take_scan();
    else if (code < 0xe0)
      refuse("marker " + std::to_string(code));
  }
  void take_frame(int code) {
    picture_.frame_marker = code;
    picture_.depth = byte();
    picture_.height = word();
    picture_.width = word();
    picture_.components.resize(byte());
    for (SlowComponent& component : picture_.components) {
      component.id = byte();
      const int factors = byte();
      component.h = factors >> 4;
      component.v = factors & 15;
      slots_.push_back(byte());
    }
    size_components(&picture_);
  }
  void take_codes() {
    while (at_ < segment_end_) {
      const int selector = byte();
      int counts[17] = {};
      for (int length = 1; length <= 16; ++length) counts[length] = byte();
      Table& table = tables_[selector >> 4 & 1][selector & 3];
      table.codes.clear();
      int next = 0;
      for (int length = 1; length <= 16; ++length, next *= 2)
        for (int i = 0; i < counts[length]; ++i) table.codes.push_back({length, next++, byte()});
    }
  }
  void take_divisors() {
    while (at_ < segment_end_) {
      const int selector = byte();
      for (int k = 0; k < 64; ++k)
        divisors_[selector & 3][natural_of(k)] =
            static_cast<uint16_t>(selector >> 4 != 0 ? word() : byte());
    }
  }

  void take_scan() {
    std::vector<int> scan(byte());
    int selectors[4] = {};
    for (int& c : scan) {
      const int id = byte();
      c = 0;
      while (picture_.components.at(c).id != id) ++c;
      selectors[c] = byte();
      picture_.components[c].table = divisors_[slots_[c]];
    }
    if (byte() != 0 || byte() != 63 || byte() != 0) refuse("parameters of a scan");
    int mcus_w = 0, mcus = 0, dc[4] = {};
    count_mcus(picture_, scan, &mcus_w, &mcus);
    left_ = 0;
    for (int mcu = 0; mcu < mcus; ++mcu) {
      const int interval = picture_.restart_interval;
      if (interval > 0 && mcu > 0 && mcu % interval == 0) {
        left_ = 0;
        if (byte() != 0xff || byte() != 0xd0 + (mcu / interval - 1) % 8) refuse("no restart");
        std::fill(std::begin(dc), std::end(dc), 0);
      }
      for_mcu(picture_, scan, mcu, mcus_w, [&](int c, int block) {
        int16_t levels[64] = {};
        take_block(selectors[c], &dc[c], levels);
        if (block >= 0)
          std::copy_n(levels, 64, picture_.components[c].levels.begin() + ptrdiff_t{64} * block);
      });
    }
    left_ = 0;
  }
  void take_block(int selector, int* dc, int16_t* levels) {
    *dc += value(symbol(tables_[0][selector >> 4]));
    levels[0] = level(*dc);
    for (int k = 1; k < 64; ++k) {
      const int both = symbol(tables_[1][selector & 15]), size = both & 15;
      if (size == 0 && both >> 4 != 15) return;
      k += both >> 4;
      if (k > 63) refuse("a block is too long");
      levels[natural_of(k)] = level(value(size));
    }
  }
  static int16_t level(int value) {
    if (value < -32768 || value > 32767) refuse("a level is too large");
    return static_cast<int16_t>(value);
  }

  int bit() {
    if (left_ == 0) {
      bits_ = byte();
      left_ = 8;
      if (bits_ == 0xff && byte() != 0) refuse("a marker in a scan");
    }
    return bits_ >> --left_ & 1;
  }
  int symbol(const Table& table) {
    int code = 0;
    for (int length = 1; length <= 16; ++length) {
      code = code << 1 | bit();
      for (const Table::Code& one : table.codes)
        if (one.length == length && one.code == code) return one.symbol;
    }
    refuse("no such code");
  }
  // Figure F.12.
  int value(int size) {
    if (size > 15) refuse("a category");
    int bits = 0;
    for (int i = 0; i < size; ++i) bits = bits << 1 | bit();
    return size > 0 && bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits;
  }

  const std::vector<uint8_t>& file_;
  size_t at_ = 0, segment_end_ = 0;
  SlowPicture picture_;
  std::vector<int> slots_;
  std::array<uint16_t, 64> divisors_[4] = {};
  Table tables_[2][4];
  int bits_ = 0, left_ = 0;
};

}  // namespace

SlowPicture slow_decode(const std::vector<uint8_t>& file) { return Decoder(file).decode(); }

}  // namespace cudatransform::test
