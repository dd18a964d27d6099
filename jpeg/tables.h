// The color space and the quantization tables of a JPEG picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "jpeg/coef_arrays.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform {

enum class JpegColor {
  kGray,   // 1 component; written with a JFIF header
  kYcbcr,  // 3 components; written with a JFIF header
  kRgb,    // 3 components; written with an Adobe marker that says so
  kCmyk,   // 4 components; likewise
  kYcck,   // 4 components, CMY as YCbCr; likewise
};

constexpr int components_of(JpegColor color) {
  if (color == JpegColor::kGray) return 1;
  return color == JpegColor::kCmyk || color == JpegColor::kYcck ? 4 : 3;
}
// Whether the second and third component are chroma, with tables of their own and perhaps fewer
// samples. The fourth is as the first.
constexpr bool has_chroma(JpegColor color) {
  return color == JpegColor::kYcbcr || color == JpegColor::kYcck;
}
constexpr bool is_chroma(JpegColor color, int component) {
  return has_chroma(color) && (component == 1 || component == 2);
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
