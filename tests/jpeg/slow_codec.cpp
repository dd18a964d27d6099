// Sequential Huffman-coded JPEG files of any depth, written and read bit by bit, and their samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ITU-T T.81, annex A.

#include "tests/jpeg/slow_codec.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudatransform::test {

inline int slow_divide_up(int a, int b) { return (a + b - 1) / b; }

// The natural index of the k-th coefficient in the file's order (figure A.6).
inline int natural_of(int k) {
  int place = 0;
  for (int diagonal = 0; diagonal < 15; ++diagonal) {
    for (int step = 0; step <= diagonal; ++step) {
      const int u = diagonal % 2 == 0 ? step : diagonal - step, v = diagonal - u;
      if (u > 7 || v > 7) continue;
      if (place++ == k) return 8 * v + u;
    }
  }
  return 0;
}

// Calls `with(component, index of the block or -1)` for the blocks of an MCU. One component alone
// has one block in it.
template <typename Function>
void for_mcu(const SlowPicture& picture, const std::vector<int>& scan, int mcu, int mcus_w,
             const Function& with) {
  for (const int c : scan) {
    const SlowComponent& component = picture.components[c];
    const int h = scan.size() > 1 ? component.h : 1, v = scan.size() > 1 ? component.v : 1;
    for (int i = 0; i < h * v; ++i) {
      const int x = mcu % mcus_w * h + i % h, y = mcu / mcus_w * v + i / h;
      const bool is_there = x < component.blocks_w && y < component.blocks_h;
      with(c, is_there ? y * component.blocks_w + x : -1);
    }
  }
}

inline void count_mcus(const SlowPicture& picture, const std::vector<int>& scan, int* mcus_w,
                       int* mcus) {
  int max_h = 1, max_v = 1;
  for (const SlowComponent& component : picture.components) {
    max_h = std::max(max_h, component.h);
    max_v = std::max(max_v, component.v);
  }
  const SlowComponent& only = picture.components[scan[0]];
  *mcus_w = scan.size() > 1 ? slow_divide_up(picture.width, 8 * max_h) : only.blocks_w;
  *mcus = *mcus_w * (scan.size() > 1 ? slow_divide_up(picture.height, 8 * max_v) : only.blocks_h);
}

inline void size_components(SlowPicture* picture) {
  int max_h = 1, max_v = 1;
  for (const SlowComponent& component : picture->components) {
    max_h = std::max(max_h, component.h);
    max_v = std::max(max_v, component.v);
  }
  for (SlowComponent& component : picture->components) {
    component.blocks_w = slow_divide_up(slow_divide_up(picture->width * component.h, max_h), 8);
    component.blocks_h = slow_divide_up(slow_divide_up(picture->height * component.v, max_v), 8);
    component.qcoefs.assign(size_t{64} * component.blocks_w * component.blocks_h, 0);
  }
}

// ITU-T T.81, annexes A, B and F.

namespace {

class Encoder {
 public:
  explicit Encoder(const SlowPicture& picture) : picture_(picture) {}

  std::vector<uint8_t> encode() {
    put({0xff, 0xd8});
    if (picture_.components.size() == 4)
      put({0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 2});
    for (size_t c = 0; c < picture_.components.size(); ++c) put_divisors(static_cast<int>(c));
    put_frame();
    std::vector<int> ac = {0x00, 0xf0}, dc, scan;
    for (int size = 1; size <= picture_.depth + 2; ++size)
      for (int zeros = 0; zeros < 16; ++zeros) ac.push_back(zeros << 4 | size);
    for (int size = 0; size <= std::min(picture_.depth + 3, 15); ++size) dc.push_back(size);
    put_codes(0x00, dc);
    put_codes(0x10, ac);
    ac_ = ac;
    if (picture_.restart_interval > 0) {
      put({0xff, 0xdd, 0, 4});
      put_word(picture_.restart_interval);
    }
    for (int c = 0; c < static_cast<int>(picture_.components.size()); ++c) scan.push_back(c);
    put_scan(scan);
    put({0xff, 0xd9});
    return file_;
  }

