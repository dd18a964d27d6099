// Rows of samples in portable C++.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "transform/resize/rows.h"

namespace cudatransform {

namespace {

void add_rows(const uint8_t* const* rows, const WeightPair* weights, int32_t pairs, uint8_t* to,
              size_t count) {
  for (size_t i = 0; i < count; ++i) {
    int32_t sum = kResizeHalf;
    for (int32_t k = 0; k < pairs; ++k) {
      int32_t by[2];
      weights_of(weights[k], by);
      sum += by[0] * rows[2 * k][i] + by[1] * rows[2 * k + 1][i];
    }
    to[i] = resize_byte(sum);
  }
}

void to_tile(const uint8_t* const* rows, uint8_t* tile, size_t count) {
  for (size_t i = 0; i < count + count % 2; ++i)
    for (size_t r = 0; r < kTileRows; ++r)
      tile[2 * (kTileRows * (i / 2) + r) + i % 2] = i < count ? rows[r][i] : 0;
}

void add_columns(const uint8_t* tile, const AxisPairs& axis, uint8_t* to) {
  for (size_t o = 0; o < static_cast<size_t>(axis.out); ++o) {
    const uint8_t* from = tile + kTileRows * axis.first[o];
    const WeightPair* weights = &axis.pairs[o * axis.stride];
    for (size_t r = 0; r < kTileRows; ++r) {
      int32_t sum = kResizeHalf;
      for (int32_t k = 0; k < axis.count[o]; ++k) {
        int32_t by[2];
        weights_of(weights[k], by);
        const uint8_t* pair = from + 2 * (static_cast<size_t>(k) * kTileRows + r);
        sum += by[0] * pair[0] + by[1] * pair[1];
      }
      to[kTileRows * o + r] = resize_byte(sum);
    }
  }
}

void from_tile(const uint8_t* from, uint8_t* const* rows, size_t count) {
  for (size_t i = 0; i < count; ++i)
    for (size_t r = 0; r < kTileRows; ++r) rows[r][i] = from[kTileRows * i + r];
}

void split(const uint8_t* from, int channels, uint8_t* const* to, size_t count) {
  for (size_t i = 0; i < count; ++i)
    for (int c = 0; c < channels; ++c) to[c][i] = *from++;
}

void join(const uint8_t* const* from, int channels, uint8_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i)
    for (int c = 0; c < channels; ++c) *to++ = from[c][i];
}

}  // namespace

const ResizeRows& portable_resize_rows() {
  static constexpr ResizeRows kRows = {add_rows, to_tile, add_columns, from_tile,
                                       nullptr,  nullptr, split,       join};
  return kRows;
}

AxisQuads quads_of_axis(const ResizeAxis& axis) {
  AxisQuads by;
  by.out = axis.out;
  by.stride = static_cast<size_t>(axis.taps + 3) / 4 + 1;
  const auto outputs = static_cast<size_t>(axis.out);
  by.first.resize(outputs);
  by.count.resize(outputs);
  by.quads.resize(outputs * by.stride);
  for (size_t o = 0; o < outputs; ++o) {
    const int32_t before = axis.first[o] % 4;
    by.first[o] = axis.first[o] - before;
    by.count[o] = (before + axis.count[o] + 3) / 4;
    for (int32_t i = 0; i < axis.count[o]; ++i) {
      int32_t weight = axis.weights[o * static_cast<size_t>(axis.taps) + static_cast<size_t>(i)];
      WeightQuad& quad = by.quads[o * by.stride + static_cast<size_t>(before + i) / 4];
      for (uint32_t& digits : quad.digit) {
        const auto digit = static_cast<int8_t>(weight);
        digits |= static_cast<uint32_t>(static_cast<uint8_t>(digit)) << (8 * ((before + i) % 4));
        weight = (weight - digit) >> 8;
      }
    }
  }
  return by;
}

AxisPairs pairs_of_axis(const ResizeAxis& axis, bool even) {
  AxisPairs by;
  by.out = axis.out;
  by.stride = static_cast<size_t>(axis.taps) / 2 + 1;
  const auto outputs = static_cast<size_t>(axis.out);
  by.first.resize(outputs);
  by.count.resize(outputs);
  by.pairs.resize(outputs * by.stride);
  for (size_t o = 0; o < outputs; ++o) {
    const int32_t before = even ? axis.first[o] % 2 : 0;
    by.first[o] = axis.first[o] - before;
    by.count[o] = (before + axis.count[o] + 1) / 2;
    for (int32_t i = 0; i < axis.count[o]; ++i) {
      const int32_t weight =
          axis.weights[o * static_cast<size_t>(axis.taps) + static_cast<size_t>(i)];
      WeightPair& pair = by.pairs[o * by.stride + static_cast<size_t>(before + i) / 2];
      const int shift = 16 * ((before + i) % 2);
      const uint32_t low = static_cast<uint32_t>(weight) & ((1 << kLowBits) - 1);
      pair.high |= static_cast<uint32_t>(static_cast<uint16_t>(weight >> kLowBits)) << shift;
      pair.low |= low << shift;
    }
  }
  return by;
}

}  // namespace cudatransform
