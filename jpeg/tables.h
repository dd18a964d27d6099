// The color space, the sampling factors and the quantization tables of a JPEG picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "jpeg/coef_arrays.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform {

enum class JpegColor {
  kGray,   // 1 component; written with a JFIF header
  kYcbcr,  // 3 components; written with a JFIF header
  kRgb,    // 3 components; written with an Adobe marker that says so
  kCmyk,   // 4 components; likewise
  kYcck,   // 4 components, CMY as YCbCr; likewise
  kTwo,    // 2 components of unspecified color
};

constexpr int components_of(JpegColor color) {
  if (color == JpegColor::kGray) return 1;
  if (color == JpegColor::kTwo) return 2;
  return color == JpegColor::kCmyk || color == JpegColor::kYcck ? 4 : 3;
}
// Whether the second and third component are chroma, with separate tables.
constexpr bool has_chroma(JpegColor color) {
  return color == JpegColor::kYcbcr || color == JpegColor::kYcck;
}
constexpr bool is_chroma(JpegColor color, int component) {
  return has_chroma(color) && (component == 1 || component == 2);
}

// The sampling factors of up to four components, 1 to 4, without a common divisor across or down.
// Those of missing components are 1.
struct JpegSampling {
  uint32_t h[kJpegMaxComponents] = {1, 1, 1, 1}, v[kJpegMaxComponents] = {1, 1, 1, 1};

  // `h` and `v` of Y and K, and 1 of Cb and Cr.
  static JpegSampling of_luma(JpegColor color, uint32_t h, uint32_t v);
  // Of a color space without chroma, or with chroma of one sampling that is as in of_luma(), but
  // not of two components.
  bool is_of_luma(JpegColor color) const;
  // Whether all components are as large as the picture.
  bool is_full() const { return max_h() == 1 && max_v() == 1; }
  // Whether the picture has a whole number of samples for each sample of each component.
  bool has_whole_ratios() const;

  uint32_t max_h() const { return *std::max_element(std::begin(h), std::end(h)); }
  uint32_t max_v() const { return *std::max_element(std::begin(v), std::end(v)); }
  // The samples and blocks of a component of a picture.
  uint32_t width(uint32_t picture, int c) const { return part(picture, h[c], max_h()); }
  uint32_t height(uint32_t picture, int c) const { return part(picture, v[c], max_v()); }
  uint32_t blocks_w(uint32_t picture, int c) const { return part(picture, h[c], 8 * max_h()); }
  uint32_t blocks_h(uint32_t picture, int c) const { return part(picture, v[c], 8 * max_v()); }

  // Of a scan of all components.
  uint32_t mcu_blocks(int components) const {
    uint32_t blocks = 0;
    for (int c = 0; c < components; ++c) blocks += h[c] * v[c];
    return blocks;
  }

  // Divides the factors by their common divisors.
  void reduce(int components);
  void transpose() { std::swap(h, v); }
  // "2x2, 1x1, 1x1"
  std::string text(int components) const;
  bool operator==(const JpegSampling&) const = default;

 private:
  static uint32_t part(uint32_t size, uint32_t factor, uint32_t of) {
    return static_cast<uint32_t>((uint64_t{size} * factor + of - 1) / of);
  }
};

// A table of 64 divisors in natural order, as libjpeg and the C library have them.
inline QuantTable quant_table_of(const uint16_t* divisors) {
  QuantTable table;
  std::copy_n(divisors, std::size(table.q), table.q);
  return table;
}

struct JpegTables {
  int count = 0;
  QuantTable tables[kJpegMaxComponents];
  int table_of[kJpegMaxComponents] = {};  // component -> table

  // Gives component `c` a table that a file has under this number. Equal tables of two numbers stay
  // two, so that a file is restored as it was.
  void add(int c, const QuantTable& table, int number) {
    int t = 0;
    while (t < count && (numbers_[t] != number || tables[t] != table)) t++;
    if (t == count) {
      tables[count] = table;
      numbers_[count++] = number;
    }
    table_of[c] = t;
  }

 private:
  int numbers_[kJpegMaxComponents] = {};
};

}  // namespace cudatransform