 private:
  void put(std::initializer_list<int> bytes) {
    for (const int byte : bytes) file_.push_back(static_cast<uint8_t>(byte));
  }
  void put_word(int word) { put({word >> 8, word & 255}); }

  void put_divisors(int c) {
    const auto& table = picture_.components[c].table;
    const bool wide = *std::max_element(table.begin(), table.end()) > 255;
    put({0xff, 0xdb});
    put_word(3 + (wide ? 128 : 64));
    put({(wide ? 0x10 : 0) | c});
    for (int k = 0; k < 64; ++k) {
      if (wide)
        put_word(table[natural_of(k)]);
      else
        put({table[natural_of(k)]});
    }
  }
  void put_frame() {
    put({0xff, picture_.frame_marker});
    put_word(8 + 3 * static_cast<int>(picture_.components.size()));
    put({picture_.depth});
    put_word(picture_.height);
    put_word(picture_.width);
    put({static_cast<int>(picture_.components.size())});
    int slot = 0;
    for (const SlowComponent& component : picture_.components)
      put({component.id, component.h << 4 | component.v, slot++});
  }
  // Symbol number i has the code i, of 8 bits.
  void put_codes(int selector, const std::vector<int>& symbols) {
    put({0xff, 0xc4});
    put_word(19 + static_cast<int>(symbols.size()));
    put({selector});
    for (int length = 1; length <= 16; ++length)
      put({length == 8 ? static_cast<int>(symbols.size()) : 0});
    for (const int symbol : symbols) put({symbol});
  }

  void put_scan(const std::vector<int>& scan) {
    put({0xff, 0xda});
    put_word(6 + 2 * static_cast<int>(scan.size()));
    put({static_cast<int>(scan.size())});
    for (const int c : scan) put({picture_.components[c].id, 0});
    put({0, 63, 0});
    int mcus_w = 0, mcus = 0, dc[4] = {};
    count_mcus(picture_, scan, &mcus_w, &mcus);
    for (int mcu = 0; mcu < mcus; ++mcu) {
      const int interval = picture_.restart_interval;
      if (interval > 0 && mcu > 0 && mcu % interval == 0) {
        pad();
        put({0xff, 0xd0 + (mcu / interval - 1) % 8});
        std::fill(std::begin(dc), std::end(dc), 0);
      }
      for_mcu(picture_, scan, mcu, mcus_w, [&](int c, int block) {
        int16_t qcoefs[64] = {static_cast<int16_t>(dc[c])};
        if (block >= 0)
          std::copy_n(picture_.components[c].qcoefs.begin() + ptrdiff_t{64} * block, 64, qcoefs);
        put_block(qcoefs, &dc[c]);
      });
    }
    pad();
  }
  void put_block(const int16_t* qcoefs, int* dc) {
    const int difference = qcoefs[0] - *dc;
    *dc = qcoefs[0];
    put_bits(size_of(difference), 8);
    put_value(difference);
    int zeros = 0;
    for (int k = 1; k < 64; ++k) {
      const int qcoef = qcoefs[natural_of(k)];
      if (qcoef == 0) {
        ++zeros;
        continue;
      }
      for (; zeros > 15; zeros -= 16) put_ac(0xf0);
      put_ac(zeros << 4 | size_of(qcoef));
      put_value(qcoef);
      zeros = 0;
    }
    if (zeros > 0) put_ac(0);
  }
  void put_ac(int symbol) {
    put_bits(static_cast<int>(std::find(ac_.begin(), ac_.end(), symbol) - ac_.begin()), 8);
  }
  static int size_of(int value) {
    int size = 0;
    while (std::abs(value) >> size != 0) ++size;
    return size;
  }
  void put_value(int value) {
    const int size = size_of(value);
    put_bits(value < 0 ? value + (1 << size) - 1 : value, size);
  }
  void put_bits(int bits, int count) {
    for (int i = count; i-- > 0;) {
      byte_ = byte_ << 1 | (bits >> i & 1);
      if (++used_ < 8) continue;
      put({byte_});
      if (byte_ == 0xff) put({0});
      byte_ = used_ = 0;
    }
  }
  void pad() {
    while (used_ != 0) put_bits(1, 1);
  }

