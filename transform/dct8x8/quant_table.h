// Quantization tables: presets, libjpeg's quality scaling, orders, and cjpeg's table files.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "transform/device/status.h"

namespace cudatransform {

// 64 divisors in natural order (index 8 v + u), each 1..65535. Of JPEG files some may be 0,
// although ITU-T T.81 forbids it: such a coefficient is dequantized to 0, as by libjpeg, and
// nothing can be quantized by it.
struct QuantTable {
  uint16_t q[64];

  bool has_zero() const { return std::count(std::begin(q), std::end(q), 0) != 0; }
  // All zeros, as a table is that was never set.
  bool is_blank() const { return std::count(std::begin(q), std::end(q), 0) == 64; }
  // By std::equal(), which compares bytes: a defaulted one goes from value to value.
  bool operator==(const QuantTable& other) const {
    return std::equal(std::begin(q), std::end(q), std::begin(other.q));
  }
};

// kNaturalOfZigzag[k] is the natural index of the k-th coefficient in zigzag order (ITU-T T.81,
// figure 5).
extern const uint8_t kNaturalOfZigzag[64];
extern const uint8_t kZigzagOfNatural[64];

enum class QuantPreset {
  kAnnexK,      // ITU-T T.81 tables K.1 and K.2, scaled by quality
  kFlat,        // 16 everywhere
  kWhitepaper,  // NVIDIA's DCT8x8 whitepaper, for all components
  kMpeg,        // ISO/IEC 11172-2 default intra matrix, for all components
  kPerceptual,  // by formulae of the frequency, scaled by quality: smaller files of the same visual
                // quality
};

// Chroma by the number of its samples: only kPerceptual distinguishes them.
enum class QuantComponent {
  kLuma,
  kChroma,      // a quarter of luma's: 4:2:0, 4:1:1
  kHalfChroma,  // half of them: 4:2:2, 4:4:0
  kFullChroma,  // as many: 4:4:4
};

// The table of a preset. `quality` 1..100 matters to kAnnexK, which it scales exactly as libjpeg's
// jpeg_set_quality(quality, TRUE), and to kPerceptual, by the same percentage: entries are clamped
// to 1..255.
QuantTable preset_table(QuantPreset preset, QuantComponent component, int quality);

// Parses the syntax of cjpeg -qtables: tables of 64 decimal integers in natural order, '#' starts a
// comment that runs to the end of the line. 1 to 4 tables, entries 1..65535.
Status parse_qtable_text(std::string_view text, std::vector<QuantTable>* tables);

// ---- Tables at any scale, not only at those that whole qualities have ----

// libjpeg's percentage, of which quality 50 has 100, in units of 1/1024.
struct TableScale {
  static constexpr uint32_t kUnit = 1024;
  // All entries of the presets are 1 there, as they are at quality 100.
  static constexpr uint32_t kFinest = kUnit / 2;

  uint32_t value;
  // Whether equal entries become others one after the other. All together they would change a
  // file's size by several percent.
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

// The quantization tables of a picture, and the table of each component.
struct FrameTables {
  QuantTable tables[4] = {};
  int count = 0;
  int table_of[4] = {};
};

// Scales the tables of a preset. `chroma`: the kind of component that the second one is for.
void scale_tables(QuantPreset preset, QuantComponent chroma, TableScale scale, FrameTables* frame);

}  // namespace cudatransform
