// Quantisation tables at any scale, not only at those that whole qualities have.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dct8x8/quant_table.h"

namespace cudatransform {

// libjpeg's percentage, of which quality 50 has 100, in units of 1/1024.
struct TableScale {
  static constexpr uint32_t kUnit = 1024;
  // All entries of the presets are 1 there, as they are at quality 100.
  static constexpr uint32_t kFinest = kUnit / 2;

  uint32_t value;
  // Whether equal entries become others one after the other. All at once they would change a file's
  // size by several percent.
  bool is_staggered = false;
};

TableScale scale_of_quality(int quality);
// The quality, 1 to 100, between those that are integers.
double quality_of_scale(TableScale scale);

// Whether the tables of a preset depend on quality.
bool is_scalable(QuantPreset preset);

// preset_table() at a scale, of presets that depend on it. At the scale of a quality they are equal
// unless they are staggered.
QuantTable scaled_table(QuantPreset preset, QuantComponent component, TableScale scale);

}  // namespace cudatransform