  const SlowPicture& picture_;
  std::vector<uint8_t> file_;
  std::vector<int> ac_;
  int byte_ = 0, used_ = 0;
};

}  // namespace

SlowPicture slow_picture(int width, int height, int depth, int components, int h, int v) {
  SlowPicture picture;
  picture.width = width;
  picture.height = height;
  picture.depth = depth;
  picture.components.resize(components);
  for (int c = 0; c < components; ++c) {
    SlowComponent& component = picture.components[c];
    component.id = c + 1;
    component.h = components > 1 && (c == 0 || c == 3) ? h : 1;
    component.v = components > 1 && (c == 0 || c == 3) ? v : 1;
    component.table.fill(1);
  }
  size_components(&picture);
  return picture;
}

SlowPicture random_deep_picture(int width, int height, int components, int h, int v,
                                unsigned seed) {
  SlowPicture picture = slow_picture(width, height, 12, components, h, v);
  std::mt19937 random(seed);
  for (SlowComponent& component : picture.components) {
    for (int k = 0; k < 64; ++k)
      component.table[k] = static_cast<uint16_t>(component.id == 2 ? 300 + k : 2 + k);
    for (size_t i = 0; i < component.qcoefs.size(); ++i) {
      const int values = i % 64 == 0 ? 14000 : random() % 6 == 0 ? 2500 : 0;
      const int most = values / component.table[i % 64];
      component.qcoefs[i] =
          static_cast<int16_t>(static_cast<int>(random() % (2u * most + 1)) - most);
    }
  }
  return picture;
}

std::vector<uint8_t> slow_encode(const SlowPicture& picture) { return Encoder(picture).encode(); }

std::vector<double> slow_samples(const SlowComponent& component, int depth) {
  double cosine[8][8];
  for (int x = 0; x < 8; ++x)
    for (int u = 0; u < 8; ++u)
      cosine[x][u] = (u == 0 ? std::numbers::sqrt2 / 2 : 1.0) / 2 *
                     std::cos((2 * x + 1) * u * std::numbers::pi / 16);
  const int width = 8 * component.blocks_w;
  std::vector<double> samples(size_t{64} * component.blocks_w * component.blocks_h);
  for (size_t i = 0; i < samples.size(); ++i) {
    const int x = static_cast<int>(i) % width, y = static_cast<int>(i) / width;
    const auto* qcoefs =
        &component.qcoefs[size_t{64} * (static_cast<size_t>(y / 8) * component.blocks_w + x / 8)];
    double sum = 1 << (depth - 1);
    for (int k = 0; k < 64; ++k)
      sum += cosine[y % 8][k / 8] * cosine[x % 8][k % 8] * qcoefs[k] * component.table[k];
    samples[i] = sum;
  }
  return samples;
}

// ITU-T T.81, annexes A, B, C and F.

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
        int16_t qcoefs[64] = {};
        take_block(selectors[c], &dc[c], qcoefs);
        if (block >= 0)
          std::copy_n(qcoefs, 64, picture_.components[c].qcoefs.begin() + ptrdiff_t{64} * block);
      });
    }
    left_ = 0;
  }
  void take_block(int selector, int* dc, int16_t* qcoefs) {
    *dc += value(symbol(tables_[0][selector >> 4]));
    qcoefs[0] = qcoef(*dc);
    for (int k = 1; k < 64; ++k) {
      const int both = symbol(tables_[1][selector & 15]), size = both & 15;
      if (size == 0 && both >> 4 != 15) return;
      k += both >> 4;
      if (k > 63) refuse("a block is too long");
      qcoefs[natural_of(k)] = qcoef(value(size));
    }
  }
  static int16_t qcoef(int value) {
    if (value < -32768 || value > 32767) refuse("a coefficient is too large");
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
