// The quantisation tables of a JPEG picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "jpeg/coef_arrays.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform {

struct JpegTables {
  int count = 0;
  QuantTable tables[kJpegMaxComponents];
  int table_of[kJpegMaxComponents] = {};  // component -> table

  // Gives component `c` a table that a file has under this number. Equal tables of two numbers stay
  // two, so that a file comes back as it was.
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
