// Rows of RGB in plain C++, a sample after another.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstddef>
#include <cstdint>

#include "transform/rgb/rows.h"

namespace cudatransform {

namespace {

void blend_row_sums(const uint8_t* near, const uint8_t* other, uint16_t* sums, size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] = static_cast<uint16_t>(blend_rows(near[i], other[i]));
}

void blend_two_rows(const uint8_t* near, const uint8_t* other, int position, uint8_t* to,
                    size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<uint8_t>(blend_two(near[i], other[i], position));
}

void blend_columns(const uint8_t* near, uint8_t* to, size_t count) {
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(count); ++i) {
    to[2 * i] = static_cast<uint8_t>(blend_two(near[i], near[i - 1], 0));
    to[2 * i + 1] = static_cast<uint8_t>(blend_two(near[i], near[i + 1], 1));
  }
}

void blend_column_sums(const uint16_t* near, uint8_t* to, size_t count) {
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(count); ++i) {
    to[2 * i] = static_cast<uint8_t>(blend_sums(near[i], near[i - 1], 0));
    to[2 * i + 1] = static_cast<uint8_t>(blend_sums(near[i], near[i + 1], 1));
  }
}

void repeat_twice(const uint8_t* from, uint8_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[2 * i] = to[2 * i + 1] = from[i];
}

void halve_columns(const uint8_t* from, uint8_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int32_t sum = from[2 * i] + from[2 * i + 1];
    to[i] = static_cast<uint8_t>(rgb_mean(sum, 2, 1, static_cast<int32_t>(i)));
  }
}

void halve_both(const uint8_t* const* rows, uint8_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int32_t sum = rows[0][2 * i] + rows[0][2 * i + 1] + rows[1][2 * i] + rows[1][2 * i + 1];
    to[i] = static_cast<uint8_t>(rgb_mean(sum, 2, 2, static_cast<int32_t>(i)));
  }
}

struct Conversions {
  template <RgbColor kColor, RgbPacking kPacking>
  static void to_rgb(const uint8_t* const* from, uint8_t* const* to, size_t count) {
    for (size_t i = 0; i < count; ++i) store<kPacking>(rgb_at<kColor>(from, i), to, i);
  }
  template <RgbColor kColor, RgbPacking kPacking>
  static void from_rgb(const uint8_t* const* from, uint8_t* const* to, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const RgbPixel rgb = load<kPacking>(from, i);
      if constexpr (kColor == RgbColor::kGray) {
        to[0][i] = static_cast<uint8_t>(luma_of(rgb));
      } else {
        const YccPixel ycc = kColor == RgbColor::kRgb ? YccPixel{rgb.r, rgb.g, rgb.b} : ycc_of(rgb);
        to[0][i] = static_cast<uint8_t>(ycc.y);
        to[1][i] = static_cast<uint8_t>(ycc.cb);
        to[2][i] = static_cast<uint8_t>(ycc.cr);
      }
    }
  }

 private:
  template <RgbColor kColor>
  static RgbPixel rgb_at(const uint8_t* const* from, size_t i) {
    if constexpr (kColor == RgbColor::kGray) return {from[0][i], from[0][i], from[0][i]};
    if constexpr (kColor == RgbColor::kRgb) return {from[0][i], from[1][i], from[2][i]};
    return rgb_of({from[0][i], from[1][i], from[2][i]});
  }
  template <RgbPacking kPacking>
  static RgbPixel load(const uint8_t* const* from, size_t i) {
    if constexpr (kPacking == RgbPacking::kPlanar) return {from[0][i], from[1][i], from[2][i]};
    constexpr RgbLayout kLayout = rgb_layout(kPacking);
    const uint8_t* pixel = from[0] + i * kLayout.pixel_bytes;
    return {pixel[kLayout.r], pixel[kLayout.g], pixel[kLayout.b]};
  }
  template <RgbPacking kPacking>
  static void store(const RgbPixel& rgb, uint8_t* const* to, size_t i) {
    const auto r = static_cast<uint8_t>(rgb.r), g = static_cast<uint8_t>(rgb.g);
    const auto b = static_cast<uint8_t>(rgb.b);
    if constexpr (kPacking == RgbPacking::kPlanar) {
      to[0][i] = r;
      to[1][i] = g;
      to[2][i] = b;
    } else {
      constexpr RgbLayout kLayout = rgb_layout(kPacking);
      uint8_t* pixel = to[0] + i * kLayout.pixel_bytes;
      pixel[kLayout.r] = r;
      pixel[kLayout.g] = g;
      pixel[kLayout.b] = b;
      if constexpr (kLayout.x >= 0) pixel[kLayout.x] = 255;
    }
  }
};

}  // namespace

const RgbRows& portable_rgb_rows() {
  static constexpr RgbRows kRows = with_conversions<Conversions>({blend_row_sums,
                                                                  blend_two_rows,
                                                                  blend_columns,
                                                                  blend_column_sums,
                                                                  repeat_twice,
                                                                  halve_columns,
                                                                  halve_both,
                                                                  {},
                                                                  {}});
  return kRows;
}

}  // namespace cudatransform
