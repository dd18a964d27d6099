// The row functions of the CPU engine; and pixels in memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "transform/rgb/arithmetic.h"
#include "transform/rgb/rgb.h"

namespace cudatransform {

inline constexpr size_t kRgbColorCount = 3;

// Functions write `count` samples unless stated, and read and write only the ones they name. Inputs
// and outputs do not overlap.
struct RgbRows {
  // Triangle filters, as arithmetic.h has them. blend_columns and blend_sums write 2 * count, and
  // read one before `near` and one after it, too.
  void (*blend_rows)(const uint8_t* near, const uint8_t* other, uint16_t* sums, size_t count);
  void (*blend_two)(const uint8_t* near, const uint8_t* other, int position, uint8_t* to,
                    size_t count);
  void (*blend_columns)(const uint8_t* near, uint8_t* to, size_t count);
  void (*blend_sums)(const uint16_t* near, uint8_t* to, size_t count);
  // Writes 2 * count.
  void (*repeat_twice)(const uint8_t* from, uint8_t* to, size_t count);

  // Means of two columns, and of those of two rows: of 2 * count samples in each row.
  void (*halve_columns)(const uint8_t* from, uint8_t* to, size_t count);
  void (*halve_both)(const uint8_t* const* rows, uint8_t* to, size_t count);

  // From rows of components to pixels, and back: by RgbColor and RgbPacking. `rgb`: as
  // RgbImage::data.
  using Convert = void (*)(const uint8_t* const* from, uint8_t* const* to, size_t count);
  Convert to_rgb[kRgbColorCount][kRgbPackingCount];
  Convert from_rgb[kRgbColorCount][kRgbPackingCount];
};

const RgbRows& portable_rgb_rows();
// For this CPU, or null where vectors have one lane.
const RgbRows* vector_rgb_rows();

// Has all conversions be those of `Conversions`, which has function templates to_rgb and from_rgb.
template <typename Conversions, size_t... kIndex>
constexpr RgbRows with_conversions(RgbRows rows, std::index_sequence<kIndex...>) {
  constexpr size_t kPackings = kRgbPackingCount;
  ((rows.to_rgb[kIndex / kPackings][kIndex % kPackings] =
        Conversions::template to_rgb<static_cast<RgbColor>(kIndex / kPackings),
                                     static_cast<RgbPacking>(kIndex % kPackings)>,
    rows.from_rgb[kIndex / kPackings][kIndex % kPackings] =
        Conversions::template from_rgb<static_cast<RgbColor>(kIndex / kPackings),
                                       static_cast<RgbPacking>(kIndex % kPackings)>),
   ...);
  return rows;
}
template <typename Conversions>
constexpr RgbRows with_conversions(const RgbRows& rows) {
  return with_conversions<Conversions>(
      rows, std::make_index_sequence<kRgbColorCount * kRgbPackingCount>());
}

}  // namespace cudatransform
