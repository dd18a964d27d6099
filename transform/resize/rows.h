// The row functions of the CPU engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sums down columns have a row in the lanes of a vector. Sums along rows have 16 rows there, once a
// tile of these is transposed: both then multiply pairs of samples by pairs of weights; or, along
// rows on a CPU that multiplies bytes, four samples by the bytes of four weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transform/resize/axis.h"

namespace cudatransform {

inline constexpr int32_t kTileRows = 16;
inline constexpr int kLowBits = 11;

// Weights of two samples side by side: weight = high * 2^kLowBits + low, both in 16 bits with a
// sign, the second sample's in the upper half of a word.
struct WeightPair {
  uint32_t high, low;
};

// An axis in pairs. Output o is the sum of pairs[o * stride + i], i below count[o], by the samples
// from first[o] on.
struct AxisPairs {
  int32_t out = 0;
  size_t stride = 0;
  std::vector<int32_t> first, count;
  std::vector<WeightPair> pairs;
};
// `even`: first[o] are even, as tiles need them.
AxisPairs pairs_of_axis(const ResizeAxis& axis, bool even);

// Weights of four samples side by side, each in three signed bytes: weight = digit[2] * 2^16 +
// digit[1] * 2^8 + digit[0], the first sample's in the lowest byte of each word.
struct WeightQuad {
  uint32_t digit[3];
};

// The same in quads. first[o] are multiples of 4.
struct AxisQuads {
  int32_t out = 0;
  size_t stride = 0;
  std::vector<int32_t> first, count;
  std::vector<WeightQuad> quads;
};
AxisQuads quads_of_axis(const ResizeAxis& axis);

// The two weights of a pair.
inline void weights_of(const WeightPair& pair, int32_t weights[2]) {
  for (int i = 0; i < 2; ++i) {
    const auto high = static_cast<int16_t>(pair.high >> (16 * i));
    const auto low = static_cast<int16_t>(pair.low >> (16 * i));
    weights[i] = high * (1 << kLowBits) + low;
  }
}

// Functions read and write only what they name. Inputs and outputs do not overlap.
struct ResizeRows {
  // to[i] of `count` sums of rows[2 k][i] and rows[2 k + 1][i] by weights[k], k below `pairs`.
  void (*add_rows)(const uint8_t* const* rows, const WeightPair* weights, int32_t pairs,
                   uint8_t* to, size_t count);
  // kTileRows rows of `count` samples to a tile: pair i of row r is at 2 * (kTileRows * i + r). An
  // odd count's last pair has a 0.
  void (*to_tile)(const uint8_t* const* rows, uint8_t* tile, size_t count);
  // Outputs of a tile: of row r at to[kTileRows * o + r].
  void (*add_columns)(const uint8_t* tile, const AxisPairs& axis, uint8_t* to);
  // These back to `count` samples of kTileRows rows.
  void (*from_tile)(const uint8_t* from, uint8_t* const* rows, size_t count);
  // The same of tiles in quads: sample i of row r is at 4 * (kTileRows * (i / 4) + r) + i % 4.
  // Null: pairs are faster.
  void (*to_quads)(const uint8_t* const* rows, uint8_t* tile, size_t count);
  void (*add_quads)(const uint8_t* tile, const AxisQuads& axis, uint8_t* to);
  // Interleaved samples of 2 to 4 channels apart, and together.
  void (*split)(const uint8_t* from, int channels, uint8_t* const* to, size_t count);
  void (*join)(const uint8_t* const* from, int channels, uint8_t* to, size_t count);
};

const ResizeRows& portable_resize_rows();
// For this CPU, or null where vectors have one lane.
const ResizeRows* vector_resize_rows();

}  // namespace cudatransform
