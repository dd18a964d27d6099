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
};

}  // namespace cudatransform
